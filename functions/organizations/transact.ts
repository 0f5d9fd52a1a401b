/** A transaction that starts over when others were first. Every change of organizations and teams goes through it. */
import { Problem } from '../../shared/problems.js';
import type { Clock, Context } from '../context.js';
import { Conflict, type Store, type Transaction, type Write } from '../store/store.js';
import { inTurn } from '../store/turns.js';
import { BeingRemoved } from './leaving.js';

/** Further writes of the same transaction, by what it results in; none where nothing changes. */
export type Also<T> = (result: T) => readonly Write[];

const tries = 8;
/** Firestore's client tries each of them several times itself; a caller shall have an answer before the function's time is up. */
const patienceMs = 15_000;
/** A removal takes a moment, unless its function has died. */
const removalPatienceMs = 3_000;

/** `change` may run several times; only what its last run wrote stands. */
export const transact = <T>(
  context: Pick<Context, 'store' | 'clock'>,
  change: (transaction: Transaction) => Promise<T>,
  also: Also<T> = () => [],
): Promise<T> => untilFirst(context.clock, () => once(context.store, change, also));

/** All changes of a team's members write the team: those of one process do it by turns. Who waits for a removal holds no turn. */
export const transactInTeam = <T>(
  { store, clock }: Pick<Context, 'store' | 'clock'>,
  teamId: number,
  change: (transaction: Transaction) => Promise<T>,
  also: Also<T> = () => [],
): Promise<T> => untilFirst(clock, () => inTurn(store, `team ${teamId}`, () => once(store, change, also)));

const once = <T>(store: Store, change: (transaction: Transaction) => Promise<T>, also: Also<T>): Promise<T> =>
  store.transaction(async (transaction) => {
    const writes: Write[] = [];
    const result = await change({ ...transaction, write: (...more) => void writes.push(...more) });
    if (writes.length > 0) transaction.write(...joined(writes), ...also(result));
    return result;
  });

/** A commit writes a document once: what was decided of it in several places is one write. What goes, goes. */
function joined(writes: readonly Write[]): Iterable<Write> {
  const byPlace = new Map<string, Write>();
  for (const write of writes) {
    const place = `${write.collection}/${write.id}`;
    const before = byPlace.get(place);
    if (before?.kind === 'delete') continue;
    const joins = before !== undefined && write.kind === 'update';
    byPlace.set(place, joins ? { ...before, data: { ...before.data, ...write.data } } : write);
  }
  return byPlace.values();
}

async function untilFirst<T>(clock: Clock, work: () => Promise<T>): Promise<T> {
  const begun = clock.now().getTime();
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const waitedMs = clock.now().getTime() - begun;
      if (error instanceof BeingRemoved) {
        if (waitedMs > removalPatienceMs) throw isLeaving(error);
      } else if (!(error instanceof Conflict)) {
        throw error;
      } else if (attempt >= tries || waitedMs > patienceMs) {
        throw busy(error);
      }
      await clock.wait((Math.random() * Math.min(10 * 2 ** attempt, 500)) / 1000);
    }
  }
}

export const busy = (cause?: unknown): Problem =>
  new Problem('unavailable', 'Too many change this at once.', { retryAfterSeconds: 2, cause });

const isLeaving = ({ email, waitSeconds }: BeingRemoved): Problem =>
  new Problem('conflict', `${email} is just being removed from the organization.`, {
    retryAfterSeconds: waitSeconds,
    advice: 'Try again in a moment, or remove them once more, which finishes a removal that stopped half-way.',
  });
