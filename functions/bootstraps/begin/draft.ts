/** What a bootstrap that begins has before its commit: an id, a project of its own or a prepared one, and its secrets. */
import type { BootstrapOptions } from '../../../shared/bootstrap/options.js';
import type { Context } from '../../context.js';
import type { BootstrapRecord, StoredBootstrap } from '../../engine/record/documents.js';
import { makeBootstrapId, makeProjectId } from '../../engine/record/ids.js';
import { callerSecretName, secretId } from '../../engine/record/secret-ids.js';
import { findMember, isGoneUnclaimed, poolFor, release, stillFree } from '../../pools/claim.js';
import type { Pool } from '../../pools/setting.js';
import { readShare } from '../../pools/share.js';
import type { BeginFacts } from './begin-facts.js';

/** Stays the same over all tries of one command, unless somebody else claims its prepared project. */
export interface Draft {
  id: string;
  projectId: string;
  /** The version of the secrets written for it. */
  callerSecret?: string;
  /** The pool that is for such a bootstrap. */
  readonly pool: Pool | undefined;
  /** It was looked whether that pool has a project for it. */
  isLooked?: boolean;
  /** How many of its projects the owner has had within a day, if that is all they may have. */
  hadShare?: number;
  /** A project of that pool. The draft then has the id of this record. */
  member?: StoredBootstrap | undefined;
}

const ownIds = ({ random }: Context, { projectName }: BootstrapOptions) => ({
  id: makeBootstrapId(random),
  projectId: makeProjectId(random, projectName),
});

export const makeDraft = (context: Context, options: BootstrapOptions): Draft => ({
  ...ownIds(context, options),
  pool: poolFor(context.config, options),
});

/**
 * Before each try: gives it a prepared project, if there is one. What somebody else has claimed meanwhile is given up for another
 * one, or for a project of its own.
 */
export async function prepareDraft(
  context: Context,
  { options, caller }: Pick<BeginFacts, 'options' | 'caller'>,
  draft: Draft,
): Promise<void> {
  const { pool, member: before } = draft;
  if (before !== undefined) {
    const now = await stillFree(context, before.id);
    if (now !== undefined) {
      draft.member = now;
      return;
    }
    await dropSecrets(context, draft);
    endDraft(context, draft);
    Object.assign(draft, ownIds(context, options), { member: undefined });
  } else if (draft.isLooked === true) return;
  draft.isLooked = true;
  if (pool === undefined) return;
  const { count } = await readShare(context, pool, caller.email);
  if (count >= context.config.limits.livingPerOwner) {
    draft.hadShare = count;
    return;
  }
  const member = await findMember(context, pool);
  if (member !== undefined) Object.assign(draft, { id: member.id, projectId: member.data.projectId, member });
}

/** Others may want its prepared project now, unless it has been claimed. */
export function endDraft(context: Context, { member }: Draft): void {
  if (member !== undefined) release(context, member.id);
}

/** Our own commit went through, and its answer was lost. Only the version of the secrets tells two claims of one project apart. */
export const isOfDraft = ({ id, data }: StoredBootstrap, { id: own, member, callerSecret }: Draft): boolean =>
  id === own && (member === undefined || (callerSecret !== undefined && data.callerSecret === callerSecret));

/** Removes secrets that were written for a bootstrap that was not made. Those of whoever claimed the same project stay. */
export async function dropSecrets(context: Context, draft: Draft): Promise<void> {
  const { log } = context;
  const { secretManager } = context.cloud;
  const { id: bootstrap, callerSecret, member } = draft;
  if (callerSecret === undefined) return;
  const secret = secretId(bootstrap, callerSecretName);
  // A later try may still make it, if the name becomes free. Then the secrets are written again.
  delete draft.callerSecret;
  try {
    if (member !== undefined) await secretManager.destroy(secret, callerSecret);
    if (member === undefined || (await isGoneUnclaimed(context, member.id))) await secretManager.remove(secret);
  } catch (error) {
    log('WARNING', 'A secret of no bootstrap was left behind', { bootstrap, error });
  }
}

/** What its record says of prepared projects. Nothing where the deployment has none. */
export function preparationOf(
  { config }: Pick<Context, 'config'>,
  { pool, member, hadShare }: Draft,
  at: string,
): Pick<BootstrapRecord, 'prepared' | 'unprepared'> {
  if (member?.data.prepared !== undefined) return { prepared: { ...member.data.prepared, claimedAt: at } };
  if (config.pools.length === 0) return {};
  if (pool === undefined) return { unprepared: 'no pool is for its parent, billing account and region' };
  return {
    unprepared:
      hadShare === undefined
        ? 'no prepared project of its pool could be had'
        : `you have had ${hadShare} of its pool within a day`,
  };
}
