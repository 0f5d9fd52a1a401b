/** Projects and machines that no record or plan holds: found each hour, told once, and what an operator does about them. */
import { expect } from 'chai';
import { put } from '../../local/cloud/compute/of-project.js';
import type { ProjectRecord } from '../../local/cloud/kernel/api.js';
import { functionAccount, local, people } from '../../local/stack/deployment.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { collections, functionNames, labels } from '../../shared/names.js';
import type { Team } from '../../shared/organization/team.js';
import { projectOf } from '../cleanup/expired.js';
import { type Life, lifeOf } from '../support/life.js';
import { peopleOf } from '../support/people.js';
import { runAt } from '../support/plinth-here.js';
import { type Caller, makeScene, type Outcome, outcomeOf, type Scene, succeeded } from '../support/scene.js';
import { type Receiver, startReceiver } from '../support/webhook-receiver.js';

describe('what no record or plan holds', function () {
  this.timeout(240_000);
  let receiver: Receiver;
  let scene: Scene;
  let life: Life;
  let alice: Caller;
  let operator: Caller;
  /** Has its record. */
  let kept: BootstrapView;
  /** Have lost theirs. */
  let first: BootstrapView;
  let second: BootstrapView;

  before(async () => {
    receiver = await startReceiver();
    scene = await makeScene({ webhookUrl: receiver.url });
    life = lifeOf(scene);
    await life.pause();
    alice = await scene.caller();
    operator = await scene.caller(people.admin);
    kept = await made('kept');
    first = await made('first');
    second = await made('second');
    for (const view of [first, second]) await lose(view);
  });
  after(async () => {
    await scene?.close();
    await receiver?.close();
  });

  const half = () => {
    const found = scene.stack.functionsHalf;
    if (found === undefined) throw new Error('the functions run elsewhere');
    return found;
  };
  const made = async (name: string): Promise<BootstrapView> =>
    succeeded(await alice.bootstrap(name, { 'project-ttl': '1d' }));
  /** As after a loss of documents. The claim on the name goes, too. */
  async function lose(view: BootstrapView): Promise<void> {
    const { store } = half();
    const claims = await store.query({ collection: collections.names, where: [['bootstrapId', '==', view.id]] });
    await store.commit([
      { kind: 'delete', collection: collections.bootstraps, id: view.id },
      ...claims.map(({ collection, id }) => ({ kind: 'delete', collection, id }) as const),
    ]);
  }
  const cleanup = async (caller: Caller, ...args: string[]): Promise<Outcome> =>
    outcomeOf(await runAt(['beta', 'cleanup', ...args, '--json'], caller));
  /** An hour later: the next run of cleanup searches again. */
  async function hour(): Promise<void> {
    const { store } = half();
    const place = { collection: collections.passes, id: 'unknown-projects' };
    if ((await store.get(place.collection, place.id)) !== undefined) {
      await store.commit([{ kind: 'update', ...place, data: { at: new Date(Date.now() - 3_700_000).toISOString() } }]);
    }
    await life.cleaned();
  }
  /** Those that wait, and those that sweep has sent meanwhile: the same message is the same text. */
  const notices = async (): Promise<{ type: string; data: Record<string, unknown> }[]> => {
    const waiting = await half().store.query({ collection: collections.notices });
    const bodies = new Set([
      ...waiting.map(({ data }) => String(data['body'])),
      ...receiver.received.map(({ text }) => text),
    ]);
    return [...bodies].map((body) => JSON.parse(body));
  };
  const told = async (type: string, projectId: string) =>
    (await notices()).filter((each) => each.type === type && each.data['projectId'] === projectId);
  const logged = (text: string) => scene.stack.logs.filter((line) => line.includes(text));
  /** Projects that bear the labels of this deployment, and that no record knows. */
  function addUnknown(ids: readonly string[]): readonly string[] {
    const projects = scene.cloud.world.table<ProjectRecord>('projects');
    const own = life.project(kept.projectId) as unknown as ProjectRecord;
    for (const projectId of ids) {
      added += 1;
      const found = { ...own.labels, [labels.bootstrap]: `b0000000000000${String(added).padStart(3, '0')}` };
      const number = String(900_000_000_000 + added);
      projects[projectId] = projectOf(projectId, number, { parent: local.folder, labels: found, active: true });
    }
    return ids;
  }
  let added = 0;
  function removeUnknown(ids: readonly string[]): void {
    const projects = scene.cloud.world.table<ProjectRecord>('projects');
    for (const projectId of ids) delete projects[projectId];
  }
  const stateOf = ({ projectId }: BootstrapView) => String(life.project(projectId)['state']);

  it('a project without a record is told once to operators, by one search an hour', async () => {
    const lost = first;
    const since = scene.cloud.calls.last();
    await hour();
    const own = scene.cloud.calls
      .list({ since })
      .filter(({ caller }) => caller === functionAccount(functionNames.cleanup));
    // One is that of cleanup itself, by its own parent.
    expect(own.filter(({ method }) => method === 'cloudresourcemanager.projects.search')).to.have.length(2);
    expect(own.filter(({ method }) => method === 'compute.instances.aggregatedList')).to.have.length(1);
    const [notice, ...more] = await told('project.unknown', lost.projectId);
    expect(more).to.deep.equal([]);
    // Its owner has another bootstrap, so the label names them.
    expect(notice?.data).to.include({ owner: people.alice, projectNumber: lost.projectNumber, parent: local.folder });
    const line = `The project ${lost.projectId} bears the labels of this deployment, and no record knows it`;
    expect(logged(line)).to.have.length(1);
    await hour();
    const before = scene.cloud.calls.last();
    await life.cleaned();
    expect(scene.cloud.calls.list({ since: before, method: 'compute.instances.aggregatedList' })).to.deep.equal([]);
    expect(await told('project.unknown', lost.projectId)).to.have.length(1);
    expect(logged(line)).to.have.length(1);
    expect(await told('project.unknown', kept.projectId)).to.deep.equal([]);
  });

  it('a machine that the plan does not hold is told once to its owner, until it is gone', async () => {
    const view = kept;
    const table = scene.cloud.world.table<Record<string, unknown>>('compute.instances');
    const path = `projects/${view.projectId}/zones/${view.zone}/instances/`;
    const standing = table[`${path}k0s-1`] as { resource: Record<string, unknown> };
    put(table, `${path}my-own`, { ...standing, resource: { ...standing.resource, name: 'my-own', id: '4711' } });
    await hour();
    const { unplanned } = await scene.view(view.id);
    expect(unplanned?.map(({ name, zone }) => [name, zone])).to.deep.equal([['my-own', view.zone]]);
    const status = await alice.plinth('status', 'kept');
    expect(status.stdout).to.contain('my-own');
    const followed = await alice.plinth('status', 'kept', '--follow');
    expect(followed.stderr).to.contain('machines that plinth did not make').and.to.contain('my-own');
    await hour();
    expect(await told('bootstrap.unplanned-machines', view.projectId)).to.have.length(1);
    expect(logged(`The project ${view.projectId} has machines that no plan holds`)).to.have.length(1);
    delete table[`${path}my-own`];
    await hour();
    expect((await scene.view(view.id)).unplanned).to.equal(undefined);
  });

  it('a project without a record is told although what a ceiling limits cannot be looked at', async () => {
    const { body } = await peopleOf(scene).ask<Team>(people.alice, 'POST', '/teams', { name: 'platform' });
    const teamId = String(body.teamId);
    const view = succeeded(await alice.bootstrap('of-a-team', { 'project-ttl': '1d', team: teamId }));
    const [lost = ''] = addUnknown(['beside-a-team']);
    // A release that is gone wrote what this one can't read.
    const written = (schema: number) =>
      half().store.commit([{ kind: 'update', collection: collections.teams, id: teamId, data: { schema } }]);
    await written(99);
    await hour();
    await written(1);
    expect(await told('project.unknown', lost)).to.have.length(1);
    removeUnknown([lost]);
    expect(logged(`What ${view.id} costs could not be found out`)).to.have.length(1);
  });

  const attacks: readonly [string, (view: BootstrapView) => void, RegExp][] = [
    [
      'a stranger’s project with forged labels, beneath another parent',
      (view) => {
        Object.assign(life.project(view.projectId), { parent: local.otherFolder });
      },
      /lies in folders\//,
    ],
    [
      'a project that bears the labels of another',
      (view) => {
        Object.assign(life.project(view.projectId), {
          labels: { ...(life.project(first.projectId)['labels'] as object) },
        });
      },
      /does not prove/,
    ],
    [
      'a project whose proof was written by hand',
      (view) => {
        (life.project(view.projectId)['labels'] as Record<string, string>)[labels.proof] = `p${'0'.repeat(60)}`;
      },
      /does not prove/,
    ],
    [
      'a project of another deployment',
      (view) => {
        (life.project(view.projectId)['labels'] as Record<string, string>)[labels.deployment] = 'other';
      },
      /another deployment/,
    ],
    [
      'a project that its labels protect',
      (view) => {
        const until = `t${Math.floor(Date.now() / 1000) + 3600}`;
        (life.project(view.projectId)['labels'] as Record<string, string>)[labels.protectedUntil] = until;
      },
      /protected until/,
    ],
  ];
  for (const [what, arrange, why] of attacks) {
    it(`neither takes in nor removes ${what}`, async () => {
      const view = second;
      const { parent, labels: borne } = life.project(view.projectId);
      Object.assign(life.project(view.projectId), { labels: { ...(borne as object) } });
      arrange(view);
      for (const args of [
        ['remove', view.projectId, '--yes'],
        ['remove', view.projectId, '--dry-run'],
        ['take-in', view.projectId, '--with', people.alice, '--ttl', '4h'],
      ]) {
        const refused = await cleanup(operator, ...args);
        expect([refused.exitCode, refused.result.problem?.code], args.join(' ')).to.deep.equal([5, 'conflict']);
        expect(refused.result.problem?.detail).to.match(why);
      }
      expect(stateOf(view)).to.equal('ACTIVE');
      expect(await life.record(view.id)).to.equal(undefined);
      Object.assign(life.project(view.projectId), { parent, labels: borne });
    });
  }

  it('leaves a project alone that changed between the preview and its removal, or that has a record', async () => {
    const { idToken } = await scene.stack.tokens(people.admin);
    const remove = ({ projectId }: BootstrapView, plan: string) =>
      fetch(`${scene.stack.url}/cleanup/projects/${projectId}/remove?plan=${plan}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${idToken}` },
      });
    expect((await remove(kept, '0'.repeat(64))).status).to.equal(409);
    expect((await remove(second, '0'.repeat(64))).status).to.equal(412);
    expect([kept, second].map(stateOf)).to.deep.equal(['ACTIVE', 'ACTIVE']);
    expect((await cleanup(operator, 'remove', 'no-such-project', '--yes')).exitCode).to.equal(4);
  });

  it('a label that no document’s id could be hides no other project, and keeps none from going', async () => {
    // Google takes it as a label's value. Firestore refuses it as an id.
    const forged = '__forged__';
    const [own, foreign] = [kept, second];
    const [lost = ''] = addUnknown(['beside-forged']);
    const borne = [own, foreign].map(({ projectId }) => ({ ...(life.project(projectId)['labels'] as object) }));
    const past = `t${Math.floor(Date.now() / 1000) - 3600}`;
    for (const { projectId } of [own, foreign]) {
      const given = { [labels.bootstrap]: forged, [labels.deleteAfter]: past };
      Object.assign(life.project(projectId)['labels'] as object, given);
    }
    await hour();
    expect(await told('project.unknown', lost)).to.have.length(1);
    removeUnknown([lost]);
    const { failed, keep } = await life.cleanup();
    expect(failed).to.deep.equal([]);
    expect(keep.find(({ projectId }) => projectId === foreign.projectId)?.why).to.contain(forged);
    // The record decides, whatever the label says.
    expect([own, foreign].map(stateOf)).to.deep.equal(['ACTIVE', 'ACTIVE']);
    const refused = await cleanup(operator, 'remove', foreign.projectId, '--yes');
    expect([refused.exitCode, refused.result.problem?.code]).to.deep.equal([5, 'conflict']);
    for (const [i, { projectId }] of [own, foreign].entries()) {
      Object.assign(life.project(projectId), { labels: borne[i] });
    }
  });

  it('more than an hour can look at are told an hour later, each once', async () => {
    const ids = addUnknown(Array.from({ length: 110 }, (_, i) => `many-${String(i).padStart(5, '0')}`));
    await hour();
    await hour();
    const counts = await Promise.all(ids.map(async (projectId) => (await told('project.unknown', projectId)).length));
    removeUnknown(ids);
    expect(counts).to.deep.equal(ids.map(() => 1));
  });

  it('is taken in by an operator: an owner and an end, in the records and in the labels', async () => {
    const view = first;
    const args = ['take-in', view.projectId, '--with', people.alice, '--ttl', '5h'] as const;
    expect((await cleanup(alice, ...args)).exitCode).to.equal(3);
    const dry = await cleanup(operator, ...args, '--dry-run');
    expect([dry.exitCode, dry.result['dryRun']]).to.deep.equal([0, true]);
    expect(await life.record(view.id)).to.equal(undefined);
    const bad = await cleanup(operator, 'take-in', view.projectId, '--with', people.alice, '--ttl', 'soon');
    expect(bad.exitCode).to.equal(2);
    const taken = await cleanup(operator, ...args);
    expect(taken.exitCode, taken.stderr).to.equal(0);
    await scene.stack.settle();
    const now = await scene.view(view.id);
    expect(now).to.include({ owner: people.alice, projectId: view.projectId, state: 'cancelled' });
    expect(Date.parse(now.deadlineAt) - Date.now()).to.be.within(4.9 * 3_600_000, 5 * 3_600_000);
    const bears = life.project(view.projectId)['labels'] as Record<string, string>;
    expect(Number(bears[labels.deleteAfter]?.slice(1)) * 1000).to.be.closeTo(Date.parse(now.deadlineAt), 1000);
    // Twice is refused, and so is going on with what nobody knows.
    expect((await cleanup(operator, ...args)).exitCode).to.equal(5);
    const restart = await runAt(['beta', 'bootstrap-cloud', 'restart-vms', view.projectId], alice);
    expect(restart.exitCode, restart.stderr).to.equal(5);
    expect(
      (await runAt(['beta', 'bootstrap-cloud', 'extend', view.projectId, '--ttl', '6h'], alice)).exitCode,
    ).to.equal(0);
    await scene.stack.settle();
    // Its end comes, and cleanup removes it.
    await life.expire(view.id);
    Object.assign(life.project(view.projectId), { labels: await life.lateLabels(view) });
    await life.cleaned();
    expect(stateOf(view)).to.equal('DELETE_REQUESTED');
    expect((await scene.view(view.id)).state).to.equal('removed');
  });

  it('is removed by an operator after its preview, though its time is not over', async () => {
    const view = second;
    expect((await cleanup(alice, 'remove', view.projectId, '--yes')).exitCode).to.equal(3);
    expect((await cleanup(operator, 'remove', view.projectId)).exitCode).to.equal(2);
    const dry = await cleanup(operator, 'remove', view.projectId, '--dry-run');
    expect(JSON.stringify(dry.result['remove'])).to.contain(view.projectId);
    expect(stateOf(view)).to.equal('ACTIVE');
    const gone = await cleanup(operator, 'remove', view.projectId, '--yes');
    expect(gone.exitCode, gone.stderr).to.equal(0);
    await scene.stack.settle();
    expect(stateOf(view)).to.equal('DELETE_REQUESTED');
  });
});
