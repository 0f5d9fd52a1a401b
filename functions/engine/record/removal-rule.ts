/**
 * The only rule that says what may be removed. A record decides alone. Without one, all labels of the project must agree.
 * Pure. It is asked when cleanup looks, when the removal is written, and just before the deletion.
 */
import { labels } from '../../../shared/names.js';
import type { Config } from '../../config.js';
import { isProof, labelValue } from '../proof.js';
import type { SeenProject } from '../step.js';
import type { BootstrapRecord } from './documents.js';
import { isBootstrapId } from './ids.js';

export type Verdict =
  | { readonly remove: true; readonly why: string }
  /** `shown`: its time seems to be over, so an operator should know why it is kept. */
  | { readonly remove: false; readonly why: string; readonly shown: boolean };

const yes = (why: string): Verdict => ({ remove: true, why });
const no = (why: string): Verdict => ({ remove: false, why, shown: true });
const notYet = (why: string): Verdict => ({ remove: false, why, shown: false });

/** The earliest time at which the rule may agree, as far as the record knows now. */
export const removeAtOf = ({ deadlineAt, protection }: Pick<BootstrapRecord, 'deadlineAt' | 'protection'>): string =>
  protection !== undefined && protection.until > deadlineAt ? protection.until : deadlineAt;

/** Judges by the record alone. */
export function judgeRecord(record: BootstrapRecord, now: Date): Verdict {
  const { state, deadlineAt, protection, removal } = record;
  if (state === 'removed') return notYet('it is removed');
  const deadline = Date.parse(deadlineAt);
  if (Number.isNaN(deadline)) return no(`its record has no deadline that can be read: ${deadlineAt}`);
  if (removal?.quarantinedAt !== undefined) {
    return no(
      `its removal failed ${removal.failures} times in a row: ${record.problem?.detail ?? 'the record says not why'}`,
    );
  }
  // Somebody asked for it. That cannot be taken back, because part of it may be gone.
  if (removal !== undefined)
    return yes(removal.why === 'asked' ? `${removal.by} asked for it` : `its time was over at ${deadlineAt}`);
  if (deadline > now.getTime()) return notYet(`its time is over at ${deadlineAt}`);
  if (protection !== undefined) {
    const until = Date.parse(protection.until);
    if (Number.isNaN(until)) return no(`its record has a protection that cannot be read: ${protection.until}`);
    if (until > now.getTime()) {
      return no(`it is protected until ${protection.until} by ${protection.by}: ${protection.reason}`);
    }
  }
  return yes(`its time was over at ${deadlineAt}`);
}

export const numberOf = ({ name }: Pick<SeenProject, 'name'>): string => name.replace(/^projects\//, '');

/** What its label says, which proves nothing. Empty without one. */
export const bootstrapOf = ({ labels: found = {} }: Pick<SeenProject, 'labels'>): string =>
  found[labels.bootstrap] ?? '';

/**
 * A project that was never seen was never deleted either. If it exists after the removal, it came late, and nobody restored
 * it.
 */
export const neverSeen = ({ instances }: BootstrapRecord): boolean => instances['project']?.output === undefined;

/** Undefined: the record and the project agree. Otherwise the text says how they differ. */
export function contradiction(record: BootstrapRecord, project: SeenProject): string | undefined {
  if (record.projectId !== project.projectId) {
    return `its label names a bootstrap whose project is ${record.projectId}`;
  }
  if (record.state === 'removed' && !neverSeen(record))
    return 'its bootstrap was removed, and it is active: somebody restored it; whoever wants to keep it takes away its label plinth-managed';
  const output = record.instances['project']?.output as { projectNumber?: unknown } | undefined;
  if (output?.projectNumber === undefined) return undefined;
  const number = numberOf(project);
  return output.projectNumber === number
    ? undefined
    : `it has the number ${number}, and the record knows ${String(output.projectNumber)}`;
}

export interface Deployment {
  /** The parent of this deployment's projects: `folders/…` or `organizations/…`. */
  readonly parent: string | undefined;
  readonly name: string;
  /** Undefined: proofs cannot be verified. */
  readonly proofKey: string | undefined;
}

export const deploymentOf = (
  { defaultParent, deployment }: Pick<Config, 'defaultParent' | 'deployment'>,
  proofKey: string | undefined,
): Deployment => ({ parent: defaultParent, name: deployment, proofKey });

/** Undefined: the label is no time that we wrote. */
export function timeIn(label: string | undefined): number | undefined {
  const seconds = /^t(\d{1,12})$/.exec(label ?? '')?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}

/**
 * Judges a project without a record that an operator wants to be removed. It asks the same as `judgeProject`, but does not wait
 * for the end of its time.
 */
export const judgeAsked = (project: SeenProject, deployment: Deployment, now: Date): Verdict =>
  judgeProject(project, deployment, now, true);

/** Judges a project without a record. Anything missing, malformed, in the future, protected or contradicting keeps it. */
export function judgeProject(
  project: SeenProject,
  { parent, name, proofKey }: Deployment,
  now: Date,
  asked = false,
): Verdict {
  const { state, labels: found = {} } = project;
  if (state !== 'ACTIVE') return notYet(`it is ${state}`);
  if (found[labels.managed] !== 'true') return notYet(`it bears no label ${labels.managed}=true`);
  if (found[labels.deployment] !== labelValue(name)) return notYet('it is of another deployment');
  if (parent === undefined) return no('this deployment has no parent of its own for projects');
  if (project.parent !== parent) return no(`it lies in ${project.parent ?? 'no parent'}, not in ${parent}`);
  const expiry = found[labels.deleteAfter];
  const expiresAt = timeIn(expiry);
  if (expiry === undefined || expiresAt === undefined) {
    return no(`its label ${labels.deleteAfter} is ${expiry === undefined ? 'missing' : `no time of ours: ${expiry}`}`);
  }
  if (expiresAt > now.getTime() && !asked) return notYet(`its time is over at ${new Date(expiresAt).toISOString()}`);
  const protection = found[labels.protectedUntil];
  if (protection !== undefined) {
    const until = timeIn(protection);
    if (until === undefined) return no(`its label ${labels.protectedUntil} is no time of ours: ${protection}`);
    if (until > now.getTime()) {
      return no(
        `it is protected until ${new Date(until).toISOString()}: ${found[labels.protectedReason] ?? 'no reason'}`,
      );
    }
  }
  const bootstrapId = found[labels.bootstrap];
  if (bootstrapId === undefined || !isBootstrapId(bootstrapId)) {
    return no(
      `its label ${labels.bootstrap} is ${bootstrapId === undefined ? 'missing' : `no id of ours: ${bootstrapId}`}`,
    );
  }
  if (proofKey === undefined) return no('the key of proofs cannot be read');
  const proven = { projectNumber: numberOf(project), bootstrapId, owner: found[labels.owner] ?? '', expiry };
  if (!isProof(proofKey, found[labels.proof], proven))
    return no(`its label ${labels.proof} does not prove that we made it`);
  if (asked) return yes('its labels prove that this deployment made it');
  return yes(`its time was over at ${new Date(expiresAt).toISOString()}, and no record knows it`);
}
