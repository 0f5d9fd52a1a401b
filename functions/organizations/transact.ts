/** Runs a transaction again when another one commits first. Every change of organizations and teams uses it. */
import { Problem } from '../../shared/problems.js';
import type { Context } from '../context.js';
import { Conflict, type Transaction, type Write } from '../store/store.js';
import { inTurn } from '../store/turns.js';
import { noticesOf } from './events/notices.js';
import { BeingRemoved } from './members/leaving.js';

type Transacting = Pick<Context, 'store' | 'clock' | 'random' | 'config'>;

const tries = 8;
/**
 * Firestore's client retries each transaction several times itself. The caller needs an answer before the function times out.
 */
const timeoutMs = 15_000;
/** A removal is quick unless its function has died. */
const removalTimeoutMs = 3_000;

/** `change` may run several times. Only the writes of its last run count. */
export const transact = <T>(context: Transacting, change: (transaction: Transaction) => Promise<T>): Promise<T> =>
  untilFirst(context, () => once(context, change));

/**
 * What a change depends on, read document by document at first. A refusal, or a result that is not `open`, is final, so then
 * one transaction reads it all again: an answer must be right at some moment, not each half of it at another one. A later
 * transaction checks what is open.
 */
export async function judged<T>(
  context: Transacting,
  judge: (reader: Pick<Transaction, 'get' | 'getMany'>) => Promise<T>,
  open: (result: T) => boolean,
): Promise<T> {
  try {
    const result = await judge(context.store);
    if (open(result)) return result;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
  }
  return transact(context, judge);
}

/**
 * Within one process, changes of one document take turns. A change that waits for a removal gives up its turn.
 */
const transactInTurn = <T>(
  context: Transacting,
  of: string,
  change: (transaction: Transaction) => Promise<T>,
): Promise<T> => untilFirst(context, () => inTurn(context.store, of, () => once(context, change)));

/** Every change of a team's members writes the team. */
export const transactInTeam = <T>(
  context: Transacting,
  teamId: number,
  change: (transaction: Transaction) => Promise<T>,
): Promise<T> => transactInTurn(context, `team ${teamId}`, change);

/** For what changes the organization's own document. */
export const transactInOrganization = <T>(
  context: Transacting,
  organizationId: string,
  change: (transaction: Transaction) => Promise<T>,
): Promise<T> => transactInTurn(context, `organization ${organizationId}`, change);

const once = <T>({ store, config }: Transacting, change: (transaction: Transaction) => Promise<T>): Promise<T> =>
  store.transaction(async (transaction) => {
    const writes: Write[] = [];
    const result = await change({ ...transaction, write: (...more) => void writes.push(...more) });
    if (writes.length > 0) transaction.write(...joined(writes), ...noticesOf(config, writes));
    return result;
  });

/** A commit writes a document only once, so several updates become one write. A delete wins over later writes. */
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

async function untilFirst<T>({ clock, random }: Transacting, work: () => Promise<T>): Promise<T> {
  const begun = clock.now().getTime();
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const waitedMs = clock.now().getTime() - begun;
      if (error instanceof BeingRemoved) {
        if (waitedMs > removalTimeoutMs) throw isLeaving(error);
      } else if (!(error instanceof Conflict)) {
        throw error;
      } else if (attempt >= tries || waitedMs > timeoutMs) {
        throw busy(error);
      }
      await clock.wait((random.fraction() * Math.min(10 * 2 ** attempt, 500)) / 1000);
    }
  }
}

export const busy = (cause?: unknown): Problem =>
  new Problem('unavailable', 'Too many change this at once.', { retryAfterSeconds: 2, cause });

const isLeaving = ({ what, waitSeconds, advice }: BeingRemoved): Problem =>
  new Problem('conflict', what, { retryAfterSeconds: waitSeconds, advice });
