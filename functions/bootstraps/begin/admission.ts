/**
 * The operators' switch that stops new bootstraps. It is stored beside the counters, which each new bootstrap writes with the
 * version it read. Once a stop is answered, no bootstrap that missed it can begin.
 */
import type { AdmissionView } from '../../../shared/bootstrap/admission.js';
import { collections, countersId } from '../../../shared/names.js';
import { Problem } from '../../../shared/problems.js';
import type { Context } from '../../context.js';
import { type CountersRecord, liftCounters, noCounts, ofOwner, readCounts } from '../../engine/record/counts.js';
import { read } from '../../store/lift.js';
import { afterConflict } from '../../store/retry.js';
import { Conflict } from '../../store/store.js';
import { inTurn } from '../../store/turns.js';

const tries = 30;
const open: AdmissionView = { state: 'open' };

const countersOf = async ({ store }: Pick<Context, 'store'>) =>
  read(await store.get(collections.counters, countersId), liftCounters);

/** Throws `stopped` with who, when and why. */
export function checkAdmission(counters: Pick<CountersRecord, 'admission'> | undefined): void {
  const { state, by, at, reason } = counters?.admission ?? open;
  if (state === 'open') return;
  throw new Problem('stopped', `New bootstraps are stopped since ${at} by ${by}: ${reason}`, {
    advice:
      'Try again when an operator has started them again. Bootstraps that stand go on: the same command resumes them.',
    members: { reason, by, at },
  });
}

export async function readAdmission(context: Pick<Context, 'store'>): Promise<AdmissionView> {
  return (await countersOf(context))?.data.admission ?? open;
}

/** The admission, and how many living bootstraps `owner` has. */
export async function readCounters(
  context: Pick<Context, 'store'>,
  owner: string,
): Promise<{ readonly admission: AdmissionView; readonly living: number }> {
  const counts = await readCounts(context, { owners: [owner] });
  return { admission: counts.all.admission ?? open, living: ofOwner(counts, owner).living };
}

/** Stops new bootstraps, also with a new reason, or starts them again. Starting twice changes nothing. */
export async function switchAdmission(
  context: Pick<Context, 'store' | 'clock' | 'log' | 'random'>,
  by: string,
  wanted: { readonly state: 'stopped'; readonly reason: string } | { readonly state: 'open' },
): Promise<AdmissionView> {
  const { store, clock, log } = context;
  for (let attempt = 0; attempt < tries; attempt++) {
    const found = await countersOf(context);
    const before = found?.data.admission ?? open;
    if (wanted.state === 'open' && before.state === 'open') return before;
    const admission: AdmissionView = { ...wanted, by, at: clock.now().toISOString() };
    const target = { collection: collections.counters, id: countersId };
    try {
      await inTurn(store, countersId, () =>
        store.commit([
          found === undefined
            ? { kind: 'create', ...target, data: { ...noCounts, admission } }
            : { kind: 'update', ...target, version: found.version, data: { admission } },
        ]),
      );
      log('INFO', `${by}: new bootstraps are ${admission.state}`, { before, after: admission });
      return admission;
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
      await afterConflict(context, attempt);
    }
  }
  throw new Problem('unavailable', 'Too many bootstraps are begun at once.', { retryAfterSeconds: 2 });
}
