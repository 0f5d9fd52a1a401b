/** Bootstraps that belong to a team or are shared with one: who sees them, who decides, and who has roles on the project. */
import { expect } from 'chai';
import { local } from '../../local/stack/deployment.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import type { Team } from '../../shared/organization/team.js';
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
  let platform: number;
  let ofPlatform: BootstrapView;
  let ofNoTeam: BootstrapView;

  before(async () => {
    scene = await makeScene();
    life = lifeOf(scene);
    await life.pause();
    aliceAt = await scene.caller(alice);
    bobAt = await scene.caller(bob);
    platform = await makeTeam('platform', bob, zoe);
    await ask(alice, 'POST', `/teams/${platform}/members`, { email: dave, role: 'admin' });
    ofPlatform = await made('of-a-team', platform);
    ofNoTeam = await made('of-no-team');
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
    const [team, view] = [platform, ofPlatform];
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
  });

  it('are lost at once by whoever leaves the team, and their roles go with the next run of sweep', async () => {
    const [team, view] = [platform, ofPlatform];
    const path = `/bootstraps/${view.id}`;
    expect(invited(view)).to.deep.equal([bob, dave]);
    expect(await statusOf(bob, 'DELETE', `/teams/${team}/members/${bob}`)).to.equal(204);
    expect(await statusOf(bob, 'GET', path)).to.equal(404);
    expect((await plinth(bobAt, 'list')).stdout).to.not.contain(view.projectId);
    await life.swept();
    expect([editors(view), invited(view)]).to.deep.equal([[alice], [dave]]);

    // Back again, and so is the role.
    await ask(alice, 'POST', `/teams/${team}/members`, { email: bob, role: 'member' });
    expect(await statusOf(bob, 'GET', path)).to.equal(200);
    await life.swept();
    expect(invited(view)).to.deep.equal([bob, dave]);

    // What somebody has by name stays, whatever becomes of the team.
    await ask(alice, 'POST', `${path}/share`, { with: bob });
    await ask(alice, 'DELETE', `/teams/${team}/members/${bob}`);
    await life.swept();
    expect(invited(view)).to.deep.equal([bob, dave]);
    expect(await statusOf(bob, 'GET', path)).to.equal(200);
    await ask(alice, 'POST', `${path}/unshare`, { with: bob });
    await scene.stack.settle();
    expect(invited(view)).to.deep.equal([dave]);
    expect(tunnels(view).filter((each) => each === bob)).to.deep.equal([]);
    await ask(alice, 'POST', `/teams/${team}/members`, { email: bob, role: 'member' });
    await life.swept();
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
    const view = ofNoTeam;
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
    const view = ofNoTeam;
    const moved = await aliceAt.bootstrap('of-no-team', { team: String(team) });
    expect([moved.exitCode, moved.result.problem?.detail]).to.deep.equal([
      2,
      '--team cannot change: it belongs to no team',
    ]);
    expect((await scene.view(view.id)).team).to.equal(undefined);
  });

  it('sum up by team what others have begun for the caller’s teams, and are removed by its admins', async () => {
    const [team, view] = [platform, ofPlatform];
    const costs = await ask<{ rows: { key: string; bootstraps: number }[] }>(bob, 'GET', '/costs?by=team');
    expect(costs.body.rows.filter(({ key }) => key === String(team)).map(({ bootstraps }) => bootstraps)).to.deep.equal(
      [1],
    );
    expect((await runAt(['costs', '--by', 'team'], bobAt)).stdout).to.match(new RegExp(`${team} +1 `));
    expect(await statusOf(dave, 'POST', `/bootstraps/${view.id}/remove`)).to.equal(200);
    await scene.stack.settle();
    expect((await scene.view(view.id)).state).to.equal('removed');
    expect(await statusOf(alice, 'DELETE', `/teams/${team}`)).to.equal(200);
  });
});
