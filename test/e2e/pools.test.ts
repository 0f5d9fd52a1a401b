/** Pools of prepared projects at the command line: filled by sweep, claimed by a bootstrap, drained by an operator. */
import { expect } from 'chai';
import { local, people } from '../../local/stack/deployment.js';
import type { PoolsView } from '../../shared/bootstrap/pools.js';
import { functionNames, labels, schedulerJobs } from '../../shared/names.js';
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

  it('become a bootstrap under the name that was asked for, with the label of its team', async () => {
    const { body } = await peopleOf(scene).ask<Team>(people.alice, 'POST', '/teams', { name: 'platform' });
    const view = succeeded(await alice.bootstrap('claimed', { region: local.region, team: String(body.teamId) }));
    expect(view.projectId).to.match(/^pool-[a-z0-9]{8}$/);
    await scene.expectAll(view);
    const { stdout } = await alice.plinth('status', 'claimed');
    expect(stdout).to.match(/Project +claimed \(pool-/);
    expect(stdout).to.match(/Prepared +since .* UTC, and claimed by this bootstrap/);
    expect(life.project(view.projectId)).to.include({ displayName: 'claimed' });
    const bears = life.project(view.projectId)['labels'] as Record<string, string>;
    expect(bears[labels.team]).to.match(new RegExp(`^t${body.teamId}-[0-9a-f]{40}$`));
    const { pools, share } = await pool('status');
    expect(pools[0]).to.include({ taken: 1, missed: 0 });
    expect(share).to.equal(0.5);
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
    expect(await pool('status')).to.include({ projects: 0, bootstraps: 1 });
    const view = succeeded(await alice.bootstrap('unclaimed', { region: local.region }));
    expect(view.projectId).to.match(/^unclaimed-/);
    expect((await alice.plinth('status', 'unclaimed')).stdout).to.match(
      /Prepared +no: no prepared project of its pool could be had/,
    );
    expect((await pool('fill')).pools[0]).to.include({ drained: false });
    await life.swept();
    expect((await pool('status')).pools[0]).to.include({ free: 2 });
  });
});
