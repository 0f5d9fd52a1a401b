/**
 * Leases of one bootstrap that are renewed at the same moment share a commit, such as those of all VMs that start. None waits
 * for the answer to another commit.
 */
import { Problem } from '../../../shared/problems.js';
import type { Context } from '../../context.js';
import type { Store, Version, Write } from '../../store/store.js';
import type { Outcome } from '../../store/turns.js';

type Renewal = Extract<Write, { kind: 'update' }>;

interface Batch {
  readonly renewals: Renewal[];
  readonly done: Promise<readonly Outcome<Version>[]>;
}

/** Those that still gather, by bootstrap. */
const gathering = new WeakMap<Store, Map<string, Batch>>();
/** Timers of the same moment come within this time. */
const gatherMilliseconds = 25;

/** Returns the version that its lease has then. Throws `Conflict` only for what has changed itself. */
export async function renewTogether(
  { store, clock }: Pick<Context, 'store' | 'clock'>,
  bootstrapId: string,
  renewal: Renewal,
): Promise<Version> {
  const batches = gathering.get(store) ?? new Map<string, Batch>();
  gathering.set(store, batches);
  const batch = batches.get(bootstrapId) ?? begin();
  const place = batch.renewals.push(renewal) - 1;
  const outcome = (await batch.done)[place] as Outcome<Version>;
  if ('error' in outcome) throw outcome.error;
  return outcome.value;

  function begin(): Batch {
    const renewals: Renewal[] = [];
    const done = clock.pause(gatherMilliseconds / 1000).then(() => {
      batches.delete(bootstrapId);
      return write(store, renewals);
    });
    const made: Batch = { renewals, done };
    batches.set(bootstrapId, made);
    return made;
  }
}

async function write(store: Store, renewals: readonly Renewal[]): Promise<readonly Outcome<Version>[]> {
  try {
    const versions = await store.commit([...renewals]);
    return renewals.map((_, i) => ({ value: versions[i] ?? '' }));
  } catch (error) {
    const isOfAll = error instanceof Problem && error.code === 'unavailable';
    if (renewals.length === 1 || isOfAll) throw error;
    const alone = (each: Renewal) => write(store, [each]).catch((own: unknown): Outcome<Version>[] => [{ error: own }]);
    return (await Promise.all(renewals.map(alone))).flat();
  }
}
