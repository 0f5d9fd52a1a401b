import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { runMessage } from '../../functions/engine/run/run.js';
import { createFirestoreStore } from '../../functions/store/firestore.js';
import type { Store } from '../../functions/store/store.js';
import { type Emulator, startEmulator } from '../../local/emulators/emulators.js';
import { toy } from './toys.js';
import { createWorld } from './world.js';

describe("the engine, on Google's Firestore emulator", () => {
  let emulator: Emulator | undefined;
  let store: Store;
  before(async function () {
    this.timeout(240_000);
    emulator = await startEmulator('firestore');
  });
  after(() => emulator?.close());
  beforeEach(() => {
    store = createFirestoreStore({
      project: `engine-${randomUUID().slice(0, 8)}`,
      serviceAccount: 'default',
      firestore: { database: '(default)', emulatorHost: emulator?.host ?? '' },
    });
  });
  afterEach(() => store.close());

  const many = { of: 'many', keys: () => Array.from({ length: 20 }, (_, n) => `k${n}`) };

  it('brings twenty instances that end at the same moment to one end, each made once', async () => {
    const world = createWorld({}, store);
    const project = toy(world, 'project');
    const vm = toy(world, 'vm', { each: many, needs: { project } });
    const host = toy(world, 'host', { each: many, needs: { vm }, lane: 'host' });
    const last = toy(world, 'last', { needs: { host } });
    const steps = [project, vm, host, last];
    const { bootstrap } = await world.begin(steps);
    await world.drain(steps, (waiting) => [...waiting, ...waiting]);
    expect((await world.read(bootstrap.id)).data.state).to.equal('succeeded');
    expect([...world.made.values()].filter((times) => times !== 1)).to.deep.equal([]);
    expect(world.made.size).to.equal(42);
    expect(await store.query({ collection: 'leases' })).to.deep.equal([]);
  }).timeout(240_000);

  it('does so too when each ends in a process of its own', async () => {
    const world = createWorld({}, store);
    const vm = toy(world, 'vm', { each: many });
    const last = toy(world, 'last', { needs: { vm } });
    const steps = [vm, last];
    const { bootstrap } = await world.begin(steps);
    const deadlineAt = new Date(Date.now() + 500_000);
    while (world.queue.length > 0) {
      await Promise.all(
        world.queue.splice(0).map((message) => {
          // Writers are told apart by their store: none of these waits for its turn.
          const context = { ...world.context, store: { ...world.context.store } };
          return runMessage(context, steps, message, { deadlineAt });
        }),
      );
    }
    expect((await world.read(bootstrap.id)).data.state).to.equal('succeeded');
    expect(world.counts.refused).to.be.greaterThan(0);
    expect(world.made.size).to.equal(21);
  }).timeout(240_000);

  it('runs one of twenty racing invocations', async () => {
    const world = createWorld({}, store);
    const step = toy(world, 'a');
    await world.begin([step]);
    const message = world.take();
    const results = await Promise.all(Array.from({ length: 20 }, () => world.run([step], message)));
    expect(results.filter((result) => result === 'done')).to.have.length(1);
    expect(world.made.get('a')).to.equal(1);
  }).timeout(240_000);

  it('holds the limit in all when many begin at once', async () => {
    const world = createWorld({ PLINTH_LIVING_IN_ALL: '5' }, store);
    const steps = [toy(world, 'a')];
    const results = await Promise.allSettled(
      Array.from({ length: 12 }, (_, n) => world.begin(steps, { projectName: `project ${n}` })),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).to.have.length(5);
    expect((await store.get('counters', 'living'))?.data['inAll']).to.equal(5);
    expect(await store.query({ collection: 'bootstraps' })).to.have.length(5);
  }).timeout(240_000);

  it('is swept by one query', async () => {
    const world = createWorld({}, store);
    await world.begin([toy(world, 'a')]);
    await world.begin([toy(world, 'a')], { projectName: 'other' });
    expect(await world.sweep()).to.equal(0);
    world.pass(61);
    expect(await world.sweep()).to.equal(2);
    expect(await world.sweep()).to.equal(0);
  }).timeout(240_000);
});
