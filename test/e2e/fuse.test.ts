/** The fuse: a bootstrap comes to cost more than it may, and its VMs are stopped and started again. As people meet it. */
import { expect } from 'chai';
import { leaseId } from '../../functions/engine/record/documents.js';
import type { BootstrapSummary, BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { collections, functionNames, labels } from '../../shared/names.js';
import type { Team } from '../../shared/organization/team.js';
import { type Life, lifeOf } from '../support/life.js';
import { peopleOf } from '../support/people.js';
import { runAt } from '../support/plinth-here.js';
import { type Caller, type Flags, makeScene, outcomeOf, type Scene, succeeded } from '../support/scene.js';
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
    ceiling(undefined, 'monthOfOwner');
  });

  /** Another ceiling or none, as an operator who deploys other settings. */
  function ceiling(usd: number | undefined, kind: 'microsAnHour' | 'monthOfOwner' = 'microsAnHour'): void {
    for (const name of Object.values(functionNames)) {
      const { ceilings } = scene.stack.functionsHalf?.contextOf(name).config ?? {};
      Object.assign(ceilings ?? {}, { [kind]: usd === undefined ? undefined : usd * 1_000_000 });
    }
  }
  const plinth = (...args: string[]) => runAt(['beta', 'bootstrap-cloud', ...args], alice);
  const asked = async (...args: string[]) => outcomeOf(await plinth(...args, '--json'));
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

  it('is stopped with its disks kept, says so everywhere, starts again once the ceiling is raised, and is removed on time while it is stopped', async () => {
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

    expect((await plinth('extend', 'too-dear', '--ttl', '9h')).exitCode).to.equal(0);
    await scene.stack.settle();
    await life.swept();
    expect(new Set(statesOf(view)), 'a later end starts none').to.deep.equal(new Set(['TERMINATED']));
    await life.expire(view.id);
    await life.cleaned();
    expect((await scene.view(view.id)).state).to.equal('removed');
  });

  /** Spot VMs are asked for and admitted at about 1.09 USD an hour; standard ones in their place cost twice as much. */
  async function overspending(name: string, flags: Flags = {}): Promise<BootstrapView> {
    scene.cloud.faults.stockout({ name: '*', provisioning: 'SPOT' });
    ceiling(undefined);
    return succeeded(await alice.bootstrap(name, { 'spot-vms': true, 'project-ttl': '8h', ...flags }));
  }
  /** After so many hours, two sweeps at once find it, and the next one finds its VMs down. */
  async function sweptAfter({ id }: BootstrapView, hours: number): Promise<BootstrapView> {
    await life.passed(id, hours);
    await Promise.all([life.swept(), life.swept()]);
    await life.swept();
    return scene.view(id);
  }
  const noticesOf = ({ id }: BootstrapView) =>
    told().filter(
      ({ type, data }) => type === 'bootstrap.overspent' && (data as { bootstrapId: string }).bootstrapId === id,
    );

  /** An hour later cleanup looks at all that lives. */
  async function hour(): Promise<void> {
    const store = scene.stack.functionsHalf?.store;
    const place = { collection: collections.passes, id: 'unknown-projects' };
    if ((await store?.get(place.collection, place.id)) !== undefined) {
      const at = new Date(Date.now() - 3_700_000).toISOString();
      await store?.commit([{ kind: 'update', ...place, data: { at } }]);
    }
    await life.cleaned();
  }

  it('is stopped once it has cost what a month counts it for, once by two sweeps; protect starts nothing, and it starts where the month allows it', async () => {
    ceiling(500, 'monthOfOwner');
    const view = await overspending('by-month');
    const early = await sweptAfter(view, 3);
    expect([early.vmsStopped, new Set(statesOf(view))]).to.deep.equal([undefined, new Set(['RUNNING'])]);
    const stopped = await sweptAfter(view, 2);
    expect(stopped.vmsStopped?.why).to.match(
      /^The project has cost 10\.\d+ USD by the estimate, and was admitted for 8\.\d+\.$/,
    );
    expect(new Set(statesOf(view))).to.deep.equal(new Set(['TERMINATED']));
    expect([stops(view).length, noticesOf(view).length]).to.deep.equal([statesOf(view).length, 1]);

    const until = new Date(Date.now() + 2 * 3_600_000).toISOString();
    expect((await asked('protect', 'by-month', '--until', until, '--reason', 'a demo')).exitCode).to.equal(0);
    await scene.stack.settle();
    await life.swept();
    expect(new Set(statesOf(view))).to.deep.equal(new Set(['TERMINATED']));
    expect([stops(view).length, noticesOf(view).length]).to.deep.equal([statesOf(view).length, 1]);
    expect((await asked('unprotect', 'by-month')).exitCode).to.equal(0);

    ceiling(12, 'monthOfOwner');
    const { exitCode, result } = await asked('restart-vms', 'by-month');
    expect([exitCode, result.problem?.code]).to.deep.equal([5, 'over-ceiling']);
    expect(result.problem?.detail).to.match(
      /^The bootstraps of alice@\S+ would cost \d+\.\d+ USD in .* and 12\.00 is the most here/,
    );
    ceiling(500, 'monthOfOwner');
    expect((await asked('restart-vms', 'by-month')).exitCode).to.equal(0);
    await life.swept();
    expect(new Set(statesOf(view)), 'it is admitted at what it costs').to.deep.equal(new Set(['RUNNING']));
    expect((await plinth('cleanup', 'by-month', '--yes')).exitCode).to.equal(0);
  });

  it('is stopped once it has cost --max-cost, and starts with a higher one alone', async () => {
    const flags = { 'max-cost': '6' };
    const view = await overspending('by-most', flags);
    const hours = (Date.parse(view.deadlineAt) - Date.parse(view.createdAt)) / 3_600_000;
    expect(hours, 'what it buys at the price of spot VMs').to.be.within(5, 6);
    const stopped = await sweptAfter(view, 3);
    expect(stopped.vmsStopped?.why).to.match(/has cost 6\.\d+ USD by the estimate, and was admitted for 6\.00\.$/);
    expect(stopped.vmsStopped?.advice).to.contain('--max-cost');
    expect(new Set(statesOf(view))).to.deep.equal(new Set(['TERMINATED']));
    expect([stops(view).length, noticesOf(view).length]).to.deep.equal([statesOf(view).length, 1]);

    const { exitCode, result } = await asked('restart-vms', 'by-most');
    expect([exitCode, result.problem?.code]).to.deep.equal([5, 'over-ceiling']);
    expect(result.problem?.detail).to.contain('--max-cost 6.00 does not pay for ten minutes more');
    expect(result.problem?.advice).to.contain('with a higher --max-cost');
    const same = await alice.bootstrap('by-most', { 'spot-vms': true, 'project-ttl': '8h', ...flags });
    expect([same.exitCode, same.result.problem?.code]).to.deep.equal([5, 'over-ceiling']);
    const more = { 'spot-vms': true, 'project-ttl': '8h', 'max-cost': '12' } as const;
    const resumed = succeeded(await alice.bootstrap('by-most', more));
    expect([resumed.vmsStopped, new Set(statesOf(view))]).to.deep.equal([undefined, new Set(['RUNNING'])]);
    // 12 USD buy 5.7 hours of standard VMs, so it goes before it has cost more.
    const bought = (Date.parse(resumed.deadlineAt) - Date.parse(resumed.createdAt)) / 3_600_000;
    expect(bought).to.be.within(5.5, 5.8);
    await life.swept();
    expect(new Set(statesOf(view))).to.deep.equal(new Set(['RUNNING']));
    expect((await plinth('cleanup', 'by-most', '--yes')).exitCode).to.equal(0);
  });

  it('meets the ceiling of an organization by a migration, is stopped within the hour, told once, and starts as its team’s own ceiling allows', async () => {
    const run = async (...args: string[]) => {
      const { exitCode, stderr } = await runAt(args, alice);
      expect(exitCode, stderr).to.equal(0);
    };
    const { body } = await peopleOf(scene).ask<Team>(alice.email, 'POST', '/teams', { name: 'platform' });
    const team = String(body.teamId);
    const view = await overspending('of-a-team', { team });
    await life.swept();
    expect((await life.record(view.id))?.fuseAt, 'nothing limits it').to.equal(undefined);
    await run('org', 'create', 'acme');
    await run('org', 'ceilings', 'acme', '--usd-per-month', '500');
    await run('team', 'migrate', team, '--organization', 'acme');
    await hour();
    const dueAt = (await life.record(view.id))?.fuseAt ?? '';
    expect(Date.parse(dueAt) - Date.parse(view.createdAt)).to.be.within(3.5 * 3_600_000, 5 * 3_600_000);
    const stopped = await sweptAfter(view, 5);
    expect(stopped.vmsStopped?.why).to.match(/has cost 10\.\d+ USD .* was admitted for 8\.\d+\.$/);
    expect(new Set(statesOf(view))).to.deep.equal(new Set(['TERMINATED']));
    await hour();
    await life.swept();
    expect(noticesOf(view)).to.have.length(1);

    await run('team', 'ceilings', team, '--usd-per-month', '12');
    const { exitCode, result } = await asked('restart-vms', 'of-a-team');
    expect([exitCode, result.problem?.code]).to.deep.equal([5, 'over-ceiling']);
    expect(result.problem?.detail).to.contain(`The bootstraps of team ${team} would cost`);
    expect(result.problem?.advice).to.contain(`plinth team ceilings ${team}`);
    await run('team', 'ceilings', team, '--usd-per-month', '100');
    await run('beta', 'bootstrap-cloud', 'restart-vms', 'of-a-team');
    expect(new Set(statesOf(view))).to.deep.equal(new Set(['RUNNING']));
  });

  it('is cancelled half-way, a VM that waits for its next holder is stopped, too, and it goes on by the same command', async () => {
    const flags = { 'spot-vms': true, 'project-ttl': '8h' } as const;
    const view = await dear('half-way');
    const { instances = {}, generation } = (await life.record(view.id)) ?? {};
    const instance = 'vm:k0s-1';
    await life.change(view.id, {
      state: 'running',
      endedAt: undefined,
      fuseAt: new Date().toISOString(),
      instances: { ...instances, [instance]: { state: 'ready', attempt: 0 } },
    });
    const later = new Date(Date.now() + 600_000).toISOString();
    const lease = {
      ...{ schema: 1, bootstrapId: view.id, instance, lane: 'cloud', generation, state: 'ready', number: 1 },
      ...{ notBefore: later, dueAt: later, failures: {}, propagationSeconds: 0, deaths: 0 },
    };
    const place = { collection: collections.leases, id: leaseId(view.id, instance) };
    await scene.stack.functionsHalf?.store.commit([{ kind: 'create', ...place, data: lease }]);
    await life.swept();
    await life.swept();
    await life.swept();
    const stopped = await scene.view(view.id);
    expect(stopped.state).to.equal('cancelled');
    expect(new Set(statesOf(view))).to.deep.equal(new Set(['TERMINATED']));
    expect(stopped.result.vms.find(({ name }) => name === 'k0s-1')?.stopped).to.equal(true);
    const followed = outcomeOf(await plinth('status', 'half-way', '--follow', '--json'));
    expect(followed.result.problem?.detail).to.contain('half-way');
    expect(followed.result.problem?.advice).to.contain('restart-vms');
    ceiling(3);
    const resumed = succeeded(await alice.bootstrap('half-way', flags));
    expect(resumed.vmsStopped).to.equal(undefined);
    expect(new Set(statesOf(view))).to.deep.equal(new Set(['RUNNING']));
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
