/** The pages of leaked keys: what is changed afterwards, and what the old key is then worth. */
import { expect } from 'chai';
import { findOwnKey } from '../../functions/host/deployment-keys.js';
import { functionUrl, invokers, local, people } from '../../local/stack/deployment.js';
import { deploymentSecrets, type FunctionName, functionNames } from '../../shared/names.js';
import { succeeded } from '../support/scene.js';
import { isGenuine, type Receiver, startReceiver } from '../support/webhook-receiver.js';
import { type Desk, openDesk } from './desk.js';

describe('runbooks of leaked keys', function () {
  this.timeout(300_000);
  let receiver: Receiver;
  let desk: Desk;
  before(async () => {
    receiver = await startReceiver();
    desk = await openDesk({ webhookUrl: receiver.url });
  });
  after(async () => {
    await desk?.close();
    await receiver?.close();
  });

  const made = async (name: string) => succeeded(await desk.alice.bootstrap(name));
  const keyring = (name: FunctionName = functionNames.runCloudStep) => {
    const half = desk.scene.stack.functionsHalf;
    if (half === undefined) throw new Error('the functions run elsewhere');
    return half.contextOf(name).cloud;
  };
  const secretsOf = (id: string): string[] =>
    Object.keys(desk.scene.cloud.world.table('secretmanager.secrets')).filter((path) => path.includes(`/${id}-`));

  it('leaked-webhook-key: what is sent afterwards, the old key does not sign', async () => {
    const keyOf = async (version: number): Promise<string> => {
      const path = `/v1/projects/${local.project}/secrets/${deploymentSecrets.webhookKey}/versions/${version}:access`;
      const reply = await fetch(`${desk.scene.cloud.endpoints.secretmanager}${path}`, {
        headers: { authorization: `Bearer ${desk.scene.cloud.identity.accessToken(people.admin)}` },
      });
      const { payload } = (await reply.json()) as { readonly payload: { readonly data: string } };
      return Buffer.from(payload.data, 'base64').toString('utf8');
    };
    const old = await keyOf(1);
    await desk.walk('leaked-webhook-key');
    const { id } = await made('warned');
    const deadlineAt = new Date(Date.now() + 50 * 60_000).toISOString();
    await desk.life.change(id, { deadlineAt, removeAt: deadlineAt, warnAt: new Date(Date.now() - 1000).toISOString() });
    const url = functionUrl(desk.scene.stack.url, functionNames.sweep);
    const token = await desk.scene.cloud.identity.idToken({ email: invokers.scheduler, audience: url });
    await fetch(url, { method: 'POST', headers: { authorization: `Bearer ${token}` } });
    await desk.until('a warning comes', () => receiver.received.length > 0);
    const [got] = receiver.received;
    if (got === undefined) throw new Error('nothing came');
    expect(isGenuine(got, old), 'by the old key').to.equal(false);
    expect(isGenuine(got, await keyOf(2)), 'by the new key').to.equal(true);
  });

  it('leaked-cursor-key: a function that starts anew no longer finds the old one', async () => {
    const before = await findOwnKey(keyring(functionNames.bootstraps), 'cursorKey');
    expect(before).not.to.equal(undefined);
    const { asked } = await desk.walk('leaked-cursor-key');
    expect(await findOwnKey(keyring(functionNames.bootstraps), 'cursorKey')).to.equal(undefined);
    expect(asked.join()).to.contain('/services/api').and.to.contain('/services/bootstraps');
  });
  it('leaked-machine-key: the bootstrap goes, and every secret of it', async () => {
    const { id, projectId } = await made('rooted');
    expect(secretsOf(id)).not.to.deep.equal([]);
    const { said } = await desk.walk('leaked-machine-key', { NAME: projectId });
    expect(said[1]).not.to.contain(id);
    expect(secretsOf(id)).to.deep.equal([]);
  });

  it('leaked-age-identity: the bootstrap goes, and its identity', async () => {
    const { id, projectId } = await made('opened');
    const { said } = await desk.walk('leaked-age-identity', { NAME: projectId });
    expect(said[0]).to.contain(id);
    expect(secretsOf(id)).to.deep.equal([]);
  });

  it('leaked-proof-key: everything goes, and the next bootstrap is proven by another key', async () => {
    const before = await findOwnKey(keyring(), 'proofKey');
    const standing = await made('proven');
    await desk.walk('leaked-proof-key');
    expect((await desk.find('proven')).state).to.equal('removed');
    expect(desk.life.project(standing.projectId)['state']).to.equal('DELETE_REQUESTED');
    succeeded(await desk.alice.bootstrap('proven-anew'));
    const after = await findOwnKey(keyring(), 'proofKey');
    expect(after).to.be.a('string').and.not.to.equal(before);
  });
});
