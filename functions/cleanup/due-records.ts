/**
 * Finds what is past its time by one query of due records, however many live. What is kept is put off, so that it does not
 * take the place of what may go.
 */

import { addSeconds } from '../../shared/add-seconds.js';
import { collections } from '../../shared/names.js';
import { requestRemoval } from '../bootstraps/removal/removal.js';
import type { Context } from '../context.js';
import type { BootstrapRecord } from '../engine/record/documents.js';
import { judgeRecord, removeAtOf } from '../engine/record/removal-rule.js';
import type { AnyStep } from '../engine/step.js';
import { mapInBatches } from '../host/map-in-batches.js';
import { Conflict, type Document } from '../store/store.js';
import { type Candidate, foundOf, kept, objection, unreadable } from './candidate.js';
import { readable } from './readable.js';

const atOnce = 20;
/** For records that are kept or already on their way. */
const lookAgainSeconds = 3600;
/** For records that could not be looked at or handed over. The next run sees them again, after all others. */
const tryAgainSeconds = 60;

export interface Due {
  readonly found: readonly Candidate[];
  /** More than `limit` may be due. */
  readonly more: boolean;
}

export async function byRecords(context: Context, steps: readonly AnyStep[], limit: number): Promise<Due> {
  const { store, clock } = context;
  const documents = await store.query({
    collection: collections.bootstraps,
    where: [['removeAt', '<=', clock.now().toISOString()]],
    orderBy: ['removeAt', 'asc'],
    limit,
  });
  const found = await mapInBatches(documents, atOnce, (document) => candidateOf(context, steps, document));
  return { found, more: documents.length === limit };
}

async function candidateOf(context: Context, steps: readonly AnyStep[], document: Document): Promise<Candidate> {
  const { clock } = context;
  const record = readable(document);
  const later = () => putOff(context, document, nextLook(record, clock.now()));
  if (record === undefined) return { ...unreadable(document), act: later };
  const { id } = document;
  const verdict = judgeRecord(record, clock.now());
  const found = { ...foundOf(id, record, verdict.why), verdict };
  const handOver = handingOver(context, steps, document, record);
  // The removal is under way, so it is only watched.
  const looked = { ...found, verdict: { remove: false, why: verdict.why, shown: false } } as const;
  const stopping = record.state === 'cancelling' && record.removal !== undefined;
  if (record.state === 'removing' || stopping) return { ...looked, act: handOver };
  if (!verdict.remove) return { ...found, act: later, over: record.state === 'removed' || undefined };
  const against = await objection(context, id, record);
  if (against === undefined) return { ...found, act: handOver };
  const soon = () => putOff(context, document, addSeconds(clock.now(), tryAgainSeconds));
  return { ...kept(found, against.why), act: against.unknown ? soon : later };
}

/** Decides from the current record when the removal is written. */
function handingOver(context: Context, steps: readonly AnyStep[], document: Document, record: BootstrapRecord) {
  const { id, version } = document;
  const mayGo = (now: BootstrapRecord) => judgeRecord(now, context.clock.now()).remove;
  return async (): Promise<void> => {
    try {
      const standing = await requestRemoval(context, steps, id, { by: 'cleanup', why: 'expired', mayGo });
      if (standing.version !== version) return;
    } catch (error) {
      const dueAt = addSeconds(context.clock.now(), tryAgainSeconds);
      await putOff(context, document, dueAt).catch(() => undefined);
      throw error;
    }
    await putOff(context, document, nextLook(record, context.clock.now()));
  };
}

/** Undefined: never again by its record, because it waits for a person or is removed. */
function nextLook(record: BootstrapRecord | undefined, now: Date): string | undefined {
  if (record?.state === 'removed' || record?.removal?.quarantinedAt !== undefined) return undefined;
  const removeAt = record === undefined ? '' : removeAtOf(record);
  return Date.parse(removeAt) > now.getTime() ? removeAt : addSeconds(now, lookAgainSeconds);
}

/** Moves only the index. After a lost race, somebody else has written it. */
async function putOff(
  { store }: Context,
  { collection, id, version }: Document,
  removeAt: string | undefined,
): Promise<void> {
  try {
    await store.commit([{ kind: 'update', collection, id, version, data: { removeAt } }]);
  } catch (error) {
    if (!(error instanceof Conflict)) throw error;
  }
}
