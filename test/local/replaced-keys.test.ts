/** Keys of the deployment after an operator replaced them: what the functions then read, with Secret Manager's own answers. */
import { expect } from 'chai';
import { findOwnKey, ownKey } from '../../functions/host/deployment-keys.js';
import { local, people } from '../../local/stack/deployment.js';
import { deploymentSecrets, type FunctionName, functionNames } from '../../shared/names.js';
import { makeScene, type Scene } from '../support/scene.js';

describe('a key of the deployment', () => {
  let scene: Scene;
  before(async () => {
    scene = await makeScene();
  });
  after(() => scene?.close());

  const cloudOf = (name: FunctionName) => {
    const half = scene.stack.functionsHalf;
    if (half === undefined) throw new Error('the functions run elsewhere');
    return half.contextOf(name).cloud;
  };

  async function asOperator(key: keyof typeof deploymentSecrets, action: string, body: object = {}): Promise<void> {
    const path = `/v1/projects/${local.project}/secrets/${deploymentSecrets[key]}${action}`;
    const reply = await fetch(scene.cloud.endpoints.secretmanager + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${scene.cloud.identity.accessToken(people.admin)}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
    });
    expect(reply.status, await reply.text()).to.equal(200);
  }

  for (const [key, name] of [
    ['proofKey', functionNames.runCloudStep],
    ['cursorKey', functionNames.bootstraps],
  ] as const) {
    it(`that plinth makes itself is made again once its versions are disabled: ${key}`, async () => {
      const leaked = await ownKey(cloudOf(name), key);
      expect(await findOwnKey(cloudOf(name), key)).to.equal(leaked);
      await asOperator(key, '/versions/1:disable');
      expect(await findOwnKey(cloudOf(name), key)).to.equal(undefined);
      const next = await ownKey(cloudOf(name), key);
      expect(next).not.to.equal(leaked);
      expect(await findOwnKey(cloudOf(name), key)).to.equal(next);
    });
  }

  it('that an operator adds is read beside the one before, until that one is disabled', async () => {
    const { secretManager } = cloudOf(functionNames.sweep);
    const versions = () => secretManager.versions(deploymentSecrets.webhookKey);
    const [first = ''] = await versions();
    await asOperator('webhookKey', ':addVersion', { payload: { data: Buffer.from('another').toString('base64') } });
    const [, second = ''] = await versions();
    expect(await versions()).to.deep.equal([first, second]);
    await asOperator('webhookKey', `/versions/${first}:disable`);
    expect(await versions()).to.deep.equal([second]);
    expect(await secretManager.read(deploymentSecrets.webhookKey, second)).to.equal('another');
  });
});
