/** The end of a project by hand, followed to its end: what is told on the way, how it ends, and what Ctrl-C does. */
import { expect } from 'chai';
import { addExpired, ownFolder } from '../cleanup/expired.js';
import { until } from '../support/halves.js';
import { type Life, lifeOf } from '../support/life.js';
import { runAt, startAt } from '../support/plinth-here.js';
import { type Caller, makeScene, type Scene, succeeded } from '../support/scene.js';

describe('cleanup --wait', function () {
  this.timeout(240_000);
  let scene: Scene;
  let life: Life;
  let alice: Caller;

  before(async () => {
    scene = await makeScene();
    life = lifeOf(scene);
    await life.pause();
    alice = await scene.caller();
    ownFolder(scene.cloud);
  });
  after(() => scene?.close());

  /** Nothing of it is left but its project. */
  const added = async (name: string): Promise<string> => (await addExpired(scene.stack, name, 1))[0] ?? '';
  const cleanup = (...args: string[]) => ['beta', 'bootstrap-cloud', 'cleanup', ...args, '--yes', '--wait'];
  const method = 'cloudresourcemanager.projects.delete';

  it('gives the removed bootstrap as JSON', async () => {
    const { exitCode, stdout, stderr } = await runAt([...cleanup(await added('json')), '--json'], alice);
    expect(exitCode, stderr).to.equal(0);
    const last = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
    expect(last).to.have.nested.property('bootstrap.state', 'removed');
  });

  it('fails where the removal fails, says why, and is not in the way of the next try', async () => {
    const name = await added('denied');
    const fault = scene.cloud.faults.add({ method, times: 0, code: 403, status: 'PERMISSION_DENIED' });
    const { exitCode, stderr } = await runAt(cleanup(name), alice);
    expect(exitCode).to.equal(7);
    expect(stderr).to.contain(`Error: ${name} could not be removed. Project failed: `);
    scene.cloud.faults.remove(fault);
    expect((await runAt(cleanup(name), alice)).exitCode).to.equal(0);
  });

  it('refuses a project under liens before anything is deleted; the commands that it names take them away; then it tells what goes, leaves the rest to the service on Ctrl-C, and ends once the project is gone', async () => {
    const name = 'awaited';
    const view = succeeded(await alice.bootstrap(name));
    const liens = scene.cloud.world.table<Record<string, unknown>>('liens');
    for (const lien of ['p1', 'p2']) {
      liens[`liens/${lien}`] = {
        name: `liens/${lien}`,
        parent: `projects/${life.project(view.projectId)['projectNumber']}`,
        restrictions: ['resourcemanager.projects.delete'],
        reason: `audit ${lien} under way`,
        origin: 'auditors',
        createTime: new Date().toISOString(),
      };
    }
    const since = scene.cloud.calls.last();
    const refused = await runAt(cleanup(name), alice);
    expect(refused.exitCode, refused.stderr).to.equal(5);
    for (const lien of ['p1', 'p2']) {
      expect(refused.stderr)
        .to.contain(`audit ${lien} under way (placed by auditors)`)
        .and.contain(`gcloud alpha resource-manager liens delete ${lien} --project ${view.projectId}`);
      delete liens[`liens/${lien}`];
    }
    expect((await scene.view(view.id)).state).to.equal('succeeded');
    const changes = scene.cloud.calls.list({ since }).filter(({ method }) => /delete|update|patch|set/i.test(method));
    expect(changes).to.deep.equal([]);

    const fault = scene.cloud.faults.add({ method, times: 0, code: 503, status: 'UNAVAILABLE' });
    const running = startAt(cleanup(name), alice);
    await until('the first that is gone', async () => /^\[\d+s\] ✓ /m.test(running.stderr()) || undefined);
    running.interrupt();
    const detached = await running.ended;
    expect(detached.exitCode).to.equal(130);
    expect(detached.stderr).to.contain(`Detached: the removal of ${name} goes on.`);
    expect(detached.stderr).to.contain(`status ${name}`).and.not.to.contain('cancel');
    const awaited = startAt(cleanup(name), alice);
    scene.cloud.faults.remove(fault);
    const { exitCode, stdout, stderr } = await awaited.ended;
    expect(exitCode, stderr).to.equal(0);
    expect(stdout).to.contain(`${name} is removed.`);
    expect(life.project(view.projectId)).to.include({ state: 'DELETE_REQUESTED' });
  });
});
