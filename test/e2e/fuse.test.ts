/** The fuse: a bootstrap comes to cost more than it may, and its VMs are stopped and started again. As people meet it. */
import { expect } from 'chai';
import type { BootstrapSummary, BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { functionNames, labels } from '../../shared/names.js';
import { type Life, lifeOf } from '../support/life.js';
import { runAt } from '../support/plinth-here.js';
import { type Caller, makeScene, outcomeOf, type Scene, succeeded } from '../support/scene.js';
import { type Receiver, startReceiver } from '../support/webhook-receiver.js';

describe('a bootstrap that costs more than it may, where the deployment stops VMs', function () {
  this.timeout(240_000);
  let receiver: Receiver;
  let scene: Scene;
  let life: Life;
  let alice: Caller;

  before(async () => {
    receiver = await startReceiver();
    scene = await makeScene({
      webhookUrl: receiver.url,
      settings: { PLINTH_BEYOND_CEILING: 'stop', PLINTH_USD_PER_HOUR: '1.5', PLINTH_LIVING_PER_OWNER: '20' },
    });
    life = lifeOf(scene);
    await life.pause();
    alice = await scene.caller();
  });
  after(async () => {
    await scene?.close();
    await receiver?.close();
  });
  afterEach(() => {
    scene.cloud.faults.clear();
    ceiling(1.5);
  });

  /** As an operator who deploys another ceiling. */
  function ceiling(usd: number): void {
    for (const name of Object.values(functionNames)) {
      const { ceilings } = scene.stack.functionsHalf?.contextOf(name).config ?? {};
      Object.assign(ceilings ?? {}, { microsAnHour: usd * 1_000_000 });
    }
  }
  const plinth = (...args: string[]) => runAt(['beta', 'bootstrap-cloud', ...args], alice);
  const statesOf = ({ projectId }: BootstrapView): string[] => {
    const all = scene.cloud.world.table<{ resource: Record<string, unknown> }>('compute.instances');
    return Object.entries(all).flatMap(([path, { resource }]) =>
      path.startsWith(`projects/${projectId}/`) ? [String(resource['status'])] : [],
    );
  };
  const stops = (view: BootstrapView) =>
    scene.cloud.calls
      .list({ method: 'compute.instances.stop' })
      .filter(({ params }) => params['project'] === view.projectId);
  const told = () => receiver.received.map(({ text }) => JSON.parse(text) as { type: string; data: object });
  /** Spot VMs are admitted below the ceiling; standard ones in their place cost more. */
  async function dear(name: string): Promise<BootstrapView> {
    scene.cloud.faults.stockout({ name: '*', provisioning: 'SPOT' });
    ceiling(50);
    const view = succeeded(await alice.bootstrap(name, { 'spot-vms': true, 'project-ttl': '8h' }));
    ceiling(1.5);
    await life.change(view.id, { fuseAt: new Date().toISOString() });
    return view;
  }

  it('is stopped with its disks kept, says so everywhere, and starts again once the ceiling is raised', async () => {
    const before = receiver.received.length;
    const view = await dear('too-dear');
    await life.swept();
    await life.swept();
    expect(new Set(statesOf(view))).to.deep.equal(new Set(['TERMINATED']));
    expect(stops(view)).to.have.length(statesOf(view).length);

    const stopped = await scene.view(view.id);
    expect(stopped.state).to.equal('succeeded');
    expect(stopped.deadlineAt).to.equal(view.deadlineAt);
    expect(stopped.vmsStopped?.why).to.match(/^The project costs 2\.\d+ USD an hour, and 1\.50 is the most here\.$/);
    expect(stopped.result.vms.every((vm) => vm.stopped)).to.equal(true);
    expect(stopped.cost.perHour).to.be.within(0.05, 0.5);
    expect(view.cost.perHour).to.be.above(2);

    const { stdout } = await plinth('status', 'too-dear');
    expect(stdout).to.contain('stopped at').and.to.contain(`restart-vms ${view.projectId}`);
    const { bootstraps } = outcomeOf(await plinth('list', '--json')).result as unknown as {
      bootstraps: BootstrapSummary[];
    };
    expect(bootstraps.find(({ id }) => id === view.id)?.vmsStopped?.advice).to.contain('restart-vms');
    expect((await plinth('list')).stdout).to.contain('succeeded, VMs stopped');
    const followed = await plinth('status', 'too-dear', '--follow');
    expect(followed.stderr).to.contain('Its VMs are stopped.');
    const notices = told().slice(before);
    expect(notices.map(({ type }) => type)).to.deep.equal(['bootstrap.overspent']);
    expect(notices[0]?.data).to.include({ bootstrapId: view.id, vmsStopped: true });

    // Nothing is told or stopped twice.
    await life.change(view.id, { fuseAt: new Date().toISOString() });
    await life.swept();
    expect(receiver.received).to.have.length(before + 1);
    expect(stops(view)).to.have.length(statesOf(view).length);

    const refused = outcomeOf(await plinth('restart-vms', 'too-dear', '--json'));
    expect([refused.exitCode, refused.result.problem?.code]).to.deep.equal([5, 'over-ceiling']);
    expect(refused.result.problem?.advice).to.contain('raise the ceiling').and.to.contain('restart-vms');
    const again = await alice.bootstrap('too-dear', { 'spot-vms': true, 'project-ttl': '8h' });
    expect([again.exitCode, again.result.problem?.code]).to.deep.equal([5, 'over-ceiling']);

    ceiling(3);
    const one = outcomeOf(await plinth('restart-vms', 'too-dear', '--name', 'k0s-1', '--json'));
    expect(one.exitCode).to.equal(2);
    const restarted = outcomeOf(await plinth('restart-vms', 'too-dear', '--json'));
    expect(restarted.exitCode, JSON.stringify(restarted.result.problem)).to.equal(0);
    expect(new Set(statesOf(view))).to.deep.equal(new Set(['RUNNING']));
    const running = await scene.view(view.id);
    expect(running.vmsStopped).to.equal(undefined);
    expect(running.cost.perHour).to.equal(view.cost.perHour);
    const record = await life.record(view.id);
    expect(record?.pauses?.every(({ from, until = '' }) => from <= until)).to.equal(true);

    // It is looked at anew, and stopped a second time.
    ceiling(1.5);
    await life.change(view.id, { fuseAt: new Date().toISOString() });
    await life.swept();
    await life.swept();
    expect(new Set(statesOf(view))).to.deep.equal(new Set(['TERMINATED']));
    expect(receiver.received.length).to.equal(before + 2);
  });

  it('is cancelled half-way, with how to go on, and goes on by the same command', async () => {
    const flags = { 'spot-vms': true, 'project-ttl': '8h' } as const;
    const view = await dear('half-way');
    await life.change(view.id, { state: 'running', endedAt: undefined, fuseAt: new Date().toISOString() });
    await life.swept();
    await life.swept();
    await life.swept();
    const stopped = await scene.view(view.id);
    expect(stopped.state).to.equal('cancelled');
    expect(new Set(statesOf(view))).to.deep.equal(new Set(['TERMINATED']));
    const followed = outcomeOf(await plinth('status', 'half-way', '--follow', '--json'));
    expect(followed.result.problem?.detail).to.contain('half-way');
    expect(followed.result.problem?.advice).to.contain('restart-vms');
    ceiling(3);
    const resumed = succeeded(await alice.bootstrap('half-way', flags));
    expect(resumed.vmsStopped).to.equal(undefined);
    expect(new Set(statesOf(view))).to.deep.equal(new Set(['RUNNING']));
  });

  it('may be extended while its VMs are stopped, which starts none, and is removed on time', async () => {
    const view = await dear('on-time');
    await life.swept();
    await life.swept();
    expect((await plinth('extend', 'on-time', '--ttl', '9h')).exitCode).to.equal(0);
    await scene.stack.settle();
    await life.swept();
    expect(new Set(statesOf(view))).to.deep.equal(new Set(['TERMINATED']));
    await life.expire(view.id);
    await life.cleaned();
    expect((await scene.view(view.id)).state).to.equal('removed');
  });

  it('is left alone while its project does not prove to be its own', async () => {
    const view = await dear('forged');
    const project = life.project(view.projectId)['labels'] as Record<string, string>;
    const proof = project[labels.proof] ?? '';
    project[labels.proof] = proof.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    await life.swept();
    await life.swept();
    expect(stops(view)).to.deep.equal([]);
    expect(new Set(statesOf(view))).to.deep.equal(new Set(['RUNNING']));
    const { instances } = await scene.view(view.id);
    expect(instances.find(({ id }) => id === 'vm:k0s-1')?.problem?.detail).to.contain('do not prove');
    // Once the labels are right again, the next look stops them.
    project[labels.proof] = proof;
    await life.change(view.id, { fuseAt: new Date().toISOString() });
    await life.swept();
    expect(new Set(statesOf(view))).to.deep.equal(new Set(['TERMINATED']));
  });
});
