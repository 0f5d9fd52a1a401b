/** The store as a process sees it: each call waits for its turn, and may fail or kill the process before or after its effect. */
import type { Store, Transaction, Write } from '../../functions/store/store.js';
import type { MemoryStore } from '../../local/functions/memory-store.js';
import { Problem } from '../../shared/problems.js';
import type { Process } from './scheduler.js';

/** `is late after`: the answer takes longer than any lease lasts. */
export type Disturbance = 'fails before' | 'fails after' | 'dies before' | 'dies after' | 'is late after';

/** Asked once for each call that a process makes. */
export type Disturb = (process: Process, call: string) => Disturbance | undefined;

const lateSeconds = 75;

/** Never resolves: whoever waits is dead. */
const never = (): Promise<never> => new Promise(() => undefined);

const unreachable = (): Problem => new Problem('unavailable', 'The database cannot be reached now.');

/** Does `work` in turns of the process. `seconds`: until it begins, and until its answer is there. `before`: until it begins. */
export async function inTurns<T>(
  process: Process,
  disturbance: Disturbance | undefined,
  work: () => Promise<T>,
  {
    seconds = (): number => 0,
    before = seconds as () => number,
    fault = unreachable as () => unknown,
    answers = true,
  } = {},
): Promise<T> {
  await process.turn(before());
  if (disturbance === 'dies before') {
    process.kill();
    return never();
  }
  if (disturbance === 'fails before') throw fault();
  const result = await work().then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if (disturbance === 'dies after') {
    process.kill();
    return never();
  }
  if (answers) await process.turn(seconds() + (disturbance === 'is late after' ? lateSeconds : 0));
  if (disturbance === 'fails after') throw fault();
  if ('error' in result) throw result.error;
  return result.value;
}

interface Options {
  readonly disturb: Disturb;
  readonly seconds?: () => number;
  /** Each answer takes a turn of its own. */
  readonly answers: boolean;
  /** Called after each commit that writes something. */
  readonly onCommit: (writes: readonly Write[]) => void;
}

export function storeOf(memory: MemoryStore, process: Process, options: Options): Store {
  const { disturb, onCommit, ...how } = options;
  const call = <T>(name: string, work: () => Promise<T>): Promise<T> =>
    inTurns(process, disturb(process, name), work, how);
  return {
    ...memory,
    get: (collection, id) => call(`read ${collection}`, () => memory.get(collection, id)),
    getMany: (collection, ids) => call(`read ${collection}`, () => memory.getMany(collection, ids)),
    query: (query) => call(`query ${query.collection}`, () => memory.query(query)),
    commit: (writes) =>
      call(`commit ${writes[0]?.collection ?? 'nothing'}`, async () => {
        const versions = await memory.commit(writes);
        onCommit(writes);
        return versions;
      }),
    transaction: (body) => transactInTurns(memory, process, options, body),
  };
}

async function transactInTurns<T>(
  memory: MemoryStore,
  process: Process,
  { disturb, onCommit, seconds }: Options,
  body: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  const disturbance = disturb(process, 'transaction');
  const dies = (): Promise<never> => {
    process.kill();
    return never();
  };
  let written: Write[] = [];
  const result = await memory.transaction(async (transaction) => {
    written = [];
    const value = await body({
      ...transaction,
      async get(collection, id) {
        await process.turn(seconds?.());
        return transaction.get(collection, id);
      },
      async getMany(collection, ids) {
        await process.turn(seconds?.());
        return transaction.getMany(collection, ids);
      },
      write(...more) {
        written.push(...more);
        transaction.write(...more);
      },
    });
    await process.turn(seconds?.());
    if (disturbance === 'dies before') return dies();
    if (disturbance === 'fails before') throw unreachable();
    return value;
  });
  if (written.length > 0) onCommit(written);
  if (disturbance === 'dies after') return dies();
  if (disturbance === 'fails after') throw unreachable();
  return result;
}
