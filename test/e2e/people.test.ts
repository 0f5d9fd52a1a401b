/** Whose a project is and who else works in it: shared, taken back, given away; over HTTP, at the command line, and in the cloud. */
import { expect } from 'chai';
import { findProofKey, isProof, ownerLabel } from '../../functions/engine/proof.js';
import type { Document } from '../../functions/store/store.js';
import { local } from '../../local/stack/deployment.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { collections, countersId, functionNames, labels } from '../../shared/names.js';
import { type Life, lifeOf } from '../support/life.js';
import { peopleOf } from '../support/people.js';
import { runAt } from '../support/plinth-here.js';
import { type Caller, makeScene, type Scene, succeeded } from '../support/scene.js';

const [alice, bob, carol] = ['alice', 'bob', 'carol'].map((name) => `${name}@${local.domain}`) as [
  string,
  string,
  string,
];

/** By e-mail, how many living bootstraps are counted for an owner. */
const livingOf = (counts: readonly Document[] = []): Record<string, number> =>
  Object.fromEntries(
    counts.flatMap(({ data: { owner, living } }) => (owner === undefined ? [] : [[String(owner), Number(living)]])),
  );

describe('the people of a project', function () {
  this.timeout(240_000);
  let scene: Scene;
  let life: Life;
  let aliceAt: Caller;
  let bobAt: Caller;
  let view: BootstrapView;

  before(async () => {
    scene = await makeScene();
    life = lifeOf(scene);
    await life.pause();
    aliceAt = await scene.caller(alice);
    bobAt = await scene.caller(bob);
    view = await made('shared');
  });
  after(() => scene?.close());

  const made = async (name: string): Promise<BootstrapView> => succeeded(await (await scene.caller()).bootstrap(name));
  const plinth = (caller: Caller, ...args: string[]) => runAt(['beta', 'bootstrap-cloud', ...args], caller);
  const ask = (email: string, method: string, path: string, body?: object) =>
    peopleOf(scene).ask<never>(email, method, `/bootstraps${path}`, body);
  const statusOf = async (...call: Parameters<typeof ask>) => (await ask(...call)).status;
  /** As a policy names them. */
  const holders = ({ projectId }: BootstrapView, role: string): string[] =>
    peopleOf(scene)
      .holders(projectId, role)
      .map((email) => `user:${email}`);
  const editors = (view: BootstrapView): string[] => holders(view, 'roles/editor');
  const invited = (view: BootstrapView): string[] => holders(view, `projects/${view.projectId}/roles/plinthInvited`);

  it('are those it is shared with: they see it, follow it, extend it, and have the role; nothing more', async () => {
    expect(await statusOf(bob, 'GET', `/${view.id}`)).to.equal(404);
    const { exitCode, stdout, stderr } = await plinth(aliceAt, 'share', 'shared', '--with', 'Bob@example.com');
    expect(exitCode, stderr).to.equal(0);
    expect(stdout).to.contain(`shared with ${bob}`);
    await scene.stack.settle();
    expect(stdout).to.contain('they may').and.to.contain('- start, stop and reset machines');
    expect([editors(view), invited(view)]).to.deep.equal([[`user:${alice}`], [`user:${bob}`]]);
    const again = await ask(alice, 'POST', `/${view.id}/share`, { with: bob });
    expect(again.body as object)
      .to.have.property('invited')
      .that.includes({ role: `projects/${view.projectId}/roles/plinthInvited` });
    const { state, sharedWith } = await scene.view(view.id, bob);
    expect({ state, sharedWith }).to.deep.equal({ state: 'succeeded', sharedWith: [bob] });

    const listed = await plinth(bobAt, 'list');
    expect(listed.stdout).to.match(/shared +shared-\w+ +succeeded.*alice@example\.com/);
    expect((await plinth(bobAt, 'status', 'shared')).stdout).to.contain(bob);
    expect(await statusOf(bob, 'GET', `/${view.id}/events`)).to.equal(200);
    expect(await statusOf(bob, 'GET', `/${view.id}/config`)).to.equal(200);
    expect(await statusOf(bob, 'POST', `/${view.id}/extend`, { ttl: '3h' })).to.equal(200);
    for (const [method, verb, body] of [
      ['POST', 'remove', undefined],
      ['POST', 'cancel', undefined],
      ['GET', 'secrets', undefined],
      ['POST', 'age-identity', undefined],
      ['POST', 'unprotect', undefined],
      ['POST', 'protect', { until: new Date(Date.now() + 3_600_000).toISOString(), reason: 'mine' }],
      ['POST', 'share', { with: carol }],
      ['POST', 'unshare', { with: bob }],
      ['POST', 'transfer', { with: bob }],
    ] as const) {
      expect(await statusOf(bob, method, `/${view.id}/${verb}`, body), verb).to.equal(403);
      expect(await statusOf(carol, method, `/${view.id}/${verb}`, body), verb).to.equal(404);
    }
    const refused = await plinth(bobAt, 'cleanup', 'shared', '--yes');
    expect(refused.exitCode).to.equal(3);
    expect(refused.stderr).to.contain('only its owner and operators');

    // Twice is fine.
    const { events } = (await life.record(view.id)) ?? {};
    expect(await statusOf(alice, 'POST', `/${view.id}/share`, { with: bob })).to.equal(200);
    expect((await life.record(view.id))?.events).to.equal(events);
    expect(await statusOf(alice, 'POST', `/${view.id}/share`, { with: alice })).to.equal(400);
    expect((await plinth(aliceAt, 'share', 'shared', '--with', 'nobody')).exitCode).to.equal(2);

    // Its events say who did it.
    expect(await statusOf(`admin@${local.domain}`, 'POST', `/${view.id}/unshare`, { with: bob })).to.equal(200);
    await scene.stack.settle();
    const stream = String((await ask(alice, 'GET', `/${view.id}/events`)).body);
    expect(stream).to.contain(`"actor":"${alice}","action":"share with ${bob}"`);
    expect(stream).to.contain(`"actor":"admin@${local.domain}","action":"unshare with ${bob}"`);
    await ask(alice, 'POST', `/${view.id}/share`, { with: bob });
    await scene.stack.settle();

    const back = await plinth(aliceAt, 'share', 'shared', '--with', bob, '--remove');
    expect(back.exitCode, back.stderr).to.equal(0);
    await scene.stack.settle();
    expect([editors(view), invited(view)]).to.deep.equal([[`user:${alice}`], []]);
    expect(await statusOf(bob, 'GET', `/${view.id}`)).to.equal(404);
    expect((await plinth(bobAt, 'list')).stdout).to.contain('No bootstraps');
    expect((await scene.view(view.id)).state).to.equal('succeeded');
  });

  it('change their owner, to nobody who may not bootstrap: record, name, counts, labels, proof and role', async () => {
    const refused = await plinth(aliceAt, 'transfer', 'shared', '--with', 'eve@elsewhere.example', '--yes');
    expect(refused.exitCode).to.equal(3);
    expect(refused.stderr).to.contain('may not bootstrap here');
    expect((await scene.view(view.id)).owner).to.equal(alice);
    await ask(alice, 'POST', `/${view.id}/share`, { with: bob });
    // The wait for the last write of a run that lost its lease is scaled here, and the write is not.
    await scene.stack.settle();
    expect(invited(view)).to.deep.equal([`user:${bob}`]);
    const counted = async () =>
      livingOf(await scene.stack.functionsHalf?.store.query({ collection: collections.counters }));
    const before = await counted();
    const { exitCode, stdout, stderr } = await plinth(aliceAt, 'transfer', 'shared', '--with', bob, '--yes');
    expect(exitCode, stderr).to.equal(0);
    expect(stdout).to.contain(`${bob}'s now`);
    await scene.stack.settle();

    const after = await counted();
    expect([after[alice] ?? 0, after[bob]]).to.deep.equal([(before[alice] ?? 0) - 1, (before[bob] ?? 0) + 1]);
    expect([editors(view), invited(view)]).to.deep.equal([[`user:${bob}`], []]);
    const found = life.project(view.projectId)['labels'] as Record<string, string>;
    const context = scene.stack.functionsHalf?.contextOf(functionNames.runCloudStep);
    const key = context === undefined ? '' : ((await findProofKey(context)) ?? '');
    const proven = {
      projectNumber: String(life.project(view.projectId)['projectNumber']),
      bootstrapId: view.id,
      owner: ownerLabel(bob),
      expiry: found[labels.deleteAfter] ?? '',
    };
    expect(found[labels.owner]).to.equal(ownerLabel(bob));
    expect(isProof(key, found[labels.proof], proven)).to.equal(true);
    expect(await statusOf(alice, 'GET', `/${view.id}`)).to.equal(404);
    const { owner, sharedWith } = await scene.view(view.id, bob);
    expect({ owner, sharedWith }).to.deep.equal({ owner: bob, sharedWith: [] });
    // Twice is fine, also by an operator; and it counts where it is when it goes.
    expect(await statusOf(`admin@${local.domain}`, 'POST', `/${view.id}/transfer`, { with: bob })).to.equal(200);
    expect((await plinth(bobAt, 'cleanup', 'shared', '--yes')).exitCode).to.equal(0);
    await scene.stack.settle();
    expect((await scene.view(view.id, bob)).state).to.equal('removed');
    expect((await counted())[bob] ?? 0).to.equal(before[bob] ?? 0);
    expect(await statusOf(bob, 'POST', `/${view.id}/transfer`, { with: alice })).to.equal(409);
  });

  it('survive a race with cleanup: what was answered with 200 stands, or the project is gone', async () => {
    const raced = await made('raced');
    await life.expire(raced.id);
    const [given] = await Promise.all([ask(alice, 'POST', `/${raced.id}/transfer`, { with: bob }), life.cleanup()]);
    await scene.stack.settle();
    await life.cleaned();
    const record = await life.record(raced.id);
    expect(record?.state).to.equal('removed');
    expect(record?.owner).to.equal(given.status === 200 ? bob : alice);
    expect(life.project(raced.projectId)).to.include({ state: 'DELETE_REQUESTED' });
    const counts = await scene.stack.functionsHalf?.store.query({ collection: collections.counters });
    const { data } = counts?.find(({ id }) => id === countersId) ?? {};
    expect(data?.['inAll']).to.equal(Object.values(livingOf(counts)).reduce((sum, each) => sum + each, 0));
  });
});
