/** Record sets that delegate to a zone that is gone: cleanup finds those that plinth wrote, and removes no others. */
import { expect } from 'chai';
import { local } from '../../local/stack/deployment.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { collections } from '../../shared/names.js';
import { type Life, lifeOf } from '../support/life.js';
import { domainOf, makeScene, type Scene, succeeded } from '../support/scene.js';
import { changeShared, inSharedZone, type RecordSet, sharedRecords, sharedZone } from '../support/shared-zone.js';

const { project, name: zone } = local.standingZone;

describe('a delegation whose own zone is gone', function () {
  this.timeout(240_000);
  let scene: Scene;
  let life: Life;
  before(async () => {
    scene = await makeScene();
    life = lifeOf(scene);
    await life.pause();
  });
  after(() => scene?.close());
  afterEach(() => scene.cloud.faults.clear());

  const made = async (name: string): Promise<BootstrapView> =>
    succeeded(await (await scene.caller()).bootstrap(name, inSharedZone));
  const change = (changes: Parameters<typeof changeShared>[1]) => changeShared(scene, changes);
  const shared = (name: string) => sharedRecords(scene, name);
  const store = () => {
    const half = scene.stack.functionsHalf;
    if (half === undefined) throw new Error('the functions run elsewhere');
    return half.store;
  };
  const note = (view: BootstrapView) => ({
    collection: collections.files,
    id: `${view.id}~delegation-written`,
  });
  const lookAt = async (view: BootstrapView) => (await store().get(collections.files, note(view).id))?.data['lookAt'];
  /** As if a day had gone by. */
  const nextDay = (view: BootstrapView) =>
    store().commit([{ kind: 'update', ...note(view), data: { lookAt: new Date(Date.now() - 1000).toISOString() } }]);
  const lose = (view: BootstrapView) =>
    store().commit([{ kind: 'delete', collection: collections.bootstraps, id: view.id }]);

  /** Removed while the shared zone refuses plinth, which leaves the delegation there. */
  async function leftBehind(name: string): Promise<BootstrapView> {
    const view = await made(name);
    const { policies } = scene.cloud.world;
    const before = policies.get(sharedZone, 3);
    policies.set(sharedZone, { bindings: [] });
    try {
      await life.expire(view.id);
      await life.cleaned();
    } finally {
      policies.set(sharedZone, { bindings: before['bindings'] ?? [] });
    }
    const record = await life.record(view.id);
    expect(record, JSON.stringify(record?.problem)).to.include({ state: 'removed' });
    expect(record?.instances['delegation']?.note).to.contain(`left in the zone ${zone} of ${project}`);
    expect(await shared(name)).to.have.length(1);
    return view;
  }
  const expectFound = async (view: BootstrapView) => {
    const dry = await life.cleanup(true);
    expect(dry.remove.map(({ projectId }) => projectId)).to.deep.equal([view.projectId]);
    expect(dry.remove[0]?.why).to.contain(`${domainOf(view.name)}. in the zone ${zone} of ${project}`);
    expect(await shared(view.name)).to.have.length(1);
    const { remove, failed } = await life.cleaned();
    expect({ remove, failed }).to.deep.equal({ remove: dry.remove, failed: [] });
  };

  it('goes at its deadline where somebody deleted the project, and so its own zone, by hand', async () => {
    const view = await made('by-hand');
    delete scene.cloud.world.table('dns.zones')[`projects/${view.projectId}/managedZones/${zone}`];
    Object.assign(life.project(view.projectId), { state: 'DELETE_REQUESTED' });
    await life.expire(view.id);
    await life.cleaned();
    expect(await life.record(view.id)).to.include({ state: 'removed' });
    expect(await shared('by-hand')).to.deep.equal([]);
  });

  it('goes with a later run of cleanup where the shared zone refused plinth at the removal', async () => {
    const view = await leftBehind('refused');
    expect((await life.cleaned()).remove).to.deep.equal([]);
    await nextDay(view);
    await expectFound(view);
    const record = await life.record(view.id);
    expect(record, JSON.stringify(record?.problem)).to.include({ state: 'removed' });
    expect(record?.instances['delegation']?.note).to.match(/^1 removed; gone/);
    expect(await shared('refused')).to.deep.equal([]);
    expect(await lookAt(view)).to.equal(undefined);
  });

  it('is tried again a day later where the zone refuses plinth still', async () => {
    const view = await leftBehind('refused-still');
    await nextDay(view);
    scene.cloud.faults.add({ method: 'dns.managedZones.get', code: 403, status: 'PERMISSION_DENIED', times: 0 });
    await life.cleaned();
    scene.cloud.faults.clear();
    expect(await life.record(view.id)).to.include({ state: 'removed' });
    expect(await shared('refused-still')).to.have.length(1);
    expect(Date.parse(String(await lookAt(view)))).to.be.greaterThan(Date.now() + 80_000_000);
    await nextDay(view);
    await life.cleaned();
    expect(await shared('refused-still')).to.deep.equal([]);
  });

  it('stays where somebody changed it since', async () => {
    const view = await leftBehind('theirs');
    const [set] = await shared('theirs');
    const others = { ...set, rrdatas: ['ns1.elsewhere.example.'] } as RecordSet;
    await change({ additions: [others], deletions: [set as RecordSet] });
    await nextDay(view);
    await life.cleaned();
    expect(await shared('theirs')).to.deep.equal([others]);
    expect(await lookAt(view)).to.equal(undefined);
  });

  it('stays where somebody restored the project, and is told', async () => {
    const view = await leftBehind('restored');
    Object.assign(life.project(view.projectId), { state: 'ACTIVE' });
    await nextDay(view);
    const { remove, keep } = await life.cleaned();
    expect(remove).to.deep.equal([]);
    expect(keep.map(({ why }) => why).join()).to.contain(`${domainOf('restored')}. in the zone ${zone}`);
    expect(await shared('restored')).to.have.length(1);
    Object.assign(life.project(view.projectId), { state: 'DELETE_REQUESTED' });
  });

  it('goes where the record is lost, and somebody deleted the project by hand; until then it stays', async () => {
    const view = await made('lost');
    await nextDay(view);
    expect((await life.cleaned()).remove).to.deep.equal([]);
    expect(Date.parse(String(await lookAt(view)))).to.be.greaterThan(Date.now());
    await lose(view);
    await nextDay(view);
    expect((await life.cleaned()).remove).to.deep.equal([]);
    expect(await shared('lost')).to.have.length(1);
    Object.assign(life.project(view.projectId), { state: 'DELETE_REQUESTED' });
    await nextDay(view);
    await expectFound(view);
    const record = await life.record(view.id);
    expect(record, JSON.stringify(record?.problem)).to.include({ state: 'removed', orphan: true });
    expect(await shared('lost')).to.deep.equal([]);
  });

  it('is told and stays where no record is left and the project cannot be seen', async () => {
    const view = await made('unseen');
    await lose(view);
    delete scene.cloud.world.table('projects')[view.projectId];
    await nextDay(view);
    const { remove, keep } = await life.cleaned();
    expect(remove).to.deep.equal([]);
    expect(keep.map(({ why }) => why).join()).to.contain(`${domainOf('unseen')}. in the zone ${zone}`);
    expect(await shared('unseen')).to.have.length(1);
  });

  it('goes with a project whose own zone and record are gone, by what plinth noted when it wrote it', async () => {
    const view = await made('noted');
    delete scene.cloud.world.table('dns.zones')[`projects/${view.projectId}/managedZones/${zone}`];
    await lose(view);
    (life.project(view.projectId) as Record<string, unknown>)['labels'] = await life.lateLabels(view);
    await life.cleaned();
    const record = await life.record(view.id);
    expect(record, JSON.stringify(record?.problem)).to.include({ state: 'removed', orphan: true });
    expect(await shared('noted')).to.deep.equal([]);
  });
});
