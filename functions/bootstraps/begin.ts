/** Begins a new bootstrap in one commit. */
import { collections } from '../../shared/names.js';
import type { Context } from '../context.js';
import {
  type BootstrapRecord,
  countersId,
  leaseId,
  liftCounters,
  type NameRecord,
  nameId,
  read,
} from '../engine/record/documents.js';
import { callerSecretName, secretId } from '../engine/record/secret-ids.js';
import { eventWrites, readyLease } from '../engine/record/transition.js';
import { dated } from '../engine/record/warning.js';
import { publishReady } from '../engine/run/publish.js';
import type { AnyStep } from '../engine/step.js';
import { type Holder, holdWrite, isIn, noTeam, readLivingHolder } from '../organizations/ownership.js';
import { persist } from '../store/persist.js';
import type { Write } from '../store/store.js';
import { inTurn } from '../store/turns.js';
import { checkAdmission } from './admission.js';
import type { BeginFacts, Begun } from './begin-facts.js';
import { countSpend, endFor, priceOf } from './ceilings.js';
import { countOne } from './counters.js';
import { writeSecrets } from './given-secrets.js';
import { newRecord, startGeneration, ttlSeconds } from './new-record.js';
import { checkAgreed, planOfCommand } from './plan.js';
import { peopleFields } from './team-people.js';

/** Stays the same over all tries of one command. */
export interface Draft {
  readonly id: string;
  readonly projectId: string;
  /** The version of the secrets written for it. */
  callerSecret?: string;
}

/** Removes secrets that were written for a bootstrap that was not made. */
export async function dropDraft({ cloud, log }: Context, draft: Draft): Promise<void> {
  if (draft.callerSecret === undefined) return;
  const { id: bootstrap } = draft;
  // A later try may still make it, if the name becomes free. Then the secrets are written again.
  delete draft.callerSecret;
  await cloud.secretManager
    .remove(secretId(bootstrap, callerSecretName))
    .catch((error: unknown) => log('WARNING', 'A secret of no bootstrap was left behind', { bootstrap, error }));
}

/** Files of another bootstrap are never the base of a new one, so no secret leaks from one project into the next. */
const notItsBase =
  'The config and secrets files that came along are not used: this bootstrap is new, so they are of another one. Keep them elsewhere if you need them.';

export async function begin(
  context: Context,
  steps: readonly AnyStep[],
  facts: BeginFacts,
  draft: Draft,
): Promise<Begun> {
  const { store, clock, config } = context;
  const { caller, options } = facts;
  const { machineAccess, loadBalancers } = config;
  const price = priceOf(config, { options, machineAccess, loadBalancers }, facts.maxMicros);
  checkAgreed(facts.agreed, () => planOfCommand(context, steps, facts, price));
  const now = clock.now();
  const at = now.toISOString();
  const { deadlineAt, warning } = endFor(price, now, ttlSeconds(options));
  const sshSourceRanges = [...config.sshSourceRanges];
  const record = (warnings: readonly string[]) => ({
    ...newRecord({ ...facts, warnings }, { ...draft, machineAccess, sshSourceRanges, loadBalancers, base: {} }, now),
    price,
    deadlineAt,
  });
  const count = async () => {
    const holder = facts.team === undefined ? undefined : await ownHolder(context, facts.team, caller);
    const counters = read(await persist(() => store.get(collections.counters, countersId)), liftCounters);
    checkAdmission(counters?.data);
    const counted = countOne(counters?.data, caller.email, config.limits);
    const spend = countSpend(config, counters?.data, { after: record([]) }, at);
    return { holder, counters, counted: { ...counted, ...(spend === undefined ? {} : { spend }) } };
  };
  if (draft.callerSecret === undefined) {
    // A refused command must leave no secret behind.
    await count();
    draft.callerSecret = await writeSecrets(context, draft.id, facts.secrets);
  }

  const brings = Object.values(facts.base ?? {}).some((files) => (files?.config ?? files?.secrets) !== undefined);
  const warnings = [...facts.warnings, ...(warning === undefined ? [] : [warning]), ...(brings ? [notItsBase] : [])];
  const empty = record(warnings);
  const transition = startGeneration(steps, dated(empty, at), at);
  const begunOf = (holder: Holder | undefined): BootstrapRecord => ({
    ...transition.record,
    ...ofTeam(context, empty, holder),
    events: transition.events.length,
  });
  const name: NameRecord = { schema: 1, bootstrapId: draft.id, owner: caller.email };
  const writes = ({ holder, counters, counted }: Awaited<ReturnType<typeof count>>): Write[] => [
    { kind: 'create', collection: collections.bootstraps, id: draft.id, data: begunOf(holder) },
    ...(holder === undefined ? [] : [holdWrite(holder, 1)]),
    { kind: 'create', collection: collections.names, id: nameId(options.projectName), data: name },
    counters === undefined
      ? { kind: 'create', collection: collections.counters, id: countersId, data: counted }
      : { kind: 'update', collection: collections.counters, id: countersId, version: counters.version, data: counted },
    ...eventWrites(draft.id, empty, transition.events),
    ...transition.ready.map(
      (instance): Write => ({
        kind: 'create',
        collection: collections.leases,
        id: leaseId(draft.id, instance.id),
        data: readyLease(draft.id, 1, instance, at),
      }),
    ),
  ];
  const { version, holder } = await inTurn(store, countersId, async () => {
    const counted = await count();
    const [written = ''] = await persist(() => store.commit(writes(counted)));
    return { version: written, holder: counted.holder };
  });
  await publishReady(context, draft.id, 1, transition.ready, facts.trace);
  const bootstrap = { collection: collections.bootstraps, id: draft.id, version, data: begunOf(holder) };
  return { bootstrap, created: true, changes: [] };
}

/** Throws `not-found` if the caller is no member any more. */
async function ownHolder(
  context: Context,
  team: number,
  { email, identity = '' }: BeginFacts['caller'],
): Promise<Holder> {
  const holder = await readLivingHolder(context, team);
  if (!(await isIn(context, team, { email, identity }))) throw noTeam(team);
  return holder;
}

const ofTeam = (
  { config }: Context,
  record: BootstrapRecord,
  holder: Holder | undefined,
): Pick<BootstrapRecord, 'team' | 'teamPeople'> => {
  if (holder === undefined) return {};
  const { teamId: team } = holder.team;
  const { teamPeople } = peopleFields(config, { ...record, team }, [holder]);
  return { team, ...(teamPeople !== undefined && { teamPeople }) };
};
