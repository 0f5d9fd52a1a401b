/** The end of projects: what is past its time goes with all that belonged to it, and a run does what its dry run said. */
import { expect } from 'chai';
import { local } from '../../local/stack/deployment.js';
import { collections, labels } from '../../shared/names.js';
import { addExpired, expiredId, ownFolder } from '../cleanup/expired.js';
import { until } from '../support/halves.js';
import { type Life, lifeOf } from '../support/life.js';
import { domainOf, makeScene, type Scene, succeeded } from '../support/scene.js';

describe('cleanup', function () {
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

  const deletion = 'cloudresourcemanager.projects.delete';
  const table = (name: string) => scene.cloud.world.table<Record<string, unknown>>(name);
  const deletions = (since: number) =>
    scene.cloud.calls.list({ since, method: deletion }).filter(({ status }) => status < 300);
  const stateOf = (projectId: string) => life.project(projectId)['state'];

  it('is called by Cloud Scheduler, and what is past its time goes with all that belonged to it', async () => {
    const flags = { 'dns-project-id': local.dnsProject, 'dns-zone-name': 'shared' };
    const view = succeeded(await (await scene.caller()).bootstrap('expired', flags));
    const secrets = () => Object.keys(table('secretmanager.secrets')).filter((name) => name.includes(view.id));
    expect(secrets()).not.to.deep.equal([]);
    const names = () => Object.values(table('dns.zones')).flatMap(({ records }) => Object.keys(records as object));
    const ours = () => names().filter((name) => name.includes(`cs.${domainOf('expired')}`));
    expect(ours()).not.to.deep.equal([]);
    await life.expire(view.id);
    await life.job('POST', ':resume');
    await until('removed', async () => (await life.record(view.id))?.state === 'removed' || undefined);
    await life.pause();
    expect(life.project(view.projectId)).to.include({ state: 'DELETE_REQUESTED' });
    expect(life.project(view.projectId)['billingAccountName'] ?? '').to.equal('');
    expect(ours()).to.deep.equal([]);
    expect(secrets()).to.deep.equal([]);
    const { store } = scene.stack.functionsHalf ?? {};
    expect(
      await store?.query({ collection: collections.files, where: [['bootstrapId', '==', view.id]] }),
    ).to.deep.equal([]);
    const { state, result } = await scene.view(view.id);
    expect(state).to.equal('removed');
    expect(
      [...result.vms, ...result.addresses, result.dns, result.registry].filter((each) => each !== undefined),
    ).to.deep.equal([]);
  });

  describe('called by hand', () => {
    before(async () => {
      ownFolder(scene.cloud);
    });

    it('does exactly what a dry run says; that changes nothing, and no more does one that is mistyped', async () => {
      const [projectId = ''] = await addExpired(scene.stack, 'dry', 1);
      const since = scene.cloud.calls.last();
      const dry = await life.cleanup(true);
      expect(dry.remove.map((found) => found.projectId)).to.deep.equal([projectId]);
      for (const query of [
        '?dryRun=1',
        '?dryRun=True',
        '?dryrun=true',
        '?dryRun',
        '?dryRun=true&dryRun=no',
        '?search=none',
        '?search=all&search=page',
      ]) {
        expect((await life.call(query)).status, query).to.equal(400);
      }
      await scene.stack.settle();
      expect((await life.record(expiredId('dry')))?.state).to.equal('succeeded');
      expect(
        scene.cloud.calls.list({ since }).filter(({ method }) => /delete|update|patch|set/i.test(method)),
      ).to.deep.equal([]);
      const { remove } = await life.cleaned();
      expect(remove).to.deep.equal(dry.remove);
      expect(deletions(since)).to.have.length(1);
      expect((await life.cleanup()).remove).to.deep.equal([]);
    });

    it('finds a late project whose record is not due, though its label names another bootstrap that is', async () => {
      const [due = '', late = ''] = await addExpired(scene.stack, 'late', 2);
      // As records of releases that removed nothing; and somebody wrote the label of the other one.
      await life.change(expiredId('late', 1), { removeAt: undefined });
      (life.project(late) as { labels: Record<string, string> }).labels = {
        [labels.managed]: 'true',
        [labels.deployment]: local.deployment,
        [labels.bootstrap]: expiredId('late', 0),
        [labels.deleteAfter]: 'whenever',
      };
      const dry = (await life.cleanup(true)).remove.map(({ projectId }) => projectId).sort();
      expect(dry).to.deep.equal([due, late]);
      expect((await life.cleaned()).remove.map(({ projectId }) => projectId).sort()).to.deep.equal(dry);
      expect(await life.record(expiredId('late', 1))).to.include({ state: 'removed' });
    });

    it('is safe three times at once', async () => {
      await addExpired(scene.stack, 'thrice', 1);
      const since = scene.cloud.calls.last();
      await Promise.all([life.cleanup(), life.cleanup(), life.cleanup()]);
      await scene.stack.settle();
      expect(await life.record(expiredId('thrice'))).to.include({ state: 'removed', generation: 2 });
      expect(deletions(since)).to.have.length(1);
    });

    it('lets 8 go that expire at once, though 3 of them cannot', async () => {
      const ids = await addExpired(scene.stack, 'many', 8);
      const broken = ids.slice(0, 3);
      for (const projectId of broken) {
        // plinth deletes projects by their numbers.
        const where = { name: `projects/${life.project(projectId)['projectNumber']}` };
        scene.cloud.faults.add({ method: deletion, where, code: 403, status: 'PERMISSION_DENIED', times: 0 });
      }
      expect((await life.cleaned()).remove).to.have.length(8);
      for (const [i, projectId] of ids.entries()) {
        const [state, project] = broken.includes(projectId)
          ? ['removal-failed', 'ACTIVE']
          : ['removed', 'DELETE_REQUESTED'];
        expect((await life.record(expiredId('many', i)))?.state, projectId).to.equal(state);
        expect(stateOf(projectId)).to.equal(project);
      }
    });
  });
});
