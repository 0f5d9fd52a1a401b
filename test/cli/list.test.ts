/** What list, status and a bootstrap say of age, time left, protection, removal and cost. */
import { expect } from 'chai';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import type { CostEstimate } from '../../shared/bootstrap/cost.js';
import { bootstrap, createSandbox, five, type Sandbox } from './run-cli.js';
import { createService, json, makeView, planReply, type Service } from './service.js';
import { useService } from './use-service.js';

const minutes = (count: number): string => new Date(Date.now() + count * 60_000 + 5000).toISOString();
const day = 24 * 60;

describe('what a list says', function () {
  this.timeout(30_000);
  let service: Service;
  let sandbox: Sandbox;
  useService((each) => {
    ({ service, sandbox } = each);
  }, 'standing');

  const named = (name: string, changes: Partial<BootstrapView>): BootstrapView =>
    makeView({ id: `b-${name}`, name, projectId: `${name}-ab12cd34`, createdAt: minutes(-125), ...changes });
  const asked = {
    requestedAt: minutes(-60),
    by: 'cleanup',
    why: 'expired',
    failures: 3,
    quarantinedAt: minutes(-30),
  } as const;
  const unknown: CostEstimate = { currency: 'USD', pricesAsOf: '2026-01-01', unknown: ['region asia-east1'] };
  const views = () => [
    // Each time is taken by itself, so two of them are no whole hours apart.
    named('removed', { state: 'removed', deadlineAt: minutes(-90), endedAt: minutes(-80), createdAt: minutes(-200.5) }),
    named('kept', {
      deadlineAt: minutes(30),
      protection: { until: minutes(2 * day), reason: 'Debugging: storage', by: 'alice@example.com' },
    }),
    named('soon', { deadlineAt: minutes(65), cost: unknown }),
    named('late', { deadlineAt: minutes(-6) }),
    named('stuck', {
      state: 'removal-failed',
      deadlineAt: minutes(-100),
      removal: asked,
      problem: { code: 'cloud-conflict', detail: 'Project failed: a lien is in the way.' },
    }),
  ];
  const list = async (rows: BootstrapView[], ...args: string[]) => {
    service.instead.set('GET /bootstraps', [(response) => json(response, 200, rows)]);
    return sandbox.run([...bootstrap, 'list', ...args]);
  };

  it('is state, age, time left and cost, what goes first first, and why something stays', async () => {
    const { code, stdout } = await list(views());
    expect(code).to.equal(0);
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]?.trim().split(/ {2,}/)).to.deep.equal(['NAME', 'PROJECT', 'STATE', 'AGE', 'LEFT', 'COST']);
    expect(lines.slice(1, 6).map((line) => line.trim().split(/ {2,}/))).to.deep.equal([
      ['stuck', 'stuck-ab12cd34', 'removal-failed', '2h 4m', 'left alone', '~0.50 USD'],
      ['late', 'late-ab12cd34', 'succeeded', '2h 4m', 'expired 5m ago', '~0.50 USD'],
      ['soon', 'soon-ab12cd34', 'succeeded', '2h 4m', '1h 5m', 'not known'],
      ['kept', 'kept-ab12cd34', 'succeeded', '2h 4m', '2d, protected', '~0.50 USD'],
      ['removed', 'removed-ab12cd34', 'removed', '2h', 'gone 1h 19m ago', '~0.50 USD'],
    ]);
    expect(stdout).to.match(/Protected\n +kept +until \d{4}-.* UTC by alice@example\.com: Debugging: storage/);
    expect(stdout).to.match(/Could not be removed\n +stuck +Project failed: a lien is in the way\./);
    expect(stdout).to.match(/Tried again by\n +stuck +plinth beta bootstrap-cloud cleanup stuck-ab12cd34/);
    // In a pipe: no colours, and no wider than people's windows.
    expect(stdout).not.to.include('\u001b');
    expect(Math.max(...lines.map((line) => line.length))).to.be.at.most(100);
  });

  it('asks for those of one team alone', async () => {
    const { code } = await list(views(), '--team', '42');
    expect(code).to.equal(0);
    expect(service.seen.map(({ path }) => path)).to.deep.equal(['/bootstraps?team=42']);
  });

  it('names the owner where there is more than one, or for everybody’s', async () => {
    const mine = named('mine', {});
    expect((await list([mine])).stdout).not.to.include('OWNER');
    const theirs = named('theirs', { owner: 'bob@example.com', sharedWith: ['alice@example.com'] });
    expect((await list([mine, theirs])).stdout).to.match(/OWNER[\s\S]*theirs.*bob@example\.com/);
    expect((await list([mine], '--all')).stdout).to.match(/OWNER[\s\S]*mine.*alice@example\.com/);
    expect(service.seen.at(-1)?.path).to.equal('/bootstraps?all=true');
  });

  it('is with --json all there is to know', async () => {
    const { stdout } = await list(views(), '--json');
    const { bootstraps } = JSON.parse(stdout) as { bootstraps: BootstrapView[] };
    expect(bootstraps.map(({ name }) => name)).to.deep.equal(['stuck', 'late', 'soon', 'kept', 'removed']);
    expect(bootstraps[0]).to.deep.include({ removal: asked, owner: 'alice@example.com' });
    expect(bootstraps[0]).to.have.nested.property('problem.detail', 'Project failed: a lien is in the way.');
    expect(bootstraps[2]).to.have.deep.property('cost', unknown);
    expect(bootstraps[3]).to.have.nested.property('protection.reason', 'Debugging: storage');
    expect(bootstraps[3]?.cost).to.include({ soFar: 0.5, untilExpiry: 2.47, pricesAsOf: '2026-01-01' });
  });

  const status = async (changes: Partial<BootstrapView>) => {
    service.view = makeView(changes);
    return (await sandbox.run([...bootstrap, 'status', 'demo'])).stdout;
  };

  it('is said by status, too: deadline, protection, removal and its reason, cost', async () => {
    expect(await status({ deadlineAt: minutes(65), sharedWith: ['bob@example.com'] }))
      .to.match(/Removed +\d{4}-.* UTC \(in 1h 5m\)/)
      .and.match(/Shared with +bob@example\.com/)
      .and.include(
        'about 0.50 USD so far, 2.47 USD by the time it is removed, 0.25 USD saved by spot (estimate, oldest price of 2026-01-01)',
      );
    const protection = { until: minutes(2 * day), reason: 'a look', by: 'alice@example.com' };
    expect(await status({ deadlineAt: minutes(-5), protection }))
      .to.match(/Removed .*\(in 2d\)/)
      .and.match(/Protected +until .* by alice@example\.com: a look/);
    const problem = { code: 'cloud-conflict', detail: 'Project failed: a lien is in the way.' };
    expect(await status({ state: 'removal-failed', removal: asked, problem }))
      .to.match(/Removal +its time was over at .*failed 3 times in a row; left alone since .* cleanup demo-ab12cd34/)
      .and.match(/Why not +Project failed: a lien is in the way\./);
    expect(await status({ state: 'removed', endedAt: minutes(-5) }))
      .to.match(/Removed +\d{4}-.* UTC \(4m ago\)/)
      .and.include('about 0.50 USD in all');
    const tiny = { ...makeView().cost, soFar: 0.0016, savedBySpot: 0.0019 };
    expect(await status({ cost: tiny })).to.include('under 0.01 USD so far, 2.47 USD by the time it is removed (');
    expect((await list([named('new', { cost: tiny })])).stdout).to.include('  <0.01 USD');
    expect(await status({ cost: unknown })).to.include('not known: there is no price for region asia-east1');
  });

  it('is said as soon as a bootstrap has begun, with its VMs, its time and its end', async () => {
    const vms = ['a', 'b'].map((key) => ({
      id: `vm:${key}`,
      step: 'vm',
      key,
      title: key,
      state: 'waiting',
      attempt: 0,
    }));
    const forecast = { p50Seconds: 480, p90Seconds: 720, learntFrom: 3 };
    service.standing = false;
    service.instead.set('POST /bootstraps', [
      (response) =>
        json(response, 201, {
          bootstrap: { ...makeView(), state: 'running', instances: vms, forecast },
          created: true,
          changes: [],
          warnings: [],
        }),
    ]);
    const { stderr } = await sandbox.run([...bootstrap, ...five]);
    expect(stderr).to.match(/VMs +2$/m);
    expect(stderr).to.include('about 1.23 USD an hour, 2.47 USD until it is removed');
    expect(stderr).to.match(/Ready +in about 8m, nine in ten within 12m \(as the last 3 here took\)/);
    expect(stderr).to.match(/Removed +at \d{4}-/);
    const progress = { done: 45, total: 65 };
    const told = (changes: object) => list([named('new', { state: 'running', forecast, ...changes })]);
    expect((await told({ progress })).stdout).to.include('running 45/65 ~8m, ≤12m');
    // A service of an earlier release tells no progress.
    expect((await told({})).stdout).to.include('running ~8m, ≤12m');
    const soon = { forecast: { p50Seconds: 20, p90Seconds: 40, learntFrom: 1 } };
    expect((await told(soon)).stdout).to.include('running <1m, ≤1m');
    // One bootstrap tells nothing of nine in ten.
    const once = { forecast: { p50Seconds: 480, p90Seconds: 480, learntFrom: 1 } };
    expect((await told(once)).stdout).to.match(/running ~8m(?!,)/);
  });

  it('is said at the end of a bootstrap, in one line, and before it by --dry-run', async () => {
    const { stdout } = await sandbox.run([...bootstrap, ...five]);
    expect(stdout.match(/^ +Cost .*estimate, oldest price of 2026-01-01\)$/gm)).to.have.length(1);
    const cost = { ...makeView().cost, soFar: 0, savedBySpot: 0 };
    service.instead.set('POST /bootstraps', [(response) => json(response, 200, planReply(cost))]);
    const planned = await sandbox.run([...bootstrap, ...five, '--dry-run']);
    expect(planned.stdout).to.include(
      'Cost: about 2.47 USD until it is removed, 1.23 USD an hour; 1.50 USD saved by spot if there is capacity (estimate, oldest price of 2026-01-01)',
    );
  });
});

describe('plinth costs', function () {
  this.timeout(30_000);
  let service: Service;
  let sandbox: Sandbox;
  before(async () => {
    service = await createService();
    sandbox = createSandbox(service.url);
  });
  after(async () => {
    sandbox.remove();
    await service.close();
  });

  it('sums up by month, names what has no price, and gives the total and the day of the prices', async () => {
    const { code, stdout, stderr } = await sandbox.run(['costs', '--from', '2026-10-01']);
    expect(code, stderr).to.equal(0);
    expect(stdout)
      .to.match(/MONTH +BOOTSTRAPS +USD/)
      .and.to.match(/2026-10 +2 +12\.50/);
    expect(stdout).to.include('Total: 12.75 USD (estimate, oldest price of 2026-01-01)');
    expect(stderr).to.include('There is no price for machine type n2-huge');
    expect(service.seen.at(-1)?.path).to.equal('/costs?by=month&from=2026-10-01');
  });

  it('prints CSV that a spreadsheet takes for no formula, and JSON', async () => {
    const { stdout } = await sandbox.run(['costs', '--by', 'project', '--csv']);
    expect(stdout.split('\r\n').map((line) => line.trimEnd())).to.deep.equal([
      'project,name,owner,usd',
      `2026-10,"'=1+1, ""x""",alice@example.com,12.50`,
      '2026-11,demo,alice@example.com,0.254321',
    ]);
    const json = await sandbox.run(['costs', '--json']);
    expect(JSON.parse(json.stdout.trim().split('\n').at(-1) ?? '').costs.total).to.equal('12.754321');
  });

  it('refuses days and groups that are none, all at once', async () => {
    const { code, stderr } = await sandbox.run(['costs', '--by', 'week', '--from', 'yesterday']);
    expect(code).to.equal(2);
    expect(stderr).to.include('--by must be owner, team, project, day or month').and.to.include('--from must be a day');
  });
});
