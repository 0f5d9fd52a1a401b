/**
 * The door's side: has the function of a lane look, and waits for its answer. Only that function has its rights, and no other
 * may act as it.
 */
import { addSeconds } from '../../shared/add-seconds.js';
import { preflightInstance } from '../../shared/bootstrap/message.js';
import { collections, type Lane } from '../../shared/names.js';
import { Problem } from '../../shared/problems.js';
import { type Trace, traceparentOf } from '../../shared/trace.js';
import type { Context } from '../context.js';
import { read } from '../engine/record/documents.js';
import type { Document } from '../store/store.js';
import { liftPreflight, type PreflightRecord, verdictIn } from './documents.js';
import type { Asking, Finding } from './finding.js';
import { type Found, foundAs } from './look.js';

/** The lane may have to start. Its calls take a second or two. */
const laneSeconds = 15;
/** For a document that nobody took away. */
const keptSeconds = 3600;

type Asker = Pick<Context, 'store' | 'publisher' | 'clock' | 'random' | 'log'>;

/** What the lane does not answer in time is unknown. */
export async function askLane(
  context: Asker,
  lane: Lane,
  asked: readonly Finding[],
  { intent, signal }: Pick<Asking, 'intent' | 'signal'>,
  trace?: Trace,
): Promise<readonly Found[]> {
  if (asked.length === 0) return [];
  const { store, publisher, clock, random, log } = context;
  const id = random.bytes(15).toString('hex');
  const { options, owner, ownerMember, projectId } = intent;
  const data: PreflightRecord = {
    schema: 1,
    codes: asked.map(({ code }) => code),
    owner,
    ownerMember,
    projectId,
    options: { ...options },
    expireAt: addSeconds(clock.now(), keptSeconds),
  };
  const collection = collections.preflights;
  let verdicts: PreflightRecord['verdicts'];
  let why = `the ${lane} lane has not answered within ${laneSeconds} s`;
  try {
    // The id is random, so a second try after a lost answer can only meet its own document.
    await store.commit([{ kind: 'set', collection, id, data }]);
    const attributes = trace === undefined ? {} : { traceparent: traceparentOf(trace) };
    const message = { schema: 1, bootstrapId: id, instance: preflightInstance, generation: 1 } as const;
    await publisher.publish(lane, [message], attributes);
    verdicts = await answered(context, id, signal);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    why = error.detail;
  } finally {
    await store
      .commit([{ kind: 'delete', collection, id }])
      .catch((error: unknown) => log('DEBUG', 'A preflight was left behind until it expires', { error }));
  }
  return asked.map((finding) => {
    const verdict = verdicts?.[finding.code];
    return foundAs(finding, verdict === undefined ? { state: 'unknown', what: why } : verdictIn(verdict));
  });
}

/** Undefined: no answer came in time, or whoever asked has gone. */
async function answered(
  { store, clock }: Asker,
  id: string,
  signal: AbortSignal | undefined,
): Promise<PreflightRecord['verdicts']> {
  let unwatch: (() => void) | undefined;
  let stopTimer: (() => void) | undefined;
  try {
    return await new Promise((resolve, reject) => {
      stopTimer = clock.after(laneSeconds, () => resolve(undefined));
      signal?.addEventListener('abort', () => resolve(undefined), { once: true });
      if (signal?.aborted) resolve(undefined);
      unwatch = store.watch(
        collections.preflights,
        id,
        (document: Document | undefined) => {
          const verdicts = read(document, liftPreflight)?.data.verdicts;
          if (verdicts !== undefined) resolve(verdicts);
        },
        (cause) => reject(new Problem('unavailable', 'The answer of the lane cannot be read now.', { cause })),
      );
    });
  } finally {
    unwatch?.();
    stopTimer?.();
  }
}
