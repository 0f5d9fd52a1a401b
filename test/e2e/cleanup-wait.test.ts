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

  it('fails where the removal fails, says why, and is not in the way of the next try', async () => {
    const view = await made('refused');
    const liens = scene.cloud.world.table<Record<string, unknown>>('liens');
    liens['liens/p1'] = {
      name: 'liens/p1',
      parent: `projects/${life.project(view.projectId)['projectNumber']}`,
      restrictions: ['resourcemanager.projects.delete'],
      reason: 'audit under way',
      origin: 'audit',
      createTime: new Date().toISOString(),
    };
    const { exitCode, stderr } = await runAt(cleanup('refused'), alice);
    expect(exitCode).to.equal(7);
    expect(stderr).to.contain('refused could not be removed.').and.to.contain('audit under way');
    delete liens['liens/p1'];
    expect((await runAt(cleanup('refused'), alice)).exitCode).to.equal(0);
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
