/**
 * What may be deleted, what must be, and what never: written from the promise that was made to people, not from the product's
 * rule, of which it imports nothing. A record alone decides about its project, by number and deadline; without one everything
 * must speak for it; whatever is missing, malformed, in the future, protected or contradicting keeps it.
 */

/** A project as it really is in the cloud. */
export interface OracleProject {
  readonly projectId: string;
  readonly number: string;
  readonly parent: string;
  readonly active: boolean;
  /** Somebody put a lien on it. */
  readonly lien: boolean;
  readonly labels: Readonly<Record<string, string>>;
}

/** What the deployment once signed. The adversary may copy these anywhere, and make no others. */
export interface Signed {
  readonly number: string;
  readonly bootstrap: string;
  readonly owner: string;
  readonly deleteAfter: string;
  readonly proof: string;
}

export interface OracleRecord {
  readonly id: string;
  readonly projectId: string;
  /** Absent: the project was never seen by its maker. */
  readonly number: string | undefined;
  readonly state: string;
  readonly deadline: number;
  readonly protectedUntil: number | undefined;
  /** Somebody asked for it to go, or cleanup did. */
  readonly removing: boolean;
  readonly quarantined: boolean;
  /** The index says that it is to be looked at. */
  readonly due: boolean;
}

export interface OracleWorld {
  readonly now: number;
  readonly parent: string;
  readonly deployment: string;
  readonly records: readonly OracleRecord[];
  readonly signed: readonly Signed[];
}

/** `may`: either is right, as it was asked for by somebody, or nothing points there. */
export type Judgement = 'must' | 'may' | 'never';

export function judge(project: OracleProject, world: OracleWorld): Judgement {
  if (!project.active || project.lien) return 'never';
  const own = world.records.filter(({ projectId }) => projectId === project.projectId);
  if (own.length === 0) {
    const named = world.records.some(({ id }) => id === project.labels['plinth-bootstrap']);
    return named ? 'never' : byLabels(project, world);
  }
  const judgements = own.map((record) => byRecord(record, project, world));
  if (judgements.includes('never')) return 'never';
  return judgements.includes('must') ? 'must' : 'may';
}

function byRecord(record: OracleRecord, project: OracleProject, world: OracleWorld): Judgement {
  const { now } = world;
  // Removed before its maker ever saw it: it came late, if it says whose it is.
  if (record.state === 'removed')
    return record.number === undefined && isNamed(record, project, world) ? 'may' : 'never';
  if (record.quarantined) return 'never';
  if (record.number !== undefined && record.number !== project.number) return 'never';
  const ours = isNamed(record, project, world);
  if (record.removing) return record.number === undefined && !ours ? 'never' : 'may';
  if (record.deadline > now) return 'never';
  if (record.protectedUntil !== undefined && record.protectedUntil > now) return 'never';
  if (record.number === undefined) return ours ? 'may' : 'never';
  return record.due ? 'must' : 'may';
}

/** Its maker never saw it, and it bears what only its maker could have written, or says whose it is. */
function isNamed(
  { id }: OracleRecord,
  { number, labels }: OracleProject,
  { deployment, signed }: OracleWorld,
): boolean {
  if (labels['plinth-bootstrap'] === id && labels['plinth-deployment'] === deployment) return true;
  return signed.some(
    (one) =>
      one.number === number &&
      one.bootstrap === id &&
      one.deleteAfter === labels['delete-after'] &&
      one.proof === labels['plinth-proof'],
  );
}

/** The time that a label says: `t` and the seconds since 1970. */
function secondsIn(label: string | undefined): number | undefined {
  if (label === undefined || !/^t[0-9]{1,12}$/.test(label)) return undefined;
  return Number(label.slice(1));
}

export function byLabels({ number, parent, labels }: OracleProject, world: OracleWorld): Judgement {
  const seconds = world.now / 1000;
  if (parent !== world.parent) return 'never';
  if (labels['plinth-managed'] !== 'true') return 'never';
  if (labels['plinth-deployment'] !== world.deployment) return 'never';
  const expiry = secondsIn(labels['delete-after']);
  if (expiry === undefined || expiry > seconds) return 'never';
  if (labels['plinth-protected-until'] !== undefined) {
    const until = secondsIn(labels['plinth-protected-until']);
    if (until === undefined || until > seconds) return 'never';
  }
  const proven = world.signed.some(
    (one) =>
      one.number === number &&
      one.bootstrap === labels['plinth-bootstrap'] &&
      one.owner === labels['plinth-owner'] &&
      one.deleteAfter === labels['delete-after'] &&
      one.proof === labels['plinth-proof'],
  );
  return proven ? 'must' : 'never';
}
