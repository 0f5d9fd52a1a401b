/** The fuse: a bootstrap comes to cost more than it may, and its VMs are stopped and started again. As people meet it. */
import { expect } from 'chai';
import type { Config } from '../../functions/config.js';
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
    deploy({ beyond: 'stop' });
  });

  /** As an operator who deploys other settings. */
  function deploy(settings: Partial<Config['ceilings']>): void {
    for (const name of Object.values(functionNames)) {
      const { ceilings } = scene.stack.functionsHalf?.contextOf(name).config ?? {};
      Object.assign(ceilings ?? {}, settings);
    }
  }
  /** Another ceiling, or none. */
  const ceiling = (usd: number | undefined, kind: 'microsAnHour' | 'monthOfOwner' = 'microsAnHour'): void =>
    deploy({ [kind]: usd === undefined ? undefined : usd * 1_000_000 });
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

  it('is stopped once it has cost what a month counts it for, once by two sweeps, and starts where the month allows it', async () => {
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

  it('is looked at by protect, which starts nothing that is stopped, and counts by the month until it is taken back', async () => {
    ceiling(500, 'monthOfOwner');
    const view = await overspending('protected');
    ceiling(12, 'monthOfOwner');
    const until = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
    const protect = (hours: number) => asked('protect', 'protected', '--until', until(hours), '--reason', 'a demo');
    const refused = await protect(20);
    expect([refused.exitCode, refused.result.problem?.code]).to.deep.equal([5, 'over-ceiling']);
    ceiling(500, 'monthOfOwner');
    expect((await protect(20)).exitCode).to.equal(0);
    await scene.stack.settle();
    // As long as it is protected, it is admitted for 20 hours.
    expect((await sweptAfter(view, 5)).vmsStopped).to.equal(undefined);
    expect((await asked('unprotect', 'protected')).exitCode).to.equal(0);
    await life.swept();
    await life.swept();
    expect((await scene.view(view.id)).vmsStopped?.why).to.match(/has cost 10\.\d+ USD .* was admitted for 8\.\d+\.$/);
    expect(new Set(statesOf(view))).to.deep.equal(new Set(['TERMINATED']));

    expect((await protect(2)).exitCode).to.equal(0);
    await scene.stack.settle();
    await life.swept();
    expect(new Set(statesOf(view))).to.deep.equal(new Set(['TERMINATED']));
    expect([stops(view).length, noticesOf(view).length]).to.deep.equal([statesOf(view).length, 1]);
    expect((await asked('unprotect', 'protected')).exitCode).to.equal(0);
    expect((await plinth('cleanup', 'protected', '--yes')).exitCode).to.equal(0);
  });

  it('is held against the ceiling of its team, and starts once an admin has raised that', async () => {
    const { ask } = peopleOf(scene);
    const { teamId } = (await ask<Team>(alice.email, 'POST', '/teams', { name: 'platform' })).body;
    const set = (usd: string) => runAt(['team', 'ceilings', String(teamId), '--usd-per-month', usd], alice);
    expect((await set('100')).exitCode).to.equal(0);
    const view = await overspending('of-a-team', { team: String(teamId) });
    const stopped = await sweptAfter(view, 5);
    expect(stopped.vmsStopped?.why).to.contain('was admitted for 8.');
    expect(new Set(statesOf(view))).to.deep.equal(new Set(['TERMINATED']));
    expect((await set('12')).exitCode).to.equal(0);
    const { exitCode, result } = await asked('restart-vms', 'of-a-team');
    expect([exitCode, result.problem?.code]).to.deep.equal([5, 'over-ceiling']);
    expect(result.problem?.detail).to.contain(`The bootstraps of team ${teamId} would cost`);
    expect(result.problem?.advice).to.contain(`plinth team ceilings ${teamId}`);
    expect((await set('100')).exitCode).to.equal(0);
    expect((await asked('restart-vms', 'of-a-team')).exitCode).to.equal(0);
    expect(new Set(statesOf(view))).to.deep.equal(new Set(['RUNNING']));
  });

  describe('by a ceiling that', () => {
    const store = () => scene.stack.functionsHalf?.store;
    /** An hour later cleanup looks at all that lives. */
    async function hour(): Promise<void> {
      const place = { collection: collections.passes, id: 'unknown-projects' };
      if ((await store()?.get(place.collection, place.id)) !== undefined) {
        const at = new Date(Date.now() - 3_700_000).toISOString();
        await store()?.commit([{ kind: 'update', ...place, data: { at } }]);
      }
      await life.cleaned();
    }
    const team = async (...args: string[]) => {
      const run = await runAt(['team', ...args], alice);
      expect(run.exitCode, run.stderr).to.equal(0);
      return run.stdout;
    };
    const newTeam = async (name: string): Promise<string> => {
      const { ask } = peopleOf(scene);
      return String((await ask<Team>(alice.email, 'POST', '/teams', { name })).body.teamId);
    };
    const ways: Readonly<Record<string, (teamId: string) => Promise<unknown>>> = {
      'the deployment sets later': async () => ceiling(500, 'monthOfOwner'),
      'its team sets later': (teamId) => team('ceilings', teamId, '--usd-per-month', '500'),
      'its team meets by a migration': async (teamId) => {
        for (const args of [
          ['create', 'acme'],
          ['ceilings', 'acme', '--usd-per-month', '500'],
        ]) {
          expect((await runAt(['org', ...args], alice)).exitCode).to.equal(0);
        }
        await team('migrate', teamId, '--organization', 'acme');
      },
    };
    for (const [way, set] of Object.entries(ways)) {
      it(`${way}: within the hour, told once`, async () => {
        const teamId = await newTeam(way);
        const name = `by-${Object.keys(ways).indexOf(way)}-later`;
        const view = await overspending(name, { team: teamId });
        await life.swept();
        expect((await life.record(view.id))?.fuseAt, 'nothing limits it').to.equal(undefined);
        await set(teamId);
        await hour();
        const dueAt = (await life.record(view.id))?.fuseAt ?? '';
        expect(Date.parse(dueAt) - Date.parse(view.createdAt)).to.be.within(3.5 * 3_600_000, 5 * 3_600_000);
        const stopped = await sweptAfter(view, 5);
        expect(stopped.vmsStopped?.why).to.match(/has cost 10\.\d+ USD .* was admitted for 8\.\d+\.$/);
        expect(new Set(statesOf(view))).to.deep.equal(new Set(['TERMINATED']));
        await hour();
        await life.swept();
        expect(noticesOf(view)).to.have.length(1);
        expect((await plinth('cleanup', name, '--yes')).exitCode).to.equal(0);
      });
    }

    /** Two sweeps after the hourly look: one finds it, and the next one finds its VMs down. */
    async function lookedAt(view: BootstrapView): Promise<[string[], number]> {
      await hour();
      await life.swept();
      await life.swept();
      return [[...new Set(statesOf(view))], noticesOf(view).length];
    }

    it('only warned, once it is to stop: within the hour', async () => {
      deploy({ beyond: 'warn' });
      const view = await dear('warned-first');
      await life.swept();
      expect(await lookedAt(view), 'told once').to.deep.equal([['RUNNING'], 1]);
      deploy({ beyond: 'stop' });
      expect(await lookedAt(view)).to.deep.equal([['TERMINATED'], 2]);
      expect((await plinth('cleanup', 'warned-first', '--yes')).exitCode).to.equal(0);
    });

    it('is lowered again after VMs were started beneath a higher one: within the hour', async () => {
      const view = await dear('lowered');
      expect(await lookedAt(view)).to.deep.equal([['TERMINATED'], 1]);
      ceiling(3);
      expect((await asked('restart-vms', 'lowered')).exitCode).to.equal(0);
      expect(await lookedAt(view)).to.deep.equal([['RUNNING'], 1]);
      // Where it only warns, too, whoever was told is told of the lower one.
      deploy({ beyond: 'warn' });
      ceiling(1.5);
      expect(await lookedAt(view)).to.deep.equal([['RUNNING'], 2]);
      expect((await plinth('cleanup', 'lowered', '--yes')).exitCode).to.equal(0);
    });

    it('only warns, and is raised and lowered: told of each once', async () => {
      deploy({ beyond: 'warn' });
      const view = await dear('twice-warned');
      expect(await lookedAt(view)).to.deep.equal([['RUNNING'], 1]);
      ceiling(3);
      expect(await lookedAt(view)).to.deep.equal([['RUNNING'], 1]);
      ceiling(1.5);
      expect(await lookedAt(view)).to.deep.equal([['RUNNING'], 2]);
      expect(await lookedAt(view)).to.deep.equal([['RUNNING'], 2]);
      expect((await plinth('cleanup', 'twice-warned', '--yes')).exitCode).to.equal(0);
    });

    it('only warns: told once, although its VMs are looked at again', async () => {
      deploy({ beyond: 'warn' });
      const view = await dear('looked-at-again');
      expect(await lookedAt(view)).to.deep.equal([['RUNNING'], 1]);
      expect((await asked('restart-vms', 'looked-at-again')).exitCode).to.equal(0);
      expect(await lookedAt(view)).to.deep.equal([['RUNNING'], 1]);
      expect((await life.record(view.id))?.warnings.filter((each) => each.includes('is the most here'))).to.have.length(
        1,
      );
      expect((await plinth('cleanup', 'looked-at-again', '--yes')).exitCode).to.equal(0);
    });

    it('is lowered while it would be passed hours later: within the hour', async () => {
      ceiling(500, 'monthOfOwner');
      const view = await overspending('lowered-early');
      await life.swept();
      const dueAt = (await life.record(view.id))?.fuseAt ?? '';
      expect(Date.parse(dueAt) - Date.now(), 'as far as its month goes').to.be.above(3 * 3_600_000);
      expect(await lookedAt(view)).to.deep.equal([['RUNNING'], 0]);
      expect((await life.record(view.id))?.fuseAt, 'the hourly look changes nothing').to.equal(dueAt);
      ceiling(1.5);
      expect(await lookedAt(view)).to.deep.equal([['TERMINATED'], 1]);
      expect((await plinth('cleanup', 'lowered-early', '--yes')).exitCode).to.equal(0);
    });
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

  it('is cancelled half-way while a VM waits for its next holder, and that VM is stopped', async () => {
    const view = await dear('between-holders');
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
    expect(new Set(statesOf(view))).to.deep.equal(new Set(['TERMINATED']));
    const { vms } = (await scene.view(view.id)).result;
    expect(vms.find(({ name }) => name === 'k0s-1')?.stopped).to.equal(true);
    expect((await plinth('cleanup', 'between-holders', '--yes')).exitCode).to.equal(0);
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
