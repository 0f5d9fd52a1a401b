/** A bootstrap goes on from documents that a backup of Firestore brought back, and nothing is made twice. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Document, Store, Write } from '../../functions/store/store.js';
import { collections, schedulerJobs } from '../../shared/names.js';
import { type Life, lifeOf } from '../support/life.js';
import { type Caller, historyOf, madeTwice, makeScene, type Scene } from '../support/scene.js';

describe('documents that a backup brings back', () => {
  let scene: Scene;
  let life: Life;
  let alice: Caller;
  let store: Store;
  before(async () => {
    scene = await makeScene();
    life = lifeOf(scene);
    alice = await scene.caller();
    const half = scene.stack.functionsHalf;
    if (half === undefined) throw new Error('the functions run elsewhere');
    store = half.store;
  });
  after(() => scene?.close());

  const snapshot = async (): Promise<readonly Document[]> =>
    (await Promise.all(Object.values(collections).map((collection) => store.query({ collection })))).flat();

  async function bringBack(documents: readonly Document[]): Promise<void> {
    const wanted = new Set(documents.map(({ collection, id }) => `${collection}/${id}`));
    const newer = (await snapshot()).filter(({ collection, id }) => !wanted.has(`${collection}/${id}`));
    const writes: Write[] = [
      ...newer.map(({ collection, id }): Write => ({ kind: 'delete', collection, id })),
      ...documents.map(({ collection, id, data }): Write => ({ kind: 'set', collection, id, data: { ...data } })),
    ];
    for (const write of writes) await store.commit([write]);
  }

  /** Begins, and no message of it arrives: it stands still until sweep sends it again. */
  async function begunAndLost(name: string): Promise<void> {
    await life.job('POST', ':pause', {}, schedulerJobs.sweep);
    const { faults } = scene.cloud;
    const lost = faults.add({ method: 'pubsub.projects.topics.publish', times: 0, code: 403, message: 'lost' });
    const begun = alice.start(name);
    while (!(await alice.plinth('list')).stdout.includes(name)) await sleep(50);
    begun.interrupt();
    await begun.ended;
    await scene.cloud.scheduledCalls.idle();
    faults.remove(lost);
  }

  const state = async (): Promise<string> => {
    const { stdout } = await alice.plinth('status', 'restored', '--json');
    return (JSON.parse(stdout) as { readonly bootstrap: { readonly state: string } }).bootstrap.state;
  };
  const succeeds = async (): Promise<void> => {
    while ((await state()) !== 'succeeded') await sleep(200);
    await scene.stack.settle();
  };

  it('are older than what was made since: steps find it, and make nothing twice', async () => {
    const since = scene.cloud.calls.last();
    await begunAndLost('restored');
    const then = await snapshot();
    await life.job('POST', ':resume', {}, schedulerJobs.sweep);
    await succeeds();
    await life.job('POST', ':pause', {}, schedulerJobs.sweep);
    await scene.cloud.scheduledCalls.idle();
    await bringBack(then);
    expect(await state()).to.equal('running');
    await life.job('POST', ':resume', {}, schedulerJobs.sweep);
    await succeeds();
    expect(madeTwice(historyOf(scene.cloud, since), { secretVersions: false })).to.deep.equal([]);
  });
});
