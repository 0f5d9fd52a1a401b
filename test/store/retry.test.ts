/** The store that a context hands out survives a short absence of the database. Nothing else retries its calls. */
import { expect } from 'chai';
import { readConfig } from '../../functions/config.js';
import { createContext } from '../../functions/context.js';
import { realClock } from '../../functions/host/clock.js';
import { realRandom } from '../../functions/host/random.js';
import { afterConflict, withRetries } from '../../functions/store/retry.js';
import { Conflict, type Store, type Write } from '../../functions/store/store.js';
import { createMemoryStore } from '../../local/functions/memory-store.js';
import { Problem } from '../../shared/problems.js';

const away = () => new Problem('unavailable', 'The database cannot be reached now.');
const place = { collection: 'things', id: 'one' };
const create: Write = { kind: 'create', ...place, data: { at: 1 } };

describe('the retries of the store', () => {
  let calls: string[];
  let pauses: number[];
  /** How many calls fail, with which error, and whether before or after their effect. */
  let trouble: { left: number; error: () => Error; after?: boolean };
  let store: Store;
  const waiting = {
    clock: { ...realClock, pause: async (seconds: number) => void pauses.push(seconds) },
    random: { ...realRandom, fraction: () => 0.5 },
  };

  beforeEach(() => {
    calls = [];
    pauses = [];
    trouble = { left: 0, error: away };
    const memory = createMemoryStore();
    const troubled = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
      calls.push(name);
      const fails = trouble.left > 0;
      if (fails) trouble.left -= 1;
      if (fails && trouble.after !== true) throw trouble.error();
      const result = await work();
      if (fails) throw trouble.error();
      return result;
    };
    store = {
      ...memory,
      get: (...of) => troubled('get', () => memory.get(...of)),
      getMany: (...of) => troubled('getMany', () => memory.getMany(...of)),
      query: (...of) => troubled('query', () => memory.query(...of)),
      commit: (...of) => troubled('commit', () => memory.commit(...of)),
      transaction: (body) => troubled('transaction', () => memory.transaction(body)),
    };
  });

  const refusal = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => undefined,
      (error: unknown) => error,
    );

  const each: Readonly<Record<string, (own: Store) => Promise<unknown>>> = {
    get: ({ get }) => get(place.collection, place.id),
    getMany: ({ getMany }) => getMany(place.collection, [place.id]),
    query: ({ query }) => query({ collection: place.collection }),
    commit: ({ commit }) => commit([create]),
  };
  for (const [name, call] of Object.entries(each)) {
    it(`repeat ${name} while the database cannot be reached, and wait longer each time`, async () => {
      trouble.left = 5;
      await call(withRetries(store, waiting));
      expect(calls).to.deep.equal(Array.from({ length: 6 }, () => name));
      expect(pauses).to.have.length(5);
      expect(pauses).to.deep.equal([...pauses].sort((a, b) => a - b));
    });

    it(`give ${name} up after six tries`, async () => {
      trouble.left = 99;
      expect(await refusal(call(withRetries(store, waiting)))).to.include({ code: 'unavailable' });
      expect(calls).to.have.length(6);
    });

    it(`let any other error of ${name} out at once`, async () => {
      trouble = { left: 1, error: () => new Conflict('Another was first.') };
      expect(await refusal(call(withRetries(store, waiting)))).to.be.instanceOf(Conflict);
      expect(calls).to.have.length(1);
    });
  }

  it('meet the own document of a commit whose answer was lost', async () => {
    trouble = { left: 1, error: away, after: true };
    expect(await refusal(withRetries(store, waiting).commit([create]))).to.be.instanceOf(Conflict);
    expect(calls).to.have.length(2);
  });

  it('leave out a commit that is to be sent once', async () => {
    trouble = { left: 1, error: away, after: true };
    expect(await refusal(withRetries(store, waiting).commit([create], { once: true }))).to.include({
      code: 'unavailable',
    });
    expect(calls).to.have.length(1);
  });

  it('leave out a transaction, which decides by what it read', async () => {
    trouble.left = 1;
    const read = withRetries(store, waiting).transaction(({ get }) => get(place.collection, place.id));
    expect(await refusal(read)).to.include({ code: 'unavailable' });
    expect(calls).to.have.length(1);
  });

  it('are counted by whoever commits', async () => {
    trouble.left = 3;
    let retries = 0;
    await withRetries(store, waiting).commit([create], { onRetry: () => (retries += 1) });
    expect(retries).to.equal(3);
  });

  it('thin out racers by longer and longer pauses', async () => {
    for (const attempt of [0, 1, 2, 9]) await afterConflict(waiting, attempt);
    expect(pauses).to.deep.equal([0.005, 0.01, 0.02, 0.15]);
  });

  it('belong to the store that the context hands out', async () => {
    const config = readConfig({
      PLINTH_PROJECT: 'plinth-test',
      PLINTH_DEPLOYMENT: 'test',
      PLINTH_MACHINE_ACCESS: 'direct',
      PLINTH_SSH_SOURCE_RANGES: '127.0.0.0/8',
    });
    trouble.left = 2;
    await createContext(config, { ...waiting, store, log: () => undefined }).store.get(place.collection, place.id);
    expect(calls).to.have.length(3);
    expect(pauses).to.have.length(2);
  });
});
