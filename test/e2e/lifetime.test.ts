/** The life of a project between its bootstrap and its end: extended, protected, removed at its owner's word. */
import { expect } from 'chai';
import { findProofKey, isProof } from '../../functions/engine/proof.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { functionNames, labels } from '../../shared/names.js';
import { type Life, lifeOf } from '../support/life.js';
import { runAt } from '../support/plinth-here.js';
import { type Caller, makeScene, type Scene, succeeded } from '../support/scene.js';

describe('the life of a project', function () {
  this.timeout(240_000);
  let scene: Scene;
  let life: Life;
  let alice: Caller;

  before(async () => {
    scene = await makeScene();
    life = lifeOf(scene);
    await life.pause();
    alice = await scene.caller();
  });
  after(() => scene?.close());

  const made = async (name: string): Promise<BootstrapView> =>
    succeeded(await (await scene.caller()).bootstrap(name, { 'project-ttl': '1h' }));
  const plinth = (caller: Caller, ...args: string[]) => runAt(['beta', 'bootstrap-cloud', ...args], caller);
  const labelsOf = ({ projectId }: BootstrapView) => life.project(projectId)['labels'] as Record<string, string>;
  const ask = async (view: BootstrapView, verb: string, body: object | undefined, email = 'alice@example.com') => {
    const { idToken } = await scene.stack.tokens(email);
    const reply = await fetch(`${scene.stack.url}/bootstraps/${view.id}/${verb}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${idToken}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: reply.status, body: (await reply.json()) as BootstrapView & { detail?: string } };
  };
  const deadlineIn = (view: BootstrapView) => Number(labelsOf(view)[labels.deleteAfter]?.slice(1)) * 1000;

  it('is extended by its owner or an operator, and is nobody else’s business: record, label and proof move, and cleanup goes by it', async () => {
    const view = await made('extended');
    const { exitCode, stdout, stderr } = await plinth(alice, 'extend', 'extended', '--ttl', '5h');
    expect(exitCode, stderr).to.equal(0);
    expect(stdout).to.contain('extended is removed at');
    await scene.stack.settle();
    const { deadlineAt, state } = await scene.view(view.id);
    expect(state).to.equal('succeeded');
    expect(Date.parse(deadlineAt) - Date.now()).to.be.within(4.9 * 3_600_000, 5 * 3_600_000);
    expect(deadlineIn(view)).to.be.closeTo(Date.parse(deadlineAt), 1000);
    const context = scene.stack.functionsHalf?.contextOf(functionNames.runCloudStep);
    const found = labelsOf(view);
    const proven = {
      projectNumber: String(life.project(view.projectId)['projectNumber']),
      bootstrapId: view.id,
      owner: found[labels.owner] ?? '',
      expiry: found[labels.deleteAfter] ?? '',
    };
    const key = context === undefined ? undefined : await findProofKey(context);
    expect(isProof(key ?? '', found[labels.proof], proven)).to.equal(true);
    // Never to an earlier time.
    const { body } = await ask(view, 'extend', { ttl: '10m' });
    expect(body.deadlineAt).to.equal(deadlineAt);

    for (const [verb, asked] of [
      ['extend', { ttl: '2h' }],
      ['protect', { until: new Date(Date.now() + 3_600_000).toISOString(), reason: 'mine' }],
      ['unprotect', undefined],
      ['remove', undefined],
    ] as const) {
      expect((await ask(view, verb, asked, 'bob@example.com')).status, verb).to.equal(404);
    }
    expect((await ask(view, 'extend', { ttl: '2h' }, 'admin@example.com')).status).to.equal(200);
    for (const ttl of ['', 'soon', '0h', '-1h']) expect((await ask(view, 'extend', { ttl })).status, ttl).to.equal(400);
  });

  it('wins against cleanup when its extension was answered with 200', async () => {
    let view = await made('race-0');
    for (let round = 0; round < 5; round++) {
      await life.expire(view.id);
      const [extended] = await Promise.all([ask(view, 'extend', { ttl: '2h' }), life.cleanup(), life.cleanup()]);
      await scene.stack.settle();
      const { state } = life.project(view.projectId);
      const now = await scene.view(view.id);
      expect(extended.status).to.be.oneOf([200, 409]);
      expect(state, `${round}`).to.equal(extended.status === 200 ? 'ACTIVE' : 'DELETE_REQUESTED');
      expect(now.state).to.equal(extended.status === 200 ? 'succeeded' : 'removed');
      if (extended.status === 409 && round < 4) view = await made(`race-${round + 1}`);
    }
  });

  it('is protected with a reason that is shown and labelled until that is taken away, and then ends at the word of its owner, who is asked first', async () => {
    const view = await made('protected');
    expect((await plinth(alice, 'protect', 'protected', '--until', '2d')).stderr).to.contain('--reason');
    const protection = await plinth(alice, 'protect', 'protected', '--until', '2d', '--reason', 'Debugging: storage');
    expect(protection.exitCode, protection.stderr).to.equal(0);
    await scene.stack.settle();
    expect(labelsOf(view)).to.include({ [labels.protectedReason]: 'debugging__storage' });
    expect(labelsOf(view)).to.have.property(labels.protectedUntil);
    expect((await plinth(alice, 'status', 'protected')).stdout).to.contain('Debugging: storage');
    await life.change(view.id, {
      deadlineAt: new Date(Date.now() - 1000).toISOString(),
      removeAt: new Date(0).toISOString(),
    });
    const { remove, keep } = await life.cleanup();
    expect(remove).to.deep.equal([]);
    expect(keep[0]?.why).to.contain('Debugging: storage');
    expect((await ask(view, 'remove', undefined)).status).to.equal(409);
    expect((await plinth(alice, 'unprotect', 'protected')).exitCode).to.equal(0);
    await scene.stack.settle();
    expect(labelsOf(view)).not.to.have.any.keys(labels.protectedUntil, labels.protectedReason);
    // What cleanup would remove now ends at the word of its owner.
    expect((await life.cleanup(true)).remove).to.have.length(1);
    const unasked = await plinth(alice, 'cleanup', 'protected');
    expect(unasked.exitCode).to.equal(2);
    expect(unasked.stderr).to.contain('--yes');
    const dry = await plinth(alice, 'cleanup', 'protected', '--dry-run');
    expect(dry.stdout).to.contain(view.projectId);
    expect((await scene.view(view.id)).state).to.equal('succeeded');
    const { exitCode, stderr } = await plinth(alice, 'cleanup', 'protected', '--yes');
    expect(exitCode, stderr).to.equal(0);
    await scene.stack.settle();
    expect((await scene.view(view.id)).state).to.equal('removed');
    expect(life.project(view.projectId)).to.include({ state: 'DELETE_REQUESTED' });
    expect((await ask(view, 'extend', { ttl: '1h' })).status).to.equal(409);
  });

  it('is left alone when it cannot end, with the reason shown, and ends when an operator asks', async () => {
    const view = await made('stuck');
    const liens = scene.cloud.world.table<Record<string, unknown>>('liens');
    liens['liens/p2'] = {
      name: 'liens/p2',
      parent: `projects/${String(life.project(view.projectId)['projectNumber'])}`,
      restrictions: ['resourcemanager.projects.delete'],
      reason: 'audit under way',
      origin: 'audit',
      createTime: new Date().toISOString(),
    };
    await life.expire(view.id);
    for (let tries = 1; tries <= 3; tries++) {
      await life.change(view.id, { removeAt: new Date(Date.now() - 1000).toISOString() });
      await life.cleaned();
    }
    for (const [caller, ...args] of [[alice], [await scene.caller('admin@example.com'), '--all']] as const) {
      const { stdout } = await plinth(caller, 'list', ...args);
      expect(stdout)
        .to.match(/stuck +stuck-\w+ +removal-failed +\w+ +left alone +[~<]\d/)
        .and.match(/Could not be removed\n +stuck .*audit under way/);
    }
    expect((await plinth(alice, 'status', 'stuck')).stdout)
      .to.match(/Removal .*failed 3 times in a row; left alone since/)
      .and.match(/Why not .*audit under way/);

    delete liens['liens/p2'];
    const operator = await scene.caller('admin@example.com');
    const { exitCode, stderr } = await plinth(operator, 'cleanup', 'stuck', '--yes');
    expect(exitCode, stderr).to.equal(0);
    await scene.stack.settle();
    expect((await scene.view(view.id)).state).to.equal('removed');
    expect(life.project(view.projectId)).to.include({ state: 'DELETE_REQUESTED' });
    // What it has cost stands still from then on.
    const { cost } = await scene.view(view.id);
    expect(cost.unknown).to.deep.equal([]);
    expect(cost.untilExpiry).to.equal(cost.soFar);
    expect(cost.perHour).to.equal(0);
  });
});
