/** Pools of prepared projects at the command line: filled by sweep, claimed by a bootstrap, drained by an operator. */
import { expect } from 'chai';
import { local, people } from '../../local/stack/deployment.js';
import type { PoolsView } from '../../shared/bootstrap/pools.js';
import { collections, functionNames, labels, schedulerJobs } from '../../shared/names.js';
import type { Team } from '../../shared/organization/team.js';
import { type Life, lifeOf } from '../support/life.js';
import { peopleOf } from '../support/people.js';
import { runAt } from '../support/plinth-here.js';
import { type Caller, makeScene, type Scene, succeeded } from '../support/scene.js';

describe('prepared projects at the command line', function () {
  this.timeout(240_000);
  let scene: Scene;
  let life: Life;
  let alice: Caller;
  let admin: Caller;

  before(async () => {
    scene = await makeScene();
    life = lifeOf(scene);
    // From now on pools are filled only when a test has it done.
    await life.job('POST', ':pause', {}, schedulerJobs.sweep);
    await life.pause();
    alice = await scene.caller();
    admin = await scene.caller(people.admin);
    const { folder: parent, billingAccount, region } = local;
    const key = `${parent} ${billingAccount} ${region}`;
    const pools = [{ key, parent, billingAccount, region, size: 2, maxAgeSeconds: 86_400 }];
    for (const name of Object.values(functionNames)) {
      Object.assign(scene.stack.functionsHalf?.contextOf(name).config ?? {}, { pools });
    }
    await life.swept();
  });
  after(() => scene?.close());

  const pool = async (way: string): Promise<PoolsView> => {
    const { exitCode, stdout, stderr } = await runAt(['pool', way, '--json'], admin);
    expect(exitCode, stderr).to.equal(0);
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as PoolsView;
  };

  /** Projects of the pool, the oldest first. */
  async function waiting(): Promise<string[]> {
    const members = await scene.stack.functionsHalf?.store.query({
      collection: collections.bootstraps,
      where: [['pool', '>', '']],
    });
    return (members ?? [])
      .map(({ data }) => data as { readonly createdAt: string; readonly projectId: string })
      .sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1))
      .map(({ projectId }) => projectId);
  }

  it('wait for whoever asks, and are shown to operators alone', async () => {
    const { pools, projects, share } = await pool('status');
    expect({ projects, share }).to.deep.equal({ projects: 2, share: 1 });
    expect(pools[0]?.since).to.have.length(2);
    expect(pools[0]).to.include({ size: 2, free: 2, taken: 0, missed: 0, drained: false });
    expect(pools[0]?.limits).to.have.property('CPUS').above(0);
    const { stdout } = await runAt(['pool', 'status'], admin);
    expect(stdout)
      .to.contain('2 of 2')
      .and.to.match(/ \d+m( to \d+m)? /);
    expect(stdout).to.contain('They hold 2 projects').and.to.contain('100 % of what plinth uses');
    const refused = await runAt(['pool', 'status'], alice);
    expect(refused.stderr).to.contain('Pools of prepared projects are for operators.');
    expect((await runAt(['beta', 'bootstrap-cloud', 'list', '--all'], admin)).stdout).not.to.contain('pool-');
  });

  it('become a bootstrap under the name that was asked for', async () => {
    const view = succeeded(await alice.bootstrap('claimed', { region: local.region }));
    expect(view.projectId).to.match(/^pool-[a-z0-9]{8}$/);
    await scene.expectAll(view);
    const { stdout } = await alice.plinth('status', 'claimed');
    expect(stdout).to.match(/Project +claimed \(pool-/);
    expect(stdout).to.match(/Prepared +since .* UTC, and claimed by this bootstrap/);
    expect(life.project(view.projectId)).to.include({ displayName: 'claimed' });
    const { pools, share } = await pool('status');
    expect(pools[0]).to.include({ taken: 1, missed: 0 });
    expect(share).to.equal(0.5);
  });

  it('bear the label of the team that they are claimed for', async () => {
    const { body } = await peopleOf(scene).ask<Team>(people.alice, 'POST', '/teams', { name: 'platform' });
    const view = succeeded(await alice.bootstrap('of-a-team', { region: local.region, team: String(body.teamId) }));
    expect(view.projectId).to.match(/^pool-[a-z0-9]{8}$/);
    const bears = life.project(view.projectId)['labels'] as Record<string, string>;
    expect(bears[labels.team]).to.match(new RegExp(`^t${body.teamId}-[0-9a-f]{40}$`));
    await life.swept();
  });

  it('are gone once an operator drained their pool, and come again when it is filled', async () => {
    expect((await pool('drain')).pools[0]).to.include({ drained: true });
    await life.swept();
    const { remove } = await life.cleaned();
    expect(remove).to.have.length.above(0);
    for (const { projectId } of remove) {
      expect(projectId).to.match(/^pool-/);
      expect(life.project(projectId)).to.include({ state: 'DELETE_REQUESTED' });
    }
    expect(await pool('status')).to.include({ projects: 0, bootstraps: 2 });
    const view = succeeded(await alice.bootstrap('unclaimed', { region: local.region }));
    expect(view.projectId).to.match(/^unclaimed-/);
    expect((await alice.plinth('status', 'unclaimed')).stdout).to.match(
      /Prepared +no: no prepared project of its pool could be had/,
    );
    expect((await pool('fill')).pools[0]).to.include({ drained: false });
    await life.swept();
    expect((await pool('status')).pools[0]).to.include({ free: 2 });
  });

  /** As somebody does it in the console, without plinth. */
  async function deleteByHand(projectId: string): Promise<void> {
    const { accessToken } = await scene.stack.tokens(people.admin);
    const url = `${scene.cloud.endpoints.cloudresourcemanager}/v3/projects/${projectId}`;
    const reply = await fetch(url, { method: 'DELETE', headers: { authorization: `Bearer ${accessToken}` } });
    expect(reply.status, await reply.text()).to.equal(200);
    await scene.stack.settle();
  }

  it('are passed over and set aside once somebody has deleted them by hand: the next one is given, or the long way is gone', async () => {
    const [first = '', second = ''] = await waiting();
    await deleteByHand(first);
    const next = succeeded(await alice.bootstrap('after-first', { region: local.region }));
    expect(next.projectId).to.equal(second);
    expect(await waiting()).to.deep.equal([]);
    await life.swept();
    const others = await waiting();
    expect(others).to.have.length(2);
    for (const each of others) await deleteByHand(each);
    const own = succeeded(await alice.bootstrap('after-all', { region: local.region }));
    expect(own.projectId).to.match(/^after-all-/);
    expect(await waiting()).to.deep.equal([]);
  });

  it('are given also while Google does not say whether they stand', async () => {
    await life.swept();
    const [first = ''] = await waiting();
    const { faults } = scene.cloud;
    const fault = faults.add({ method: 'cloudresourcemanager.projects.get', nth: 1, times: 1, kind: 'rate' });
    const given = succeeded(await alice.bootstrap('while-google-is-busy', { region: local.region }));
    faults.remove(fault);
    expect(given.projectId).to.equal(first);
  });
});
