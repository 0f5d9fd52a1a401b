/**
 * The lease of one invocation on one instance. A claim gives it a number and an expiry, and heartbeats renew it. It is lost
 * for good once somebody else has it. There are no locks: every write carries the version it has seen.
 */
import { addSeconds } from '../../../shared/add-seconds.js';
import { collections } from '../../../shared/names.js';
import type { Context } from '../../context.js';
import { afterConflict } from '../../store/retry.js';
import { Conflict, type Document, type Version } from '../../store/store.js';
import { type LeaseRecord, leaseId, liftLease, read } from '../record/documents.js';
import { renewTogether } from './renewals.js';

export interface LeaseTimes {
  /** How long a lease lives without a heartbeat. */
  readonly leaseSeconds: number;
  readonly heartbeatSeconds: number;
}
/** What is over within this time is not worth a write. Nobody could read it. */
const shownSeconds = 1;
/** A heartbeat may be late by two thirds of the lease before a takeover. */
export const leaseTimes: LeaseTimes = { leaseSeconds: 30, heartbeatSeconds: 10 };

/** Somebody else has the instance now, or it ended or began anew. Nothing that this invocation still does counts. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

export interface Held {
  /** As last written or read. */
  current(): LeaseRecord;
  /** Aborted with a LeaseLost when it is lost. */
  readonly signal: AbortSignal;
  /** Writes the change and renews the lease. Throws LeaseLost. */
  save(change: Partial<LeaseRecord>): Promise<void>;
  /** `current` has the change at once, and the next heartbeat writes it. What people see of it is written within a second. */
  tell(change: Partial<LeaseRecord>): void;
  /** What was told and is not written yet. Whoever ends the lease without deleting it writes it along. */
  untold(): Partial<LeaseRecord>;
  /** Stops the heartbeats and returns the version to end the lease with. Throws LeaseLost. */
  stop(): Promise<Version>;
  /** After a conflict: the current version, if the lease is still ours. Throws LeaseLost. */
  again(): Promise<Version>;
}

type Found = Pick<Document<LeaseRecord>, 'version' | 'data'>;

/** Undefined: somebody else was first. */
export async function claim(
  context: Pick<Context, 'store' | 'clock' | 'random'>,
  found: Document<LeaseRecord>,
  { leaseSeconds, heartbeatSeconds }: LeaseTimes,
): Promise<Held | undefined> {
  const document = createLeaseDocument(context, found.data, leaseSeconds);
  const claimed = await take(context, document, found);
  return claimed === undefined ? undefined : hold(context, document, claimed, heartbeatSeconds);
}

/** A lease that is claimed by the write that makes it. */
export interface Claiming {
  /** What to write. */
  readonly data: LeaseRecord;
  /** To be called once it is written, with the version that the write left. */
  hold(version: Version): Held;
}

export function claimNew(
  context: Pick<Context, 'store' | 'clock' | 'random'>,
  lease: LeaseRecord,
  { leaseSeconds, heartbeatSeconds }: LeaseTimes,
): Claiming {
  const document = createLeaseDocument(context, lease, leaseSeconds);
  const { holder, renewed } = document;
  const startedAt = context.clock.now().toISOString();
  const data: LeaseRecord = { ...lease, state: 'running', number: lease.number + 1, holder, ...renewed(), startedAt };
  return { data, hold: (version) => hold(context, document, { version, data }, heartbeatSeconds) };
}

type LeaseDocument = ReturnType<typeof createLeaseDocument>;

/** The document of a lease, as a new holder writes and reads it. */
function createLeaseDocument(
  { store, clock, random }: Pick<Context, 'store' | 'clock' | 'random'>,
  { bootstrapId, instance }: Pick<LeaseRecord, 'bootstrapId' | 'instance'>,
  leaseSeconds: number,
) {
  const { leases: collection } = collections;
  const id = leaseId(bootstrapId, instance);
  const holder = random.uuid();
  const controller = new AbortController();
  const readNow = async (): Promise<Found | undefined> => read(await store.get(collection, id), liftLease);
  const lost = (): LeaseLost => {
    const error = new LeaseLost(`${id} is no longer ours`);
    controller.abort(error);
    return error;
  };
  return {
    holder,
    lost,
    /** Aborted when the lease is lost. */
    signal: controller.signal,
    renewed(): Pick<LeaseRecord, 'expiresAt' | 'dueAt'> {
      const expiresAt = addSeconds(clock.now(), leaseSeconds);
      return { expiresAt, dueAt: expiresAt };
    },
    async write(version: Version, change: Partial<LeaseRecord>): Promise<Version> {
      return (await store.commit([{ kind: 'update', collection, id, version, data: change }]))[0] as Version;
    },
    writeTogether: (version: Version, change: Partial<LeaseRecord>): Promise<Version> =>
      renewTogether({ store, clock }, bootstrapId, { kind: 'update', collection, id, version, data: change }),
    readNow,
    lostRace: (attempt: number): Promise<void> => afterConflict({ clock, random }, attempt),
    async readOurs(): Promise<Found> {
      const now = await readNow();
      if (now?.data.holder !== holder) throw lost();
      return now;
    },
  };
}

/** A claim of what nobody else has written meanwhile is tried so often. */
const claimTries = 20;

/** The first write of a holder. Undefined: somebody else was first. */
async function take(
  { clock }: Pick<Context, 'clock'>,
  { holder, renewed, write, readNow, lostRace }: LeaseDocument,
  { version, data }: Found,
): Promise<Found | undefined> {
  const claimed: Partial<LeaseRecord> = {
    state: 'running',
    number: data.number + 1,
    holder,
    notBefore: undefined,
    startedAt: data.startedAt ?? clock.now().toISOString(),
    ...(data.state === 'running' ? { deaths: data.deaths + 1 } : {}),
  };
  for (let attempt = 0; ; attempt++) {
    const change = { ...claimed, ...renewed() };
    try {
      return { version: await write(version, change), data: { ...data, ...change } };
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
      const now = await readNow();
      // The first answer may have been lost, and the client's second try may have met our own write.
      if (now?.data.holder === holder) return now;
      // Firestore also refuses quick writes of one document. Then nobody was first.
      if (now?.version !== version || attempt >= claimTries) return undefined;
      await lostRace(attempt);
    }
  }
}

/** The lease as its holder knows it, with what is still to be written. */
function createCopy({ signal, renewed, readOurs, lostRace }: LeaseDocument, claimed: Found) {
  let { version, data: record } = claimed;
  let untold: Partial<LeaseRecord> = {};
  const copy = {
    version: () => version,
    record: () => record,
    untold: () => untold,
    /** True if people see something new in it. */
    tell(change: Partial<LeaseRecord>): boolean {
      const isNew = (['note', 'retry'] as const).some((field) => field in change && change[field] !== record[field]);
      untold = { ...untold, ...change };
      record = { ...record, ...change };
      return isNew;
    },
    async readAgain(): Promise<void> {
      const found = await readOurs();
      ({ version } = found);
      record = { ...found.data, ...untold };
    },
    async save(change: Partial<LeaseRecord>, write: LeaseDocument['write']): Promise<void> {
      for (let attempt = 0; ; attempt++) {
        if (signal.aborted) throw signal.reason;
        const data: Partial<LeaseRecord> = { ...untold, ...change, ...renewed() };
        try {
          version = await write(version, data);
          untold = withoutThose(untold, data);
          record = { ...record, ...data, ...untold };
          return;
        } catch (error) {
          if (!(error instanceof Conflict)) throw error;
          // A person cancelled, or our own write went through and its answer was lost. Or it was too soon after the last one.
          await copy.readAgain();
          if (attempt > 0) await lostRace(attempt);
        }
      }
    },
  };
  return copy;
}

/** Renews the lease until it is stopped or lost. */
function hold(
  { clock }: Pick<Context, 'clock'>,
  document: LeaseDocument,
  claimed: Found,
  heartbeatSeconds: number,
): Held {
  const { signal, lost } = document;
  const copy = createCopy(document, claimed);

  /** One write at a time: each needs the version that the previous one left. */
  let queue: Promise<unknown> = Promise.resolve();
  const alone = <T>(work: () => Promise<T>): Promise<T> => {
    const result = queue.then(work);
    queue = result.catch(() => undefined);
    return result;
  };

  let stopped = false;
  const beat = (): void => {
    if (stopped || signal.aborted) return;
    alone(async () => {
      if (!stopped) await copy.save({}, document.writeTogether);
    }).catch(() => {
      // The store cannot be reached. Once the lease has expired, somebody else may have it.
      const { expiresAt } = copy.record();
      if (expiresAt !== undefined && expiresAt <= clock.now().toISOString()) lost();
    });
  };
  const stopBeats = repeat(clock, heartbeatSeconds, beat);
  let stopShowing: (() => void) | undefined;
  const end = (): void => {
    stopped = true;
    stopBeats();
    stopShowing?.();
  };
  signal.addEventListener('abort', end);

  return {
    current: copy.record,
    untold: copy.untold,
    signal,
    save: (change) => alone(() => copy.save(change, document.write)),
    tell(change) {
      if (!copy.tell(change) || stopped) return;
      stopShowing ??= clock.after(shownSeconds, () => {
        stopShowing = undefined;
        if (Object.keys(copy.untold()).length > 0) beat();
      });
    },
    stop: () => {
      end();
      return alone(async () => {
        if (signal.aborted) throw signal.reason;
        return copy.version();
      });
    },
    again: () =>
      alone(async () => {
        await copy.readAgain();
        return copy.version();
      }),
  };
}

const withoutThose = (some: Partial<LeaseRecord>, those: Partial<LeaseRecord>): Partial<LeaseRecord> =>
  Object.fromEntries(Object.entries(some).filter(([field, value]) => those[field as keyof LeaseRecord] !== value));

/** Calls `work` every `seconds`, until the returned function is called. */
function repeat(clock: Context['clock'], seconds: number, work: () => void): () => void {
  let stop: () => void;
  const again = (): void => {
    stop = clock.after(seconds, () => {
      again();
      work();
    });
  };
  again();
  return () => stop();
}
