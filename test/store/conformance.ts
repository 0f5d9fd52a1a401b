/** What every store must do. Run on the memory store and on Firestore's emulator. */
import { expect } from 'chai';
import { Conflict, type Store } from '../../functions/store/store.js';

export function storeConformance(open: () => Promise<Store>): void {
  let store: Store;
  beforeEach(async () => {
    store = await open();
  });
  afterEach(() => store.close());

  const conflict = async (work: Promise<unknown>): Promise<void> => {
    const error = await work.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).to.be.instanceOf(Conflict);
  };
  const put = (id: string, data: Record<string, unknown>, collection = 'things') =>
    store.commit([{ kind: 'set', collection, id, data }]);

  it('gives back what was written', async () => {
    const data = {
      text: 'a',
      number: 1.5,
      flag: true,
      nothing: null,
      list: [1, { b: 'c' }],
      map: { 'a.b': { c: [] } },
    };
    await put('one', data);
    expect((await store.get('things', 'one'))?.data).to.deep.equal(data);
  });

  it('has nothing where nothing was written', async () => {
    expect(await store.get('things', 'none')).to.equal(undefined);
  });

  it('gives many documents in the order asked for', async () => {
    await put('a', { n: 1 });
    await put('b', { n: 2 });
    const found = await store.getMany('things', ['b', 'none', 'a']);
    expect(found.map((each) => each?.data['n'])).to.deep.equal([2, undefined, 1]);
    expect(await store.getMany('things', [])).to.deep.equal([]);
  });

  it('takes ids with the signs the engine uses', async () => {
    for (const id of ['b1~vm:k0s-1', 'n-my%20name', 'a@b.example', 'x'.repeat(200)]) {
      await put(id, { id });
      expect((await store.get('things', id))?.id).to.equal(id);
    }
  });

  it('leaves undefined fields out', async () => {
    await put('one', { a: 1, b: undefined, map: { c: undefined, d: 2 } });
    expect((await store.get('things', 'one'))?.data).to.deep.equal({ a: 1, map: { d: 2 } });
  });

  it('refuses nested arrays', async () => {
    const error = await put('one', { list: [[1]] }).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(Error);
    expect(error).not.to.be.instanceOf(Conflict);
  });

  it('creates only what is not there', async () => {
    const create = () => store.commit([{ kind: 'create', collection: 'things', id: 'one', data: { n: 1 } }]);
    await create();
    await conflict(create());
  });

  it('updates the fields given, whole, and removes those that are undefined', async () => {
    await put('one', { keep: 1, map: { a: 1, b: 2 }, gone: true, 'dot.ted': 1 });
    await store.commit([
      { kind: 'update', collection: 'things', id: 'one', data: { map: { c: 3 }, gone: undefined, 'dot.ted': 2 } },
    ]);
    expect((await store.get('things', 'one'))?.data).to.deep.equal({ keep: 1, map: { c: 3 }, 'dot.ted': 2 });
  });

  it('updates and deletes only what is there', async () => {
    await conflict(store.commit([{ kind: 'update', collection: 'things', id: 'none', data: { a: 1 } }]));
    await conflict(store.commit([{ kind: 'delete', collection: 'things', id: 'none' }]));
    await put('one', { a: 1 });
    await store.commit([{ kind: 'delete', collection: 'things', id: 'one' }]);
    expect(await store.get('things', 'one')).to.equal(undefined);
  });

  it('updates and deletes only at the version given', async () => {
    const [first = ''] = await put('one', { n: 1 });
    const [second = ''] = await store.commit([
      { kind: 'update', collection: 'things', id: 'one', version: first, data: { n: 2 } },
    ]);
    expect(second).not.to.equal(first);
    await conflict(store.commit([{ kind: 'update', collection: 'things', id: 'one', version: first, data: { n: 3 } }]));
    await conflict(store.commit([{ kind: 'delete', collection: 'things', id: 'one', version: first }]));
    expect(await store.get('things', 'one')).to.deep.include({ version: second, data: { n: 2 } });
    await store.commit([{ kind: 'delete', collection: 'things', id: 'one', version: second }]);
  });

  it('commits all or nothing', async () => {
    await put('one', { n: 1 });
    await conflict(
      store.commit([
        { kind: 'set', collection: 'things', id: 'two', data: { n: 2 } },
        { kind: 'create', collection: 'things', id: 'one', data: { n: 3 } },
      ]),
    );
    expect(await store.get('things', 'two')).to.equal(undefined);
  });

  it('gives the new versions in order, with nothing for a delete', async () => {
    await put('one', { n: 1 });
    const versions = await store.commit([
      { kind: 'delete', collection: 'things', id: 'one' },
      { kind: 'create', collection: 'things', id: 'two', data: { n: 2 } },
    ]);
    expect(versions[0]).to.equal('');
    expect(versions[1]).to.equal((await store.get('things', 'two'))?.version);
  });

  it('lets one of many racers win', async () => {
    const [version = ''] = await put('one', { n: 0 });
    const results = await Promise.allSettled(
      Array.from({ length: 10 }, (_, n) =>
        store.commit([{ kind: 'update', collection: 'things', id: 'one', version, data: { n: n + 1 } }]),
      ),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
    for (const result of results) if (result.status === 'rejected') expect(result.reason).to.be.instanceOf(Conflict);
  });

  it('keeps the version when a write changes nothing', async () => {
    const [version = ''] = await put('one', { n: 1, map: { a: 1 } });
    expect(await put('one', { n: 1, map: { a: 1 } })).to.deep.equal([version]);
    const same = { kind: 'update', collection: 'things', id: 'one', version, data: { n: 1 } } as const;
    expect(await store.commit([same])).to.deep.equal([version]);
  });

  it('queries by equality and range, in order, from a value on, within a limit', async () => {
    for (const [id, owner, n] of [
      ['a', 'alice', 3],
      ['b', 'bob', 1],
      ['c', 'alice', 1],
      ['d', 'alice', 2],
    ] as const) {
      await put(id, { owner, n }, 'queried');
    }
    await put('e', { owner: 'alice' }, 'queried');
    const ids = async (query: object) => (await store.query({ collection: 'queried', ...query })).map(({ id }) => id);
    expect(await ids({})).to.deep.equal(['a', 'b', 'c', 'd', 'e']);
    expect(await ids({ where: [['owner', '==', 'alice']] })).to.deep.equal(['a', 'c', 'd', 'e']);
    expect(await ids({ where: [['owner', '==', 'alice']], orderBy: ['n', 'desc'] })).to.deep.equal(['a', 'd', 'c']);
    expect(await ids({ orderBy: ['n', 'asc'], limit: 2 })).to.deep.equal(['b', 'c']);
    expect(await ids({ where: [['n', '<=', 2]], orderBy: ['n', 'asc'], after: 1 })).to.deep.equal(['d']);
    expect(
      await ids({
        where: [
          ['n', '>', 1],
          ['n', '<', 3],
        ],
      }),
    ).to.deep.equal(['d']);
    expect(await ids({ where: [['n', '>=', 'text']] })).to.deep.equal([]);
  });

  it('queries by what a list holds', async () => {
    await put('a', { people: ['alice', 'bob'] }, 'listed');
    await put('b', { people: ['bob'] }, 'listed');
    await put('c', { people: 'alice' }, 'listed');
    const ids = async (person: string) =>
      (await store.query({ collection: 'listed', where: [['people', 'array-contains', person]] })).map(({ id }) => id);
    expect(await ids('alice')).to.deep.equal(['a']);
    expect(await ids('bob')).to.deep.equal(['a', 'b']);
    expect(await ids('carol')).to.deep.equal([]);
  });

  it('keeps the time after which a document may go', async () => {
    const expireAt = '2030-01-02T03:04:05.678Z';
    await put('one', { expireAt });
    expect((await store.get('things', 'one'))?.data).to.deep.equal({ expireAt });
  });

  it('runs a transaction again when what it read has changed', async () => {
    await put('counter', { n: 0 });
    const add = () =>
      store.transaction(async (transaction) => {
        const n = Number((await transaction.get('things', 'counter'))?.data['n']);
        transaction.write({ kind: 'update', collection: 'things', id: 'counter', data: { n: n + 1 } });
        return n;
      });
    const seen = await Promise.all([add(), add(), add()]);
    expect(seen.sort()).to.deep.equal([0, 1, 2]);
    expect((await store.get('things', 'counter'))?.data).to.deep.equal({ n: 3 });
  }).timeout(240_000);

  it('tells the time of the commit that made a document, and in a transaction that of reading', async () => {
    await put('first', { n: 1 });
    const [first] = [await store.get('things', 'first')];
    await put('first', { n: 2 });
    expect((await store.get('things', 'first'))?.createdAt).to.equal(first?.createdAt);
    const readAt = await store.transaction(async (transaction) => {
      expect(() => transaction.readAt()).to.throw();
      await transaction.get('things', 'none');
      transaction.write({ kind: 'create', collection: 'things', id: 'second', data: {} });
      return transaction.readAt();
    });
    const [found] = await store.query({ collection: 'things', where: [['n', '==', 2]] });
    expect(found?.createdAt).to.equal(first?.createdAt);
    const [second] = await store.getMany('things', ['second']);
    expect(readAt).to.be.at.least(first?.createdAt ?? Number.NaN);
    expect(second?.createdAt).to.be.at.least(readAt);
  });

  it('lets out what a transaction throws, with nothing written', async () => {
    const error = new Error('no');
    const thrown = await store
      .transaction(async (transaction) => {
        await transaction.getMany('things', ['one']);
        transaction.write({ kind: 'set', collection: 'things', id: 'one', data: {} });
        throw error;
      })
      .catch((reason: unknown) => reason);
    expect(thrown).to.equal(error);
    expect(await store.get('things', 'one')).to.equal(undefined);
  });

  it('lets out a refusal only where all that it rests on was so at one moment, a query beside the transaction too', async () => {
    const both = (n: number) =>
      store.commit(['read', 'queried'].map((id) => ({ kind: 'set', collection: 'things', id, data: { id, n } })));
    await both(0);
    let change: Promise<unknown> | undefined;
    const seen = (await store
      .transaction(async (transaction) => {
        const read = await transaction.get('things', 'read');
        change ??= both(1);
        const [queried] = await store.query({ collection: 'things', where: [['id', '==', 'queried']] });
        return Promise.reject([read?.data['n'], queried?.data['n']]);
      })
      .catch((reason: unknown) => reason)) as readonly unknown[];
    await change;
    expect(seen).to.be.deep.oneOf([
      [0, 0],
      [1, 1],
    ]);
  }).timeout(60_000);

  it('tells a watcher of the document now and whenever it changes', async () => {
    await put('one', { n: 1 });
    const seen: unknown[] = [];
    const changed: (() => void)[] = [];
    const next = () => new Promise<void>((resolve) => changed.push(resolve));
    let heard = next();
    const stop = store.watch(
      'things',
      'one',
      (document) => {
        seen.push(document?.data['n']);
        changed.shift()?.();
      },
      (error) => seen.push(error),
    );
    await heard;
    heard = next();
    await put('one', { n: 2 });
    await heard;
    heard = next();
    await store.commit([{ kind: 'delete', collection: 'things', id: 'one' }]);
    await heard;
    stop();
    await put('one', { n: 3 });
    expect(seen).to.deep.equal([1, 2, undefined]);
  });
}
