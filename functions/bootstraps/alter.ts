/**
 * Changes what a bootstrap should be, for a person. The change is written against the version it was decided by, and the steps
 * that show it in the cloud look again.
 */
import { addSeconds } from '../../shared/add-seconds.js';
import { calledBy } from '../../shared/command-words.js';
import { collections } from '../../shared/names.js';
import { Problem } from '../../shared/problems.js';
import { callSeconds } from '../cloud/call-seconds.js';
import type { Context } from '../context.js';
import {
  type BootstrapRecord,
  type LeaseRecord,
  liftLease,
  read,
  type StoredBootstrap,
} from '../engine/record/documents.js';
import { planOfRecord } from '../engine/record/plan-of-record.js';
import { type Leased, readyAgain, transitionWrites } from '../engine/record/transition.js';
import { updateBootstrap } from '../engine/record/update.js';
import { dated } from '../engine/record/warning.js';
import { leaseTimes } from '../engine/run/lease.js';
import { publishReady } from '../engine/run/publish.js';
import type { AnyStep } from '../engine/step.js';
import type { Document, Write } from '../store/store.js';

type Alterable =
  | 'fuseAt'
  | 'deadlineAt'
  | 'protection'
  | 'owner'
  | 'ownerMember'
  | 'sharedWith'
  | 'sharedTeams'
  | 'teamPeople'
  | 'ownerLeft'
  | 'formerPeople'
  | 'boundTo';

export interface Alteration {
  /** `undefined` removes a field. */
  readonly fields: { readonly [F in Alterable]?: BootstrapRecord[F] | undefined };
  /** Writes of other documents in the same commit, with their versions. */
  readonly writes?: readonly Write[];
}

export interface Act {
  /** E-mail. */
  readonly actor: string;
  /** The text of the action's event. */
  readonly action: string;
  /**
   * Steps that show the change in the cloud. A run that started from older state loses its lease, and the next one waits until
   * its writes are over.
   */
  readonly shownBy: readonly string[];
}

type Decide = (record: BootstrapRecord, at: string) => Alteration | undefined | Promise<Alteration | undefined>;

/**
 * Once this has returned, no cleanup acts on older state: removals too are written against the version they were decided by.
 * `decide` returns undefined if nothing changes.
 */
export const alter = (
  context: Context,
  steps: readonly AnyStep[],
  id: string,
  { shownBy, ...act }: Act,
  decide: Decide,
): Promise<StoredBootstrap> => {
  const shownIn = (record: BootstrapRecord): Leased[] => {
    const plan = planOfRecord(steps, record);
    return shownBy.flatMap((name) => plan.get(name) ?? []);
  };
  return alterShown(context, id, act, shownIn, decide);
};

/** The same without a plan. `shownIn`: the instances of the cloud lane that show the change. */
export async function alterShown(
  context: Context,
  id: string,
  { actor, action }: Omit<Act, 'shownBy'>,
  shownIn: (record: BootstrapRecord) => readonly Leased[],
  decide: Decide,
): Promise<StoredBootstrap> {
  const { standing, transition } = await updateBootstrap(context, id, async ({ version, data }, at) => {
    refuseWhileGoing(data);
    const decided = await decide(data, at);
    if (decided === undefined) return undefined;
    const altered = Object.fromEntries(
      Object.entries({ ...data, ...decided.fields }).filter(([, value]) => value !== undefined),
    ) as unknown as BootstrapRecord;
    // What was never made will be made from the changed record.
    const again = shownIn(data).filter((shown) => {
      const { output, state } = data.instances[shown.id] ?? {};
      return output !== undefined || state === 'ready';
    });
    const instances = readyAgain(
      data.instances,
      again.map((shown) => shown.id),
    );
    const record = { ...dated(altered, at), instances };
    const told = {
      record,
      ready: again,
      events: [{ event: { schema: 1, type: 'action', at, actor, action } as const }],
    };
    const writes = await afterHolders(context, transitionWrites(id, version, data, told, at), at);
    return { transition: told, writes: [...writes, ...(decided.writes ?? [])] };
  });
  if (transition !== undefined) await publishReady(context, id, standing.data.generation, transition.ready);
  return standing;
}

/** A bootstrap that is being removed or cancelled is not changed. */
export function refuseWhileGoing({ name, state, removal }: BootstrapRecord): void {
  if (removal !== undefined || state === 'removed') {
    throw new Problem('conflict', `The bootstrap of ${name} is ${state === 'removed' ? 'removed' : 'being removed'}.`);
  }
  if (state === 'cancelling') {
    throw new Problem('conflict', `The bootstrap of ${name} is being cancelled.`, { retryAfterSeconds: 5 });
  }
}

/** Nobody knows what an adopted project was made from. Running its steps would make something else. */
export function refuseAdopted({ name, projectId, orphan }: BootstrapRecord): void {
  if (orphan !== true) return;
  throw new Problem('conflict', `${name} was taken in by its labels, and nobody knows what it was made from.`, {
    advice: `It can be extended, protected and given to others, or removed: plinth beta bootstrap-cloud cleanup ${calledBy({ name, projectId })}`,
  });
}

/**
 * The same writes, which replace leases that somebody may hold, against the versions that were read. The holder learns of it by
 * heartbeat, and Google still carries out what it asked for until then. A role that was just taken back could be given once
 * more, after the look that found it gone. So the next holder looks only when the last such write is over. A claim in between
 * makes the caller decide again.
 */
export async function afterHolders(
  { store }: Pick<Context, 'store'>,
  writes: readonly Write[],
  at: string,
): Promise<Write[]> {
  const ids = writes.flatMap((write) => (isLease(write) ? write.id : []));
  if (ids.length === 0) return [...writes];
  const found = await store.getMany(collections.leases, ids);
  const held = new Map(found.flatMap((document) => read(document, liftLease) ?? []).map((lease) => [lease.id, lease]));
  return writes.map((write) => {
    const standing = held.get(write.id);
    return isLease(write) && standing !== undefined ? replacing(standing, write, at) : write;
  });
}

type LeaseWrite = Extract<Write, { kind: 'set' }>;
const isLease = (write: Write): write is LeaseWrite => write.kind === 'set' && write.collection === collections.leases;

function replacing(standing: Document<LeaseRecord>, { collection, id, data }: LeaseWrite, at: string): Write {
  const notBefore = lastWriteOf(standing.data, at);
  const none = Object.fromEntries(Object.keys(standing.data).map((field) => [field, undefined]));
  return {
    kind: 'update',
    collection,
    id,
    version: standing.version,
    data: { ...none, ...data, ...(notBefore > at ? { notBefore } : {}) },
  };
}

/** When the last write of the current or previous holder is over. */
function lastWriteOf({ state, expiresAt = '', notBefore = '' }: LeaseRecord, at: string): string {
  if (state === 'running') return addSeconds(new Date(expiresAt || at), callSeconds);
  // The step's own wait may be longer. What it waited for is looked at again anyway.
  const latest = addSeconds(new Date(at), leaseTimes.leaseSeconds + callSeconds);
  return notBefore < latest ? notBefore : latest;
}
