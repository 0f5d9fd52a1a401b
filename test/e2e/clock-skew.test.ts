/** Clocks that differ by minutes: ours from Google's, one function's from another's, and the time that Cloud Scheduler says from both. */
import { expect } from 'chai';
import { findProofKey, ownerLabel, proofOf } from '../../functions/engine/proof.js';
import { functionUrl, local, people } from '../../local/stack/deployment.js';
import { schedulerHeaders } from '../../local/stack/front-end.js';
import { CleanupReport } from '../../shared/bootstrap/cleanup.js';
import { collections, type FunctionName, functionNames, labels } from '../../shared/names.js';
import { addExpired, expiredId, ownFolder } from '../cleanup/expired.js';
import { type Life, lifeOf } from '../support/life.js';
import { makeScene, type Scene, succeeded } from '../support/scene.js';

const minute = 60_000;

describe('clocks that differ', function () {
  this.timeout(240_000);
  let scene: Scene;
  let life: Life;

  before(async () => {
    scene = await makeScene();
    life = lifeOf(scene);
    await life.pause();
    ownFolder(scene.cloud);
  });
  afterEach(() => set(0));
  after(() => scene?.close());

  const half = () => {
    const { functionsHalf } = scene.stack;
    if (functionsHalf === undefined) throw new Error('the functions run elsewhere');
    return functionsHalf;
  };
  /** So far ahead of Google's; tokens and all that the cloud says are of Google's time. */
  function set(ahead: number, names: readonly FunctionName[] = Object.values(functionNames)): void {
    for (const name of names) {
      Object.assign(half().contextOf(name).clock, { now: () => new Date(Date.now() + ahead) });
    }
  }
  /** A project and its record, and nothing else. */
  async function added(name: string): Promise<{ readonly id: string; readonly projectId: string }> {
    const [projectId = ''] = await addExpired(scene.stack, name, 1);
    const id = expiredId(name);
    await due(id, Date.now() + 60 * minute);
    return { id, projectId };
  }
  const due = (id: string, at: number) => {
    const deadlineAt = new Date(at).toISOString();
    return life.change(id, { deadlineAt, removeAt: deadlineAt });
  };
  const removed = async () => (await life.cleaned()).remove.map(({ projectId }) => projectId);

  for (const [what, ahead] of [
    ['ahead of', 5 * minute],
    ['behind', -5 * minute],
  ] as const) {
    it(`ours five minutes ${what} Google’s: projects are made, and go at their time by our clock, not before`, async () => {
      set(ahead);
      const name = `skew-${ahead > 0 ? 'ahead' : 'behind'}`;
      const view = succeeded(await (await scene.caller()).bootstrap(name, { 'project-ttl': '1h' }));
      const { deadlineAt } = (await life.record(view.id)) ?? {};
      expect(Date.parse(deadlineAt ?? '')).to.be.within(Date.now() + ahead, Date.now() + ahead + 60 * minute);
      const standing = life.project(view.projectId)['labels'] as Record<string, string>;
      expect(standing[labels.deleteAfter]).to.equal(`t${Math.floor(Date.parse(deadlineAt ?? '') / 1000)}`);
      await due(view.id, Date.now() + ahead + minute);
      expect(await removed()).to.deep.equal([]);
      await due(view.id, Date.now() + ahead - 1);
      expect(await removed()).to.deep.equal([view.projectId]);
      expect(await life.record(view.id)).to.include({ state: 'removed' });
    });
  }

  it('a project without a record goes at its time by our clock, too', async () => {
    const view = await added('orphan');
    const project = life.project(view.projectId) as { labels: Record<string, string>; projectNumber: string };
    const key = await findProofKey(half().contextOf(functionNames.cleanup));
    const expiry = `t${Math.floor(Date.now() / 1000) - 60}`;
    const { projectNumber } = project;
    const owner = ownerLabel(people.alice);
    const proven = { projectNumber, bootstrapId: view.id, owner, expiry };
    project.labels = {
      [labels.managed]: 'true',
      [labels.deployment]: local.deployment,
      [labels.bootstrap]: view.id,
      [labels.owner]: owner,
      [labels.deleteAfter]: expiry,
      [labels.proof]: proofOf(key ?? '', proven),
    };
    await half().store.commit([{ kind: 'delete', collection: collections.bootstraps, id: view.id }]);
    set(-5 * minute);
    expect(await removed()).to.deep.equal([]);
    set(0);
    expect(await removed()).to.deep.equal([view.projectId]);
  });

  it('an extension that was answered wins, though cleanup’s clock is minutes ahead of the one that answered', async () => {
    set(-3 * minute, [functionNames.bootstraps]);
    set(3 * minute, [functionNames.cleanup]);
    const view = await added('extended');
    await due(view.id, Date.now() + minute);
    const { idToken } = await scene.stack.tokens(`alice@${local.domain}`);
    const reply = await fetch(`${scene.stack.url}/bootstraps/${view.id}/extend`, {
      method: 'POST',
      headers: { authorization: `Bearer ${idToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ttl: '30m' }),
    });
    expect(reply.status, await reply.text()).to.equal(200);
    expect(await removed()).to.deep.equal([]);
    expect(await life.record(view.id)).to.include({ state: 'succeeded' });
  });

  it('what Cloud Scheduler says of the time decides nothing', async () => {
    const [stays, goes] = [await added('stays'), await added('goes')];
    await due(goes.id, Date.now() - minute);
    const url = functionUrl(half().origin, functionNames.cleanup);
    const found: string[][] = [];
    for (const hours of [-48, 48]) {
      const time = new Date(Date.now() + hours * 60 * minute).toISOString();
      const own = await schedulerHeaders(scene.cloud.identity, url);
      const headers = { ...own, 'x-cloudscheduler-scheduletime': time };
      const reply = await fetch(url, { method: 'POST', headers });
      found.push(CleanupReport.parse(await reply.json()).remove.map(({ projectId }) => projectId));
      await scene.stack.settle();
    }
    expect(found).to.deep.equal([[goes.projectId], []]);
    expect(life.project(stays.projectId)).to.include({ state: 'ACTIVE' });
  });
});
