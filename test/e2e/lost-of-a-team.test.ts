/** A bootstrap of a team whose record is lost: whose it is once it is in the records again, and what the team is counted for. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { homeOf } from '../../local/demo/plinth-process.js';
import { local, people as stackPeople } from '../../local/stack/deployment.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import type { BeginReply } from '../../shared/bootstrap/routes.js';
import { collections } from '../../shared/names.js';
import type { Team } from '../../shared/organization/team.js';
import type { ProblemBody } from '../../shared/problems.js';
import { type Life, lifeOf } from '../support/life.js';
import { type People, peopleOf } from '../support/people.js';
import { runAt } from '../support/plinth-here.js';
import { type Caller, clientSecret, domainOf, makeScene, outcomeOf, type Scene, succeeded } from '../support/scene.js';

const { alice, admin } = stackPeople;
const bob = `bob@${local.domain}`;

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
  const takeIn = ({ projectId }: BootstrapView) => cleanup('take-in', projectId, '--with', alice, '--ttl', '5h');
  /** As `--recover-config` asks once it has the files. */
  const takeUp = (view: BootstrapView) =>
    people.ask<BeginReply & ProblemBody>(alice, 'POST', '/bootstraps', {
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
    });
  const namesOf = async (team: number) =>
    (await people.ask<BootstrapView[]>(bob, 'GET', `/bootstraps?team=${team}`)).body.map(({ name }) => name);
  const living = (team: number, most: number) =>
    people.statusOf(alice, 'PUT', `/teams/${team}/ceilings`, { living: most });
  const begins = async (name: string, team: number) =>
    (await caller.bootstrap(name, { 'project-ttl': '1d', team: String(team), 'dry-run': true })).exitCode;
  async function remove(view: BootstrapView): Promise<void> {
    expect(await people.statusOf(alice, 'POST', `/bootstraps/${view.id}/remove`)).to.equal(200);
    await scene.stack.settle();
    expect((await scene.view(view.id)).state).to.equal('removed');
  }
  const deleted = (team: number) => people.statusOf(alice, 'DELETE', `/teams/${team}`);

  for (const [i, claim] of (['with its claim', 'without its claim'] as const).entries()) {
    it(`is the team’s again once its owner takes it up, and counts once, lost ${claim}`, async () => {
      const team = await makeTeam();
      const view = await made(`up-${i}`, team);
      await lose(view, claim);
      const { status, body } = await takeUp(view);
      expect(status, JSON.stringify(body)).to.equal(200);
      await scene.stack.settle();
      expect(body.bootstrap).to.include({ id: view.id, team });
      expect(await namesOf(team)).to.deep.equal([view.name]);
      expect(await living(team, 1)).to.equal(200);
      expect(await begins('up-more', team), 'it counts').to.not.equal(0);
      expect(await living(team, 2)).to.equal(200);
      expect(await begins('up-more', team), 'and counts once').to.equal(0);
      expect(await deleted(team)).to.equal(409);
      await remove(view);
      expect(await living(team, 1)).to.equal(200);
      expect(await begins('up-more', team), 'until it is removed').to.equal(0);
      expect(await deleted(team)).to.equal(200);
    });

    it(`is the team’s again once an operator takes it in, and counts once, lost ${claim}`, async () => {
      const team = await makeTeam();
      const view = await made(`in-${i}`, team);
      await lose(view, claim);
      const taken = await takeIn(view);
      expect(taken.exitCode, taken.stderr).to.equal(0);
      await scene.stack.settle();
      expect((await scene.view(view.id)).team).to.equal(team);
      expect(await namesOf(team)).to.have.length(1);
      expect(await living(team, 1)).to.equal(200);
      expect(await begins('in-more', team), 'it counts').to.not.equal(0);
      expect(await deleted(team)).to.equal(409);
      await remove(view);
      expect(await begins('in-more', team), 'until it is removed').to.equal(0);
      expect(await deleted(team)).to.equal(200);
    });
  }

  it('no longer counts for the team once it is removed by its id', async () => {
    const team = await makeTeam();
    const view = await made('by-id', team);
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
