/** The end of a project by hand, followed to its end: what is told on the way, how it ends, and what Ctrl-C does. */
import { expect } from 'chai';
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
  });
  after(() => scene?.close());

  const made = async (name: string) => succeeded(await alice.bootstrap(name));
  const cleanup = (...args: string[]) => ['beta', 'bootstrap-cloud', 'cleanup', ...args, '--yes', '--wait'];
  const method = 'cloudresourcemanager.projects.delete';

  it('ends once the project is gone, and tells what went on the way', async () => {
    const view = await made('awaited');
    const { exitCode, stdout, stderr } = await runAt(cleanup('awaited'), alice);
    expect(exitCode, stderr).to.equal(0);
    expect(stdout).to.contain('awaited is removed.');
    expect(stderr).to.match(/^\[\d+s\] ✓ /m);
    expect(life.project(view.projectId)).to.include({ state: 'DELETE_REQUESTED' });
  });

  it('gives the removed bootstrap as JSON', async () => {
    await made('as-json');
    const { exitCode, stdout } = await runAt([...cleanup('as-json'), '--json'], alice);
    expect(exitCode).to.equal(0);
    const last = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
    expect(last).to.have.nested.property('bootstrap.state', 'removed');
  });

  it('refuses a project under a lien before anything is deleted, and the command that it names takes the lien away', async () => {
    const view = await made('refused');
    const liens = scene.cloud.world.table<Record<string, unknown>>('liens');
    for (const name of ['p1', 'p2']) {
      liens[`liens/${name}`] = {
        name: `liens/${name}`,
        parent: `projects/${life.project(view.projectId)['projectNumber']}`,
        restrictions: ['resourcemanager.projects.delete'],
        reason: `audit ${name} under way`,
        origin: 'auditors',
        createTime: new Date().toISOString(),
      };
    }
    const since = scene.cloud.calls.last();
    const { exitCode, stderr } = await runAt(cleanup('refused'), alice);
    expect(exitCode, stderr).to.equal(5);
    for (const name of ['p1', 'p2']) {
      expect(stderr)
        .to.contain(`audit ${name} under way (placed by auditors)`)
        .and.contain(`gcloud alpha resource-manager liens delete ${name} --project ${view.projectId}`);
      delete liens[`liens/${name}`];
    }
    expect((await scene.view(view.id)).state).to.equal('succeeded');
    const changes = scene.cloud.calls.list({ since }).filter(({ method }) => /delete|update|patch|set/i.test(method));
    expect(changes).to.deep.equal([]);
    expect((await runAt(cleanup('refused'), alice)).exitCode).to.equal(0);
  });

  it('fails where the removal fails, says why, and is not in the way of the next try', async () => {
    await made('denied');
    const fault = scene.cloud.faults.add({ method, times: 0, code: 403, status: 'PERMISSION_DENIED' });
    const { exitCode, stderr } = await runAt(cleanup('denied'), alice);
    expect(exitCode).to.equal(7);
    expect(stderr).to.contain('Error: denied could not be removed. Project failed: ');
    scene.cloud.faults.remove(fault);
    expect((await runAt(cleanup('denied'), alice)).exitCode).to.equal(0);
  });

  it('leaves the removal to the service on Ctrl-C, and says how to look after it', async () => {
    await made('left-alone');
    const fault = scene.cloud.faults.add({ method, times: 0, code: 503, status: 'UNAVAILABLE' });
    const running = startAt(cleanup('left-alone'), alice);
    await until('the first that is gone', async () => running.stderr().includes('✓') || undefined);
    running.interrupt();
    const { stderr, exitCode } = await running.ended;
    scene.cloud.faults.remove(fault);
    expect(exitCode).to.equal(130);
    expect(stderr).to.contain('Detached: the removal of left-alone goes on.');
    expect(stderr).to.contain('status left-alone').and.not.to.contain('cancel');
  });
});
