/** What a change in a team does to the projects of its bootstraps: in plinth at once, in the project's policy by the next run of sweep. */
import { expect } from 'chai';
import { local } from '../../local/stack/deployment.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { schedulerJobs } from '../../shared/names.js';
import type { MigrationPreview, MovedBootstrap, Team, UndoPreview } from '../../shared/organization/team.js';
import { type Life, lifeOf } from '../support/life.js';
import { type People, peopleOf } from '../support/people.js';
import { runAt } from '../support/plinth-here.js';
import { type Caller, makeScene, type Scene, succeeded } from '../support/scene.js';

const person = (name: string): string => `${name}@${local.domain}`;
const [alice, bob, carol, dave, erin] = [
  person('alice'),
  person('bob'),
  person('carol'),
  person('dave'),
  person('erin'),
];
/** May not bootstrap here, so no project gives them a role. */
const zoe = 'zoe@example.org';

describe('the roles of a team', function () {
  this.timeout(240_000);
  let scene: Scene;
  let life: Life;
  let aliceAt: Caller;
  let team: number;
  let view: BootstrapView;
  before(async () => {
    scene = await makeScene();
    life = lifeOf(scene);
    await life.pause();
    aliceAt = await scene.caller(alice);
    team = await teamOf('roles', bob, carol, dave);
    view = await made('by-role', team);
  });
  after(() => scene?.close());

  const ask: People['ask'] = (...asked) => peopleOf(scene).ask(...asked);
  const statusOf: People['statusOf'] = (...asked) => peopleOf(scene).statusOf(...asked);
  async function teamOf(name: string, ...members: string[]): Promise<number> {
    const { teamId } = (await ask<Team>(alice, 'POST', '/teams', { name })).body;
    for (const email of members) await ask(alice, 'POST', `/teams/${teamId}/members`, { email });
    return teamId;
  }
  const made = async (name: string, team?: number): Promise<BootstrapView> =>
    succeeded(await aliceAt.bootstrap(name, team === undefined ? {} : { team: String(team) }));
  /** All that people may do on the project, as `role person`. */
  const policyOf = ({ projectId }: BootstrapView): string[] => {
    const { bindings = [] } = scene.cloud.world.policies.get(`projects/${projectId}`, 3) as {
      bindings?: { role: string; members: string[] }[];
    };
    return bindings
      .flatMap(({ role, members }) => members.map((member) => `${role} ${member}`))
      .filter((each) => each.includes(' user:'))
      .sort();
  };
  const holdersIn = (policy: readonly string[]): string[] =>
    [...new Set(policy.map((each) => each.split(' user:')[1] ?? ''))].sort();
  const setRole = (email: string, role: string) => ask(alice, 'PUT', `/teams/${team}/members/${email}/role`, { role });

  it('decide in plinth at once, and give admins on the project no more than members', async () => {
    const extend = () => statusOf(bob, 'POST', `/bootstraps/${view.id}/extend`, { ttl: '3h' });
    const before = policyOf(view);
    expect(holdersIn(before)).to.deep.equal([alice, bob, carol, dave]);
    for (const [role, status] of [
      ['admin', 200],
      ['member', 403],
    ] as const) {
      expect(await extend(), `before bob is ${role}`).to.equal(status === 200 ? 403 : 200);
      expect((await setRole(bob, role)).status).to.equal(200);
      expect(await extend(), `bob as ${role}`).to.equal(status);
      await life.swept();
      expect(policyOf(view), `bob as ${role}`).to.deep.equal(before);
    }
  });

  it('are taken from who leaves or is removed by the next run of sweep, which comes each minute', async () => {
    const { accessToken } = await scene.stack.tokens(`admin@${local.domain}`);
    const job = `projects/${local.project}/locations/${local.region}/jobs/${schedulerJobs.sweep}`;
    const { schedule } = (await (
      await fetch(`${scene.cloud.endpoints.cloudscheduler}/v1/${job}`, {
        headers: { authorization: `Bearer ${accessToken}` },
      })
    ).json()) as { schedule: string };
    expect(schedule).to.equal('* * * * *');
    const before = policyOf(view);
    for (const [who, by] of [
      [bob, bob],
      [carol, alice],
    ] as const) {
      const named = (email: string) => (each: string) => each.endsWith(` user:${email}`);
      expect(policyOf(view).some(named(who))).to.equal(true);
      expect(await statusOf(by, 'DELETE', `/teams/${team}/members/${who}?why=done`)).to.equal(204);
      expect(await statusOf(who, 'GET', `/bootstraps/${view.id}`), 'in plinth at once').to.equal(404);
      await life.swept();
      expect(policyOf(view).some(named(who))).to.equal(false);
    }
    expect(policyOf(view)).to.deep.equal(before.filter((each) => !/ user:(?:bob|carol)@/.test(each)));
  });

  it('are after a migration, and after its undo, exactly what the preview said', async () => {
    const [moving, other] = [await teamOf('previewed', bob, carol, zoe), await teamOf('beside', dave)];
    const [owned, shared] = [await made('owned', moving), await made('lent')];
    const views = [owned, shared];
    await ask(alice, 'POST', `/bootstraps/${shared.id}/share-with-team`, { team: moving });
    await ask(alice, 'POST', `/bootstraps/${owned.id}/share-with-team`, { team: other });
    const { id: organizationId } = (await ask<{ id: string }>(alice, 'POST', '/organizations', { name: 'goal' })).body;
    for (const [email, role] of [
      [bob, 'member'],
      [dave, 'member'],
      [erin, 'admin'],
    ]) {
      await ask(alice, 'POST', `/organizations/${organizationId}/members`, { email, role });
    }
    await scene.stack.settle();
    const first = views.map(policyOf);
    /** The people with a role afterwards, if exactly what was previewed happens. Who governs gets none. */
    const promised = (moved: readonly MovedBootstrap[], governs: readonly string[]) =>
      views.map((view) => {
        const told = moved.find(({ projectId }) => projectId === view.projectId);
        const gains = (told?.gains ?? []).filter((email) => email !== zoe && !governs.includes(email));
        const kept = holdersIn(policyOf(view)).filter((email) => !told?.loses.includes(email));
        return [...new Set([...kept, ...gains])].sort();
      });
    const preview = async <T>(...args: string[]): Promise<T> => {
      const { stdout, stderr, exitCode } = await runAt(['team', ...args, '--dry-run', '--json'], aliceAt);
      expect(exitCode, stderr).to.equal(0);
      return (JSON.parse(stdout) as { preview: T }).preview;
    };
    const accessOf = async (email: string) =>
      Promise.all(views.map(async ({ id }) => (await statusOf(email, 'GET', `/bootstraps/${id}`)) === 200));

    const migrate = ['migrate', String(moving), '--organization', organizationId, '--force'];
    const into = (await preview<MigrationPreview>(...migrate)).bootstraps ?? [];
    expect(into.map(({ gains, loses }) => [gains, loses])).to.have.deep.members([
      [[erin], [carol, zoe]],
      [[erin], [carol, zoe]],
    ]);
    expect(Number(into.find(({ projectId }) => projectId === owned.projectId)?.costAnHour)).to.be.above(0);
    const wanted = promised(into, [erin]);
    const moved = await runAt(['team', ...migrate, '--yes'], aliceAt);
    expect(moved.exitCode, moved.stderr).to.equal(0);
    expect(`${moved.stdout}${moved.stderr}`)
      .to.contain(`owned (${owned.projectId}), `)
      .and.to.contain(`lose: ${carol}`);
    await life.swept();
    expect(views.map((view) => holdersIn(policyOf(view)))).to.deep.equal(wanted);
    expect(await Promise.all([bob, carol, erin].map(accessOf))).to.deep.equal([
      [true, true],
      [false, false],
      [true, true],
    ]);

    // Whatever happens in between: one comes, one leaves.
    expect(await statusOf(alice, 'POST', `/teams/${moving}/members`, { email: dave })).to.equal(201);
    expect(await statusOf(bob, 'DELETE', `/teams/${moving}/members/${bob}`)).to.equal(204);
    await life.swept();
    const out = (await preview<UndoPreview>('undo', String(moving))).bootstraps ?? [];
    const told = views.map(({ projectId }) => out.find((each) => each.projectId === projectId));
    expect(told.map((each) => [each?.shared, each?.gains, each?.loses])).to.deep.equal([
      // Another team shows Dave this one.
      [false, [bob, carol, zoe], [erin]],
      [true, [bob, carol, zoe], [dave, erin]],
    ]);
    const wantedAgain = promised(out, []);
    const undone = await runAt(['team', 'undo', String(moving), '--yes'], aliceAt);
    expect(undone.exitCode, undone.stderr).to.equal(0);
    expect(undone.stderr).to.contain(`gain: ${bob}, ${carol}, ${zoe}`).and.to.contain(`lose: ${dave}, ${erin}`);
    await life.swept();
    expect(views.map((view) => holdersIn(policyOf(view)))).to.deep.equal(wantedAgain);
    expect(views.map(policyOf), 'as before the migration, role by role').to.deep.equal(first);
    expect(await Promise.all([bob, dave, erin].map(accessOf))).to.deep.equal([
      [true, true],
      [true, false],
      [false, false],
    ]);
  });
});
