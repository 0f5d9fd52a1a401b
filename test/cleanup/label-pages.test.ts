/** The search by labels, a page a run: what Google forgets, or does not answer, is begun anew, and keeps nobody whose record is due. */
import { expect } from 'chai';
import type { ProjectRecord } from '../../local/cloud/kernel/api.js';
import { local } from '../../local/stack/deployment.js';
import { collections } from '../../shared/names.js';
import { type Life, lifeOf } from '../support/life.js';
import { makeScene, type Scene } from '../support/scene.js';
import { addExpired, ownFolder, projectOf } from './expired.js';

const method = 'cloudresourcemanager.projects.search';
const hourly = 'unknown-projects';

describe('the search by labels', function () {
  this.timeout(240_000);
  let scene: Scene;
  let life: Life;

  before(async () => {
    scene = await makeScene();
    life = lifeOf(scene);
    await life.pause();
    ownFolder(scene.cloud);
    // The hourly search has a test of its own, and is not due here.
    const data = { schema: 1, at: new Date().toISOString(), told: [] };
    await store().commit([{ kind: 'set', collection: collections.passes, id: hourly, data }]);
  });
  after(() => scene?.close());
  afterEach(() => scene.cloud.faults.clear());

  const store = () => {
    const { functionsHalf } = scene.stack;
    if (functionsHalf === undefined) throw new Error('the functions run elsewhere');
    return functionsHalf.store;
  };
  const kept = async () => (await store().query({ collection: collections.passes })).filter(({ id }) => id !== hourly);
  /** Of the searches of one run, which page was asked for. */
  async function asked(): Promise<(string | undefined)[]> {
    const since = scene.cloud.calls.last();
    await life.cleaned();
    return scene.cloud.calls.list({ since, method }).map(({ params }) => params['pageToken']);
  }

  it('keeps nothing where all projects are on one page', async () => {
    expect(await asked()).to.deep.equal([undefined]);
    expect(await kept()).to.deep.equal([]);
  });

  it('goes on where the run before it stopped, and begins again after the last page', async () => {
    for (let i = 0; i < 600; i++) {
      const projectId = `live-${String(i).padStart(4, '0')}`;
      const labels = {
        'plinth-managed': 'true',
        'plinth-deployment': local.deployment,
        'delete-after': `t${Math.floor(Date.now() / 1000) + 86_400}`,
      };
      const place = { parent: local.folder, labels, active: true };
      scene.cloud.world.table<ProjectRecord>('projects')[projectId] = projectOf(projectId, `9${i}`, place);
    }
    expect(await asked()).to.deep.equal([undefined]);
    const [pass] = await kept();
    const token = pass?.data['pageToken'];
    expect(token).to.be.a('string');
    // Who only looks, looks at all, and turns no page.
    await life.cleanup(true);
    expect(await kept()).to.deep.equal([pass]);
    expect(await asked()).to.deep.equal([token]);
    expect(await kept()).to.deep.equal([]);
    expect(await asked()).to.deep.equal([undefined]);
  });

  it('begins anew where Google does not know the page any more, or another release wrote where it was', async () => {
    const [pass] = await kept();
    const where = { pageToken: String(pass?.data['pageToken']) };
    scene.cloud.faults.add({ method, where, code: 400, status: 'INVALID_ARGUMENT' });
    expect(await asked()).to.deep.equal([where.pageToken, undefined]);
    const collection = collections.passes;
    await store().commit([{ kind: 'update', collection, id: pass?.id ?? '', data: { schema: 7 } }]);
    expect(await asked()).to.deep.equal([undefined]);
    expect((await kept()).map(({ data }) => data['schema'])).to.deep.equal([1]);
  });

  it('that fails keeps nobody whose record is due; the run says that it failed, and turns no page', async () => {
    const before = await kept();
    scene.cloud.faults.add({ method, times: 0, code: 403, status: 'PERMISSION_DENIED' });
    const [projectId = ''] = await addExpired(scene.stack, 'due', 1);
    const reply = await life.call('');
    await scene.stack.settle();
    expect(reply.status).not.to.equal(200);
    expect(life.project(projectId)).to.include({ state: 'DELETE_REQUESTED' });
    expect(await kept()).to.deep.equal(before);
  });
});
