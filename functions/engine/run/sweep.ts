/** Sends again what is due: lost messages, leases of functions that died, and waits that are over. */

import { addSeconds } from '../../../shared/add-seconds.js';
import { collections } from '../../../shared/names.js';
import type { Trace } from '../../../shared/trace.js';
import type { Context } from '../../context.js';
import { mapInBatches } from '../../host/map-in-batches.js';
import { Conflict, type Document } from '../../store/store.js';
import { type LeaseRecord, leaseId, liftLease, read } from '../record/documents.js';
import { publish } from './publish.js';

export interface Swept {
  /** Number of messages sent. */
  readonly published: number;
  /** More was due than one run takes. The next run goes on. */
  readonly more: boolean;
}

/** Bounded, so that a run ends well before the next one begins. */
const perRun = 500;
/** A sent message is not sent again sooner. */
const patienceSeconds = 60;
const atOnce = 25;

/** `trace`: the trace of this run. The steps continue in their bootstraps' traces and link to it. */
export async function sweep(context: Context, trace?: Trace): Promise<Swept> {
  const { store, clock, log } = context;
  const now = clock.now();
  const found = await store.query({
    collection: collections.leases,
    where: [['dueAt', '<=', now.toISOString()]],
    orderBy: ['dueAt', 'asc'],
    limit: perRun,
  });
  const due = found.flatMap((document) => read(document, liftLease) ?? []);
  const taken = await mapInBatches(due, atOnce, (lease) => postpone(context, lease, now));
  const sent = taken.flatMap((lease) => lease ?? []);
  await publish(context, sent, trace);
  if (sent.length > 0) log('INFO', `Sent ${sent.length} instances again`);
  return { published: sent.length, more: found.length === perRun };
}

/** A dead lease keeps its holder, so that the next claim counts the death. Undefined: somebody was faster. */
async function postpone(
  { store }: Context,
  { version, data }: Document<LeaseRecord>,
  now: Date,
): Promise<LeaseRecord | undefined> {
  const id = leaseId(data.bootstrapId, data.instance);
  const dueAt = addSeconds(now, patienceSeconds);
  try {
    await store.commit([{ kind: 'update', collection: collections.leases, id, version, data: { dueAt } }]);
    return data;
  } catch (error) {
    if (error instanceof Conflict) return undefined;
    throw error;
  }
}
