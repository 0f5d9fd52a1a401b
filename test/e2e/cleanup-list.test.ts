/** What an operator sees of cleanup before it runs: the same that the run then does, and all that it leaves alone. */
import { expect } from 'chai';
import { functionAccount, local, people } from '../../local/stack/deployment.js';
import type { CleanupSurvey } from '../../shared/bootstrap/survey.js';
import { collections, functionNames, labels } from '../../shared/names.js';
import { addExpired, expiredId, ownFolder } from '../cleanup/expired.js';
import { type Life, lifeOf } from '../support/life.js';
import { runAt } from '../support/plinth-here.js';
import { type Caller, makeScene, type Scene } from '../support/scene.js';

describe('what cleanup would do', function () {
  this.timeout(240_000);
  let scene: Scene;
  let life: Life;
  let operator: Caller;

  before(async () => {
    scene = await makeScene();
    life = lifeOf(scene);
    await life.pause();
    operator = await scene.caller(people.admin);
    ownFolder(scene.cloud);
  });
  after(() => scene?.close());

  /** A bootstrap that lives for another day. */
  async function living(name: string): Promise<{ readonly id: string; readonly projectId: string }> {
    const [projectId = ''] = await addExpired(scene.stack, name, 1);
    const id = expiredId(name);
    const at = Date.now() + 86_400_000;
    const deadlineAt = new Date(at).toISOString();
    await life.change(id, { deadlineAt, removeAt: deadlineAt });
    (life.project(projectId) as { labels: Record<string, string> }).labels = {
      [labels.managed]: 'true',
      [labels.deployment]: local.deployment,
      [labels.bootstrap]: id,
      [labels.deleteAfter]: `t${Math.floor(at / 1000)}`,
    };
    return { id, projectId };
  }
  const plinth = (caller: Caller, ...args: string[]) => runAt(['beta', 'cleanup', ...args], caller);
  async function listed(): Promise<CleanupSurvey> {
    const { exitCode, stdout, stderr } = await plinth(operator, 'list', '--json');
    expect(exitCode, stderr).to.equal(0);
    return (JSON.parse(stdout) as { cleanup: CleanupSurvey }).cleanup;
  }
  const ids = (found: readonly { readonly projectId: string }[]) => found.map(({ projectId }) => projectId);
  const store = () => {
    const half = scene.stack.functionsHalf;
    if (half === undefined) throw new Error('the functions run elsewhere');
    return half.store;
  };

  it('is nothing where nothing is due, and nobody else’s business', async () => {
    expect((await plinth(operator, 'list')).stdout).to.contain('nothing is amiss');
    const refused = await plinth(await scene.caller(), 'list');
    expect(refused.exitCode).to.equal(3);
    expect(refused.stderr).to.contain('for operators');
    const { idToken } = await scene.stack.tokens(people.alice);
    const reply = await fetch(`${scene.stack.url}/cleanup`, { headers: { authorization: `Bearer ${idToken}` } });
    expect(reply.status).to.equal(403);
  });

  it('is listed as the run does it, with what it keeps, leaves alone and does not know; listing changes nothing', async () => {
    const [late, held, stuck] = [await living('late'), await living('held'), await living('stuck')];
    const [orphan, deleted, vanished] = [await living('orphan'), await living('deleted'), await living('vanished')];
    const live = await living('live');
    await life.expire(late.id);
    await life.expire(held.id);
    const until = new Date(Date.now() + 3_600_000).toISOString();
    await life.change(held.id, { protection: { until, reason: 'a demo', by: people.alice } });
    const at = new Date().toISOString();
    await life.change(stuck.id, {
      state: 'removal-failed',
      removeAt: undefined,
      removal: { requestedAt: at, by: 'cleanup', why: 'expired', failures: 3, quarantinedAt: at },
      problem: { code: 'cloud-conflict', detail: 'There is a lien: audit.' },
    });
    await store().commit([{ kind: 'delete', collection: collections.bootstraps, id: orphan.id }]);
    Object.assign(life.project(deleted.projectId), { state: 'DELETE_REQUESTED', deleteTime: at });
    delete scene.cloud.world.table('projects')[vanished.projectId];

    const since = scene.cloud.calls.last();
    const before = await store().query({ collection: collections.bootstraps });
    const survey = await listed();
    expect(ids(survey.remove)).to.deep.equal([late.projectId]);
    expect(ids(survey.keep)).to.deep.equal([held.projectId]);
    expect(survey.keep[0]?.why).to.contain('a demo');
    expect(ids(survey.quarantined)).to.deep.equal([stuck.projectId]);
    expect(survey.quarantined[0]?.why).to.contain('3 times in a row').and.to.contain('audit');
    expect(ids(survey.withoutRecord)).to.deep.equal([orphan.projectId]);
    expect(survey.withoutRecord[0]?.why).to.contain('no record knows it; its time is over at');
    expect(ids(survey.withoutProject)).to.have.members([deleted.projectId, vanished.projectId]);
    expect(survey.withoutProject.find(({ projectId }) => projectId === deleted.projectId)?.why).to.contain('30 days');
    expect(JSON.stringify(survey)).not.to.contain(live.projectId);
    const { remove, keep } = await life.cleanup(true);
    expect(survey).to.deep.include({ remove, keep, failed: [], more: false });

    const own = functionAccount(functionNames.bootstraps);
    const calls = scene.cloud.calls.list({ since }).filter(({ caller }) => caller === own);
    expect(calls.filter(({ method }) => /delete|update|patch|set|create/i.test(method))).to.deep.equal([]);
    expect(
      calls.filter(({ status, params }) => status === 403 && params['name'] !== `projects/${vanished.projectId}`),
    ).to.deep.equal([]);
    expect(await store().query({ collection: collections.bootstraps })).to.deep.equal(before);

    const { stdout } = await plinth(operator, 'list');
    for (const text of [late.projectId, 'would be removed', 'project without a record', 'schedule pause']) {
      expect(stdout).to.contain(text);
    }
    expect(ids((await life.cleaned()).remove)).to.deep.equal(ids(survey.remove));
    expect(ids((await listed()).remove)).to.deep.equal([]);
    expect(life.project(live.projectId)).to.include({ state: 'ACTIVE' });
  });

  it('shows what a run has kept, also until it is looked at again', async () => {
    const [projectId = ''] = await addExpired(scene.stack, 'kept', 1, '42');
    const { keep } = await life.cleaned();
    expect(ids(keep)).to.include(projectId);
    expect(ids((await life.cleaned()).keep)).not.to.include(projectId);
    const shown = (await listed()).keep.find((each) => each.projectId === projectId);
    expect(shown?.why).to.contain('the record knows 42');
  });

  it('shows what Google would not show, beside all others, and says so with its exit code', async () => {
    const [dark, orphan] = [await living('dark'), await living('lone')];
    for (const { id } of [dark, orphan]) {
      await store().commit([{ kind: 'delete', collection: collections.bootstraps, id }]);
    }
    const method = 'cloudresourcemanager.projects.get';
    const where = { name: `projects/${dark.projectId}` };
    const fault = scene.cloud.faults.add({ method, where, times: 0, code: 400, status: 'INVALID_ARGUMENT' });
    const { exitCode, stdout, stderr } = await plinth(operator, 'list');
    scene.cloud.faults.remove(fault);
    expect(exitCode).to.equal(6);
    expect(stdout).to.match(new RegExp(`${dark.projectId} +could not be judged`));
    expect(stdout).to.match(new RegExp(`${orphan.projectId} +project without a record`));
    expect(stderr).to.contain('One project could not be judged');
    expect(ids((await listed()).withoutRecord)).to.include.members([dark.projectId, orphan.projectId]);
  });
});
