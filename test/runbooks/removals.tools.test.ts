/** The pages of cleanup and removals, each walked at the fault that it is about. */
import { expect } from 'chai';
import { put } from '../../local/cloud/compute/of-project.js';
import { people } from '../../local/stack/deployment.js';
import { collections } from '../../shared/names.js';
import { succeeded } from '../support/scene.js';
import { type Desk, openDesk } from './desk.js';

describe('runbooks of removals', function () {
  this.timeout(300_000);
  let desk: Desk;
  before(async () => {
    desk = await openDesk();
  });
  after(() => desk?.close());

  const made = async (name: string) => succeeded(await desk.alice.bootstrap(name));
  const isRemoved = async (name: string): Promise<boolean> => (await desk.find(name)).state === 'removed';

  it('cleanup-late: its schedule is resumed, and what was due goes', async () => {
    await desk.life.pause();
    const late = await made('late');
    await desk.life.expire(late.id);
    const { said } = await desk.walk('cleanup-late');
    expect(said[0]).to.contain('paused').and.to.contain(late.projectId);
    expect(said[1]).to.contain('enabled');
    await desk.until('it is removed', () => isRemoved('late'));
  });

  it('cleanup-cannot-remove: what could not be looked at is named, and goes once it can', async () => {
    await desk.life.atNewYear();
    const [unseen, other] = [await made('unseen'), await made('other')];
    await desk.life.expire(unseen.id);
    const { faults } = desk.scene.cloud;
    faults.add({
      method: 'cloudresourcemanager.projects.get',
      times: 0,
      code: 403,
      message: 'The caller may not look.',
    });
    const { said } = await desk.walk(
      'cleanup-cannot-remove',
      { NAME: other.projectId },
      {
        1: () => faults.clear(),
        2: () => desk.until('it is removed', () => isRemoved('unseen')),
      },
    );
    expect(said[0]).to.contain(unseen.projectId);
    expect(said[0]).not.to.contain(other.projectId);
    await desk.until('the other is removed', () => isRemoved('other'));
  });

  it('removal-left-alone: the lien that kept it is taken away, and it is removed', async () => {
    const { id, projectId } = await made('held');
    await desk.bash(
      'gcloud alpha resource-manager liens create --project $NAME --restrictions resourcemanager.projects.delete --reason audit',
      { NAME: projectId },
    );
    const at = new Date().toISOString();
    await desk.life.change(id, {
      state: 'removal-failed',
      removeAt: undefined,
      removal: { requestedAt: at, by: people.alice, why: 'asked', failures: 3, quarantinedAt: at },
      problem: { code: 'cloud-conflict', detail: 'There is a lien: audit.' },
    });
    const { said } = await desk.walk('removal-left-alone', { NAME: projectId });
    expect(said[0]).to.contain('There is a lien: audit.');
    expect(said[1]).to.contain('audit');
    expect(await isRemoved('held')).to.equal(true);
  });

  /** As after a loss of documents. */
  async function lost(name: string): Promise<string> {
    const { id, projectId } = await made(name);
    await desk.scene.stack.functionsHalf?.store.commit([{ kind: 'delete', collection: collections.bootstraps, id }]);
    return projectId;
  }

  it('unknown-project: what no record knows is shown, and removed by its id', async () => {
    const NAME = await lost('unknown');
    const { said } = await desk.walk('unknown-project', { NAME }, {}, [1, 2, 3]);
    expect(said[0]).to.contain('project without a record').and.to.contain(NAME);
    expect(said[1]).to.contain(`Would remove ${NAME}`);
    expect((await desk.find(NAME)).state).to.equal('removed');
  });

  it('unknown-project: what somebody needs is given an owner and an end', async () => {
    const NAME = await lost('needed');
    await desk.walk('unknown-project', { NAME, OWNER: people.alice }, {}, [1, 2, 4]);
    const { owner, deadlineAt } = await desk.find(NAME);
    expect(owner).to.equal(people.alice);
    expect(Date.parse(deadlineAt) - Date.now()).to.be.within(3.9 * 3_600_000, 4 * 3_600_000);
  });

  it('unknown-project: VMs that no plan holds are named, with their owner', async () => {
    const { projectId, zone } = await made('more');
    const table = desk.scene.cloud.world.table<{ readonly resource: object }>('compute.instances');
    const path = `projects/${projectId}/zones/${zone}/instances/`;
    const { resource } = table[`${path}k0s-1`] ?? { resource: {} };
    put(table, `${path}my-own`, { resource: { ...resource, name: 'my-own', id: '4711' } });
    await desk.scene.stack.functionsHalf?.store.commit([
      { kind: 'delete', collection: collections.passes, id: 'unknown-projects' },
    ]);
    await desk.life.cleaned();
    const { said } = await desk.walk('unknown-project', { NAME: projectId }, {}, [1, 5]);
    expect(said[0]).to.contain('my-own');
    expect(said[1]).to.contain('my-own').and.to.contain(people.alice);
  });
});
