/** A bootstrap of a team whose record is lost: whose it is once it is in the records again, and what the team is counted for. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { homeOf } from '../../local/demo/plinth-process.js';
import { local, people as stackPeople } from '../../local/stack/deployment.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import type { BeginReply } from '../../shared/bootstrap/routes.js';
import type { UnknownProject } from '../../shared/bootstrap/unknown-project.js';
import { collections, labels } from '../../shared/names.js';
import type { Team } from '../../shared/organization/team.js';
import type { ProblemBody } from '../../shared/problems.js';
import { type Life, lifeOf } from '../support/life.js';
import { type People, peopleOf } from '../support/people.js';
import { runAt } from '../support/plinth-here.js';
import { type Caller, clientSecret, domainOf, makeScene, outcomeOf, type Scene, succeeded } from '../support/scene.js';

const { alice, admin } = stackPeople;
const bob = `bob@${local.domain}`;
/** The deployment sets no limit, so a project ends at most 366 days after its beginning. */
const longestMs = 366 * 86_400_000;

describe('a bootstrap of a team whose record is lost', function () {
  this.timeout(240_000);
  let scene: Scene;
  let life: Life;
  let people: People;
  let caller: Caller;
  let operator: Caller;

  before(async () => {
    scene = await makeScene({ settings: { PLINTH_LIVING_PER_OWNER: '30' } });
    life = lifeOf(scene);
    people = peopleOf(scene);
    await life.pause();
    caller = await scene.caller();
    operator = await scene.caller(admin);
  });
  after(() => scene?.close());

  const store = () => {
    const half = scene.stack.functionsHalf;
    if (half === undefined) throw new Error('the functions run elsewhere');
    return half.store;
  };
  /** Alice and Bob are its admins. */
  async function makeTeam(): Promise<number> {
    const { body } = await people.ask<Team>(alice, 'POST', '/teams', { name: 'platform' });
    expect(
      await people.statusOf(alice, 'POST', `/teams/${body.teamId}/members`, { email: bob, role: 'admin' }),
    ).to.equal(201);
    return body.teamId;
  }
  const made = async (name: string, team?: number): Promise<BootstrapView> =>
    succeeded(
      await caller.bootstrap(name, { 'project-ttl': '1d', team: team === undefined ? undefined : String(team) }),
    );
  /** As after a loss of documents. `claim`: the claim on the name is lost, too. */
  async function lose(view: BootstrapView, claim: 'with its claim' | 'without its claim'): Promise<void> {
    const claims = await store().query({ collection: collections.names, where: [['bootstrapId', '==', view.id]] });
    const gone = claim === 'with its claim' ? claims : [];
    await store().commit([
      { kind: 'delete', collection: collections.bootstraps, id: view.id },
      ...gone.map(({ collection, id }) => ({ kind: 'delete', collection, id }) as const),
    ]);
  }
  const cleanup = async (...args: string[]) => outcomeOf(await runAt(['beta', 'cleanup', ...args, '--json'], operator));
  const takeIn = ({ projectId }: BootstrapView, ...more: string[]) =>
    cleanup('take-in', projectId, '--with', alice, '--ttl', '5h', ...more);
  /** As `--recover-config` asks once it has the files. */
  const takeUp = (view: BootstrapView, as: string = alice, team?: number) =>
    people.ask<BeginReply & ProblemBody>(as, 'POST', '/bootstraps', {
      options: {
        projectName: view.name,
        billingAccount: local.billingAccount,
        baseDomain: domainOf(view.name),
        forge1AppClientId: 'client-id',
        forge1AppClientSecret: clientSecret,
        registryUser: 'somebody',
        projectTtl: '1d',
      },
      sshPublicKey: readFileSync(
        join(homeOf(caller.folder), '.config', 'plinth', 'ssh', 'id_ed25519.pub'),
        'utf8',
      ).trim(),
      takeUp: view.id,
      ...(team !== undefined && { team }),
    });
  const namesOf = async (team: number) =>
    (await people.ask<BootstrapView[]>(bob, 'GET', `/bootstraps?team=${team}`)).body.map(({ name }) => name);
  const living = (team: number, most: number) =>
    people.statusOf(alice, 'PUT', `/teams/${team}/ceilings`, { living: most });
  const begins = async (name: string, team: number) =>
    (await caller.bootstrap(name, { 'project-ttl': '1d', team: String(team), 'dry-run': true })).exitCode;
  /** And keeps the team from being deleted. */
  async function countsOnce(team: number, name: string): Promise<void> {
    expect(await namesOf(team)).to.deep.equal([name]);
    expect(await living(team, 1)).to.equal(200);
    expect(await begins('one-more', team), 'it counts').to.not.equal(0);
    expect(await living(team, 2)).to.equal(200);
    expect(await begins('one-more', team), 'and counts once').to.equal(0);
    expect(await deleted(team)).to.equal(409);
  }
  async function remove(view: BootstrapView): Promise<void> {
    expect(await people.statusOf(alice, 'POST', `/bootstraps/${view.id}/remove`)).to.equal(200);
    await scene.stack.settle();
    expect((await scene.view(view.id)).state).to.equal('removed');
  }
  const deleted = (team: number) => people.statusOf(alice, 'DELETE', `/teams/${team}`);
  const labelsOf = ({ projectId }: BootstrapView) => life.project(projectId)['labels'] as Record<string, string>;

  it('is the team’s again, and counts once, whether its owner takes it up or an operator takes it in, lost with its claim or without it, until it is removed', async () => {
    const team = await makeTeam();
    const view = await made('ours-again', team);
    for (const claim of ['with its claim', 'without its claim'] as const) {
      await lose(view, claim);
      const { status, body } = await takeUp(view);
      expect(status, JSON.stringify(body)).to.equal(200);
      await scene.stack.settle();
      expect(body.bootstrap).to.include({ id: view.id, team });
      await countsOnce(team, view.name);
    }
    for (const claim of ['with its claim', 'without its claim'] as const) {
      await lose(view, claim);
      const dry = await takeIn(view, '--dry-run');
      expect((dry.result['project'] as UnknownProject).team).to.equal(team);
      const taken = await takeIn(view);
      expect(taken.exitCode, taken.stderr).to.equal(0);
      await scene.stack.settle();
      expect((await scene.view(view.id)).team).to.equal(team);
      await countsOnce(team, view.projectId);
    }
    await remove(view);
    expect(await living(team, 1)).to.equal(200);
    expect(await begins('one-more', team), 'until it is removed').to.equal(0);
    expect(await deleted(team)).to.equal(200);
  });

  it('does not keep its team from being deleted where nothing in the records is the team’s', async () => {
    const team = await makeTeam();
    const view = await made('forgotten', team);
    await lose(view, 'with its claim');
    expect(await deleted(team)).to.equal(200);
    const dry = await takeIn(view, '--dry-run');
    expect(dry.result['project']).to.include({ formerTeam: team });
    // The owner is told, and has it.
    const taken = await takeIn(view);
    expect(taken.exitCode, taken.stderr).to.equal(0);
    const now = await scene.view(view.id);
    expect(now.team).to.equal(undefined);
    expect(now.warnings.join()).to.contain(`team ${team}, which is gone`);
    await scene.stack.settle();
    expect(labelsOf(view)).to.not.have.property(labels.team);
  });

  it('is not the team’s of a label that somebody wrote, or took from another project', async () => {
    const [team, other] = [await makeTeam(), await makeTeam()];
    const theirs = await made('theirs', other);
    const view = await made('ours', team);
    const own = labelsOf(view)[labels.team] ?? '';
    for (const forged of [
      labelsOf(theirs)[labels.team] ?? '',
      own.replace(String(team), String(other)),
      `t${other}`,
      `t${other}-${'0'.repeat(40)}`,
    ]) {
      labelsOf(view)[labels.team] = forged;
      await lose(view, 'with its claim');
      const taken = await takeIn(view);
      expect(taken.exitCode, taken.stderr).to.equal(0);
      expect((await scene.view(view.id)).team, forged).to.equal(undefined);
      await scene.stack.settle();
      expect(labelsOf(view), 'what is not so goes').to.not.have.property(labels.team);
    }
    labelsOf(view)[labels.team] = labelsOf(theirs)[labels.team] ?? '';
    await lose(view, 'with its claim');
    const { status, body } = await takeUp(view, alice, other);
    expect([status, body.errors?.[0]?.path]).to.deep.equal([400, '--team']);
    expect((await takeUp(view)).body.bootstrap.team).to.equal(undefined);
    await scene.stack.settle();
    expect(await namesOf(other)).to.deep.equal(['theirs']);
  });

  it('is not kept longer by a protection that somebody wrote into its labels than by one that its owner may ask for', async () => {
    // An editor of the project may write any label, and no proof covers this one. The last is past the year 9999.
    const view = await made('protected');
    for (const forged of ['t4102444800', 't999999999999']) {
      Object.assign(labelsOf(view), { [labels.protectedUntil]: forged, [labels.protectedReason]: 'forged' });
      await lose(view, 'with its claim');
      const { status, body } = await takeUp(view);
      expect(status, JSON.stringify(body)).to.equal(200);
      await scene.stack.settle();
      const { protection } = await scene.view(view.id);
      expect(Date.parse(protection?.until ?? ''), forged).to.be.at.most(Date.now() + longestMs);
    }
  });

  it('is taken up by no owner who has left the team, and none is that plinth has not made', async () => {
    const team = await makeTeam();
    const view = await made('left', team);
    // Nor is what plinth has not made taken up, which would get around a ceiling.
    expect(await living(team, 1)).to.equal(200);
    expect((await takeUp({ ...view, id: 'b0123456789abcde', name: 'never' }, alice, team)).status).to.equal(404);
    expect(await namesOf(team)).to.deep.equal(['left']);
    await lose(view, 'without its claim');
    expect(await people.statusOf(bob, 'DELETE', `/teams/${team}/members/${alice}`)).to.equal(204);
    const { status, body } = await takeUp(view);
    expect([status, body.code], JSON.stringify(body)).to.deep.equal([403, 'forbidden']);
    expect(body.detail).to.contain(`team ${team}`);
    // An operator decides: another owner, or no team.
    const refused = await takeIn(view);
    expect([refused.exitCode, refused.result.problem?.code]).to.deep.equal([5, 'conflict']);
    expect(refused.result.problem?.detail).to.contain(`${alice} is not in team ${team}`);
    expect(await life.record(view.id)).to.equal(undefined);
    const taken = await takeIn(view, '--without-team');
    expect(taken.exitCode, taken.stderr).to.equal(0);
    expect((await scene.view(view.id)).team).to.equal(undefined);
  });

  it('comes into the team that an operator names, as where an earlier release wrote its labels, and no longer counts for it once it is removed by its id', async () => {
    const team = await makeTeam();
    const view = await made('of-before', team);
    delete labelsOf(view)[labels.team];
    await lose(view, 'with its claim');
    expect((await takeIn(view, '--team', '4711')).exitCode).to.equal(4);
    expect((await takeIn(view, '--team', String(team), '--without-team')).exitCode).to.equal(2);
    const taken = await takeIn(view, '--team', String(team));
    expect(taken.exitCode, taken.stderr).to.equal(0);
    await scene.stack.settle();
    expect((await scene.view(view.id)).team).to.equal(team);
    expect(labelsOf(view)[labels.team]).to.match(new RegExp(`^t${team}-[0-9a-f]{40}$`));

    await lose(view, 'with its claim');
    const gone = await cleanup('remove', view.projectId, '--yes');
    expect(gone.exitCode, gone.stderr).to.equal(0);
    await scene.stack.settle();
    expect((await life.record(view.id))?.state).to.equal('removed');
    expect(await living(team, 1)).to.equal(200);
    expect(await begins('by-id-more', team)).to.equal(0);
    expect(await deleted(team)).to.equal(200);
  });
});
