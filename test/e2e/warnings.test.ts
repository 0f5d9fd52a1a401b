/** A project's time is nearly over: what its owner sees of it at the command line, and what the webhook gets. */
import { expect } from 'chai';
import { functionAccount, functionGrants, local, people } from '../../local/stack/deployment.js';
import { deploymentSecrets, functionNames } from '../../shared/names.js';
import { type Life, lifeOf } from '../support/life.js';
import { runAt } from '../support/plinth-here.js';
import { type Caller, makeScene, type Scene, succeeded } from '../support/scene.js';
import { isGenuine, type Receiver, startReceiver } from '../support/webhook-receiver.js';

describe('a project whose time is nearly over', function () {
  this.timeout(240_000);
  let receiver: Receiver;
  let scene: Scene;
  let life: Life;
  let alice: Caller;

  before(async () => {
    receiver = await startReceiver();
    scene = await makeScene({ webhookUrl: receiver.url });
    life = lifeOf(scene);
    await life.pause();
    alice = await scene.caller();
  });
  after(async () => {
    await scene?.close();
    await receiver?.close();
  });

  async function webhookKey(): Promise<string> {
    const path = `/v1/projects/${local.project}/secrets/${deploymentSecrets.webhookKey}/versions/1:access`;
    const reply = await fetch(`${scene.cloud.endpoints.secretmanager}${path}`, {
      headers: { authorization: `Bearer ${scene.cloud.identity.accessToken(people.admin)}` },
    });
    const { payload } = (await reply.json()) as { payload: { data: string } };
    return Buffer.from(payload.data, 'base64').toString('utf8');
  }
  const plinth = (...args: string[]) => runAt(['beta', 'bootstrap-cloud', ...args], alice);

  it('is told of in status, in the events that are followed and to the webhook; not any more once it is extended', async () => {
    const view = succeeded(await alice.bootstrap('ending', { 'project-ttl': '2h' }));
    expect((await plinth('status', 'ending')).stdout).not.to.contain('Warning');
    const deadlineAt = new Date(Date.now() + 50 * 60_000).toISOString();
    await life.change(view.id, { deadlineAt, removeAt: deadlineAt, warnAt: new Date(Date.now() - 1000).toISOString() });
    await life.swept();
    const { stdout } = await plinth('status', 'ending');
    expect(stdout).to.match(/Warning: The project \S+ of ending .* removed in 50m/);
    expect(stdout).to.contain(`extend ${view.projectId} --ttl`);
    const followed = await plinth('status', 'ending', '--follow');
    expect(followed.stderr).to.contain('removed in 50m').and.to.contain(`extend ${view.projectId} --ttl`);
    const json = (await plinth('status', 'ending', '--follow', '--json')).stdout.trim().split('\n');
    const warnings = json.map((line) => JSON.parse(line)).filter(({ type }) => type === 'warning');
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.include({ removeAt: deadlineAt });

    const [got, ...more] = receiver.received;
    expect(more).to.deep.equal([]);
    if (got === undefined) throw new Error('nothing came');
    expect(isGenuine(got, await webhookKey())).to.equal(true);
    expect(JSON.parse(got.text)).to.have.property('type', 'bootstrap.expiring');

    expect((await plinth('extend', 'ending', '--ttl', '5h')).exitCode).to.equal(0);
    await scene.stack.settle();
    expect((await plinth('status', 'ending')).stdout).not.to.contain('Warning');
    await life.swept();
    expect(receiver.received).to.have.length(1);
    // The key is in no document, event or log.
    const kept = JSON.stringify([
      scene.stack.logs,
      await scene.stack.functionsHalf?.store.query({ collection: 'events' }),
    ]);
    expect(kept).not.to.contain((await webhookKey()).slice('whsec_'.length));
  });

  it('is signed by the one function that is given the key', () => {
    const given = functionGrants.filter(({ on }) => on === 'webhookKey').map(({ name }) => name);
    expect([...new Set(given)]).to.deep.equal([functionNames.sweep]);
    const key = `projects/${local.project}/secrets/${deploymentSecrets.webhookKey}`;
    const proof = `projects/${local.project}/secrets/${deploymentSecrets.proofKey}`;
    const sweeper = { email: functionAccount(functionNames.sweep), kind: 'serviceAccount' } as const;
    const may = (secret: string) => scene.cloud.world.policies.allows(sweeper, 'secretmanager.versions.access', secret);
    expect([may(key), may(proof)]).to.deep.equal([true, false]);
  });
});
