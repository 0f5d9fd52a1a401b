/** Bootstraps that belong to a team or are shared with one: who sees them, who decides, and who has roles on the project. */
import { expect } from 'chai';
import { local } from '../../local/stack/deployment.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import type { MigrationPreview, Team } from '../../shared/organization/team.js';
import { type Life, lifeOf } from '../support/life.js';
import { type People, peopleOf } from '../support/people.js';
import { runAt } from '../support/plinth-here.js';
import { type Caller, makeScene, type Scene, succeeded } from '../support/scene.js';

const [alice, bob, carol, dave] = ['alice', 'bob', 'carol', 'dave'].map((name) => `${name}@${local.domain}`) as [
  string,
  string,
  string,
  string,
];
const zoe = 'zoe@example.org';

describe('bootstraps of teams', function () {
  this.timeout(240_000);
  let scene: Scene;
  let life: Life;
  let aliceAt: Caller;
  let bobAt: Caller;

  before(async () => {
    scene = await makeScene();
    life = lifeOf(scene);
    await life.pause();
    aliceAt = await scene.caller(alice);
    bobAt = await scene.caller(bob);
  });
  after(() => scene?.close());

  const plinth = (caller: Caller, ...args: string[]) => runAt(['beta', 'bootstrap-cloud', ...args], caller);
  const ask: People['ask'] = (...asked) => peopleOf(scene).ask(...asked);
  const statusOf: People['statusOf'] = (...asked) => peopleOf(scene).statusOf(...asked);
  async function makeTeam(name: string, ...members: string[]): Promise<number> {
    const { teamId } = (await ask<Team>(alice, 'POST', '/teams', { name })).body;
    for (const email of members) await ask(alice, 'POST', `/teams/${teamId}/members`, { email, role: 'member' });
    return teamId;
  }
  const holders = ({ projectId }: BootstrapView, role: string) => peopleOf(scene).holders(projectId, role);
  const editors = (view: BootstrapView): string[] => holders(view, 'roles/editor');
  const invited = (view: BootstrapView): string[] => holders(view, `projects/${view.projectId}/roles/plinthInvited`);
  const tunnels = (view: BootstrapView): string[] => holders(view, 'roles/iap.tunnelResourceAccessor');
  const made = async (name: string, team?: number): Promise<BootstrapView> =>
    succeeded(await aliceAt.bootstrap(name, team === undefined ? {} : { team: String(team) }));
  const protection = { until: new Date(Date.now() + 3_600_000).toISOString(), reason: 'ours' };

  it('show to members, are changed by admins, and are missing to all others', async () => {
    const team = await makeTeam('platform', bob, zoe);
    await ask(alice, 'POST', `/teams/${team}/members`, { email: dave, role: 'admin' });
    const view = await made('of-a-team', team);
    expect(view.team).to.equal(team);
    const path = `/bootstraps/${view.id}`;

    // Zoe may not bootstrap here: she sees it, and has no role.
    expect([editors(view), invited(view)]).to.deep.equal([[alice], [bob, dave]]);
    for (const member of [bob, dave, zoe]) expect(await statusOf(member, 'GET', path), member).to.equal(200);
    expect((await plinth(bobAt, 'list')).stdout).to.match(new RegExp(`of-a-team .*${alice} +${team}`));
    expect((await plinth(bobAt, 'list', '--team', String(team))).stdout).to.contain(view.projectId);
    expect((await plinth(bobAt, 'status', 'of-a-team')).stdout).to.match(new RegExp(`Team +${team}`));
    expect(await statusOf(carol, 'GET', `/bootstraps?team=${team}`)).to.equal(404);

    const asked = [
      ['POST', '/extend', { ttl: '3h' }],
      ['POST', '/protect', protection],
      ['POST', '/unprotect', undefined],
      ['GET', '/removal', undefined],
    ] as const;
    for (const [method, verb, body] of asked) {
      expect(await statusOf(bob, method, path + verb, body), `member ${verb}`).to.equal(403);
      expect(await statusOf(carol, method, path + verb, body), `stranger ${verb}`).to.equal(404);
      expect(await statusOf(dave, method, path + verb, body), `admin ${verb}`).to.equal(200);
    }
    for (const [method, verb, body] of [
      ['POST', '/cancel', undefined],
      ['GET', '/secrets', undefined],
      ['POST', '/age-identity', undefined],
      ['POST', '/share', { with: carol }],
      ['POST', '/share-with-team', { team }],
    ] as const) {
      expect(await statusOf(dave, method, path + verb, body), `admin ${verb}`).to.equal(403);
      expect(await statusOf(carol, method, path + verb, body), `stranger ${verb}`).to.equal(404);
    }
    expect(await statusOf(bob, 'POST', `${path}/remove`)).to.equal(403);
    const refused = await ask<{ detail: string }>(alice, 'DELETE', `/teams/${team}`);
    expect([refused.status, refused.body.detail]).to.deep.equal([
      409,
      `Team ${team} still owns living bootstraps: of-a-team.`,
    ]);
    expect(await statusOf(dave, 'POST', `${path}/remove`)).to.equal(200);
    await scene.stack.settle();
    expect((await scene.view(view.id)).state).to.equal('removed');
    expect(await statusOf(alice, 'DELETE', `/teams/${team}`)).to.equal(200);
  });

  it('are lost at once by whoever leaves the team, and their roles go with the next run of sweep', async () => {
    const team = await makeTeam('short', bob, carol);
    const view = await made('left', team);
    const path = `/bootstraps/${view.id}`;
    expect(invited(view)).to.deep.equal([bob, carol]);
    expect(await statusOf(bob, 'DELETE', `/teams/${team}/members/${bob}`)).to.equal(204);
    expect(await statusOf(bob, 'GET', path)).to.equal(404);
    expect((await plinth(bobAt, 'list')).stdout).to.not.contain(view.projectId);
    await life.swept();
    expect([editors(view), invited(view)]).to.deep.equal([[alice], [carol]]);

    // Back again, and so is the role.
    await ask(alice, 'POST', `/teams/${team}/members`, { email: bob, role: 'member' });
    expect(await statusOf(bob, 'GET', path)).to.equal(200);
    await life.swept();
    expect(invited(view)).to.deep.equal([bob, carol]);

    // What somebody has by name stays, whatever becomes of the team.
    await ask(alice, 'POST', `${path}/share`, { with: carol });
    await ask(alice, 'DELETE', `/teams/${team}/members/${carol}`);
    await life.swept();
    expect(invited(view)).to.deep.equal([bob, carol]);
    expect(await statusOf(carol, 'GET', path)).to.equal(200);
    await ask(alice, 'POST', `${path}/unshare`, { with: carol });
    await scene.stack.settle();
    expect(invited(view)).to.deep.equal([bob]);
    expect(tunnels(view).filter((each) => each === carol)).to.deep.equal([]);
  });

  it('are lost by the owner who leaves the team, and an admin gives them to another member', async () => {
    const team = await makeTeam('orphaned', carol);
    await ask(alice, 'POST', `/teams/${team}/members`, { email: bob, role: 'admin' });
    const view = await made('ownerless', team);
    const path = `/bootstraps/${view.id}`;
    expect(await statusOf(alice, 'DELETE', `/teams/${team}/members/${alice}`)).to.equal(204);
    expect(await statusOf(alice, 'GET', path)).to.equal(404);
    const again = await aliceAt.bootstrap('ownerless');
    expect([again.exitCode, again.result.problem?.detail]).to.deep.equal([
      5,
      'The project name ownerless is in use by somebody else.',
    ]);
    await life.swept();
    expect([editors(view), invited(view)]).to.deep.equal([[], [bob, carol]]);
    expect(await statusOf(bob, 'POST', `${path}/transfer`, { with: dave })).to.equal(400);
    expect(await statusOf(carol, 'POST', `${path}/transfer`, { with: carol })).to.equal(403);
    expect(await statusOf(bob, 'POST', `${path}/transfer`, { with: carol })).to.equal(200);
    await scene.stack.settle();
    expect([editors(view), invited(view)]).to.deep.equal([[carol], [bob]]);
    expect((await scene.view(view.id, carol)).owner).to.equal(carol);
  });

  it('are shared with a team, and no more', async () => {
    const view = await made('shared-with-a-team');
    const team = await makeTeam('guests', bob);
    const path = `/bootstraps/${view.id}`;
    expect(await statusOf(bob, 'GET', path)).to.equal(404);
    const { exitCode, stdout, stderr } = await plinth(aliceAt, 'share', view.projectId, '--with-team', String(team));
    expect(exitCode, stderr).to.equal(0);
    expect(stdout).to.contain(`shared with team ${team}`);
    await scene.stack.settle();
    expect([editors(view), invited(view)]).to.deep.equal([[alice], [bob]]);
    expect((await scene.view(view.id, bob)).sharedWithTeams).to.deep.equal([team]);
    // Deleted, it shows nothing; taken back, it does.
    expect(await statusOf(alice, 'DELETE', `/teams/${team}`)).to.equal(200);
    expect(await statusOf(bob, 'GET', path)).to.equal(404);
    await life.swept();
    expect([editors(view), invited(view)]).to.deep.equal([[alice], []]);
    expect(await statusOf(alice, 'POST', `/teams/${team}/restore`)).to.equal(200);
    await life.swept();
    expect(invited(view)).to.deep.equal([bob]);
    const back = await plinth(aliceAt, 'share', view.projectId, '--with-team', String(team), '--remove');
    expect(back.exitCode, back.stderr).to.equal(0);
    await scene.stack.settle();
    expect([invited(view), await statusOf(bob, 'GET', path)]).to.deep.equal([[], 404]);
    expect(await statusOf(alice, 'POST', `${path}/share-with-team`, { team: 1 })).to.equal(404);
  });

  it('begin for a team of which the caller is a member, and keep to it', async () => {
    const team = await makeTeam('theirs', carol);
    const stranger = await bobAt.bootstrap('no-member', { team: String(team) });
    expect([stranger.exitCode, stranger.result.problem?.detail]).to.deep.equal([4, `There is no team ${team}.`]);
    const odd = await bobAt.bootstrap('no-member', { team: 'x' });
    expect([odd.exitCode, odd.result.problem?.detail]).to.deep.equal([
      2,
      '--team must be the number of a team, not "x"',
    ]);
    const view = await made('of-no-team');
    const moved = await aliceAt.bootstrap('of-no-team', { team: String(team) });
    expect([moved.exitCode, moved.result.problem?.detail]).to.deep.equal([
      2,
      '--team cannot change: it belongs to no team',
    ]);
    expect((await scene.view(view.id)).team).to.equal(undefined);
  });

  it('move with their team: who loses access by the preview loses the roles, and nobody else', async () => {
    const [own, other] = [await makeTeam('moving', bob, carol, dave), await makeTeam('staying', dave)];
    const [owned, shared] = [await made('moved', own), await made('guest')];
    await ask(alice, 'POST', `/bootstraps/${shared.id}/share-with-team`, { team: own });
    await ask(alice, 'POST', `/bootstraps/${owned.id}/share-with-team`, { team: other });
    const { id: organizationId } = (await ask<{ id: string }>(alice, 'POST', '/organizations', { name: 'goal' })).body;
    await ask(alice, 'POST', `/organizations/${organizationId}/members`, { email: bob, role: 'member' });
    const governor = `erin@${local.domain}`;
    await ask(alice, 'POST', `/organizations/${organizationId}/members`, { email: governor, role: 'admin' });
    await scene.stack.settle();
    const before = [owned, shared].map((view) => ({ invited: invited(view), editors: editors(view) }));

    const preview = await ask<MigrationPreview>(
      alice,
      'GET',
      `/teams/${own}/migration?organizationId=${organizationId}`,
    );
    const { bootstraps = [] } = preview.body;
    const told = [owned, shared].map(({ projectId }) => bootstraps.find((each) => each.projectId === projectId));
    expect(told.map((each) => [each?.shared, each?.gains, each?.loses])).to.deep.equal([
      // Dave keeps what the other team shows him.
      [false, [governor], [carol]],
      [true, [governor], [carol, dave]],
    ]);
    expect(Number(told[0]?.costAnHour)).to.be.above(0);
    const shown = await runAt(
      ['team', 'migrate', String(own), '--organization', organizationId, '--force', '--yes'],
      aliceAt,
    );
    expect(shown.exitCode, shown.stderr).to.equal(0);
    expect(`${shown.stdout}${shown.stderr}`)
      .to.contain(`moved (${owned.projectId}), `)
      .and.to.contain(`lose: ${carol}`);
    await life.swept();
    const after = [owned, shared].map((view) => ({ invited: invited(view), editors: editors(view) }));
    expect(after).to.deep.equal(
      before.map((each, i) => ({
        ...each,
        invited: each.invited.filter((email) => !told[i]?.loses.includes(email)),
      })),
    );
    const seen = async (email: string) =>
      Promise.all([owned, shared].map(({ id }) => statusOf(email, 'GET', `/bootstraps/${id}`)));
    expect(await Promise.all([bob, carol, dave, governor].map(seen))).to.deep.equal([
      [200, 200],
      [404, 404],
      [200, 404],
      [200, 200],
    ]);

    // Undone, the members and their roles are as before.
    expect(await statusOf(alice, 'POST', `/teams/${own}/migrations/latest/undo`)).to.equal(200);
    await life.swept();
    expect([owned, shared].map((view) => ({ invited: invited(view), editors: editors(view) }))).to.deep.equal(before);
  });

  it('sum up by team what others have begun for the caller’s teams', async () => {
    const team = await makeTeam('spenders', bob);
    await made('spent', team);
    const costs = await ask<{ rows: { key: string; bootstraps: number }[] }>(bob, 'GET', '/costs?by=team');
    expect(costs.body.rows.filter(({ key }) => key === String(team)).map(({ bootstraps }) => bootstraps)).to.deep.equal(
      [1],
    );
    expect((await runAt(['costs', '--by', 'team'], bobAt)).stdout).to.match(new RegExp(`${team} +1 `));
  });

  it('sum up by team nothing of a team that the caller is not in, though a bootstrap of it is shared with them', async () => {
    const team = await makeTeam('strangers');
    const view = await made('of-strangers', team);
    expect(await statusOf(alice, 'POST', `/bootstraps/${view.id}/share`, { with: bob })).to.equal(200);
    const costs = await ask<{ rows: { key: string }[] }>(bob, 'GET', '/costs?by=team');
    expect(costs.body.rows.map(({ key }) => key)).not.to.include(String(team));
  });

  it('sum up by team what was removed, also after the members have changed', async () => {
    const team = await makeTeam('passed', bob);
    await made('passed', team);
    expect((await plinth(aliceAt, 'cleanup', 'passed', '--yes')).exitCode).to.equal(0);
    await scene.stack.settle();
    expect(await statusOf(alice, 'POST', `/teams/${team}/members`, { email: dave })).to.equal(201);
    await life.swept();
    const costs = await ask<{ rows: { key: string }[] }>(bob, 'GET', '/costs?by=team');
    expect(costs.body.rows.map(({ key }) => key)).to.include(String(team));
  });
});
