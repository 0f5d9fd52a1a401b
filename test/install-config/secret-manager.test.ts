import { expect } from 'chai';
import type { Compute } from 'google-auth-library';
import { createSecretManager } from '../../functions/cloud/secret-manager.js';
import type { Config } from '../../functions/config.js';
import { createStepSecrets } from '../../functions/engine/run/step-secrets.js';
import { realClock } from '../../functions/host/clock.js';
import { owner, project, type ReadyCloud, readyCloud } from '../local-cloud/ready-cloud.js';
import { type DatacenterFiles, keysAtHand, makeBootstrap } from './made-bootstrap.js';

describe('secrets in Secret Manager', () => {
  let cloud: ReadyCloud;
  let calls: string[];
  before(async function () {
    await keysAtHand.call(this);
    // With time, so that lists are late, as they are at Google's.
    cloud = await readyCloud({ timeFactor: 0.02 });
  });
  after(() => cloud.close());
  beforeEach(() => {
    calls = [];
  });

  /** The steps' secrets as the engine makes them, over the simulated cloud. */
  const storeOf = (bootstrapId: string) => {
    const config = { project, deployment: 'test', endpoints: cloud.endpoints } as unknown as Config;
    const credentials = {
      getRequestHeaders: async () => new Headers({ authorization: `Bearer ${cloud.identity.accessToken(owner)}` }),
    } as unknown as Compute;
    const secretManager = createSecretManager({
      config,
      clock: realClock,
      credentials,
      onCall: (text) => void calls.push(text),
    });
    return createStepSecrets({ cloud: { secretManager } as never, config }, bootstrapId, undefined, () => undefined);
  };

  it('are written once a step, never stand in a file or an output, and make the same files again', async () => {
    const store = storeOf('b1');
    const bootstrap = makeBootstrap({ options: { multiDc: true } }, store);
    const files = await bootstrap.go();
    const writes = () => calls.filter((call) => call.includes(':addVersion →') && !call.includes('→ 404'));
    expect(writes()).to.have.length(4);
    const again = await bootstrap.go();
    expect(writes()).to.have.length(4);
    for (const key of ['dc1', 'dc2']) {
      expect((again[key] as DatacenterFiles).secretsText).to.equal((files[key] as DatacenterFiles).secretsText);
    }

    const { body } = await cloud.call('secretmanager', 'GET /v1/projects/P/secrets');
    const names = (body['secrets'] as { name: string }[]).map(({ name }) => name.split('/').at(-1));
    expect(names.sort()).to.deep.equal(['b1-age-identity', 'b1-machine-key', 'b1-secrets-dc1', 'b1-secrets-dc2']);
    const shown = [...bootstrap.files.values(), JSON.stringify(bootstrap.outputs), ...calls].join('\n');
    for (const { name, file, fields } of (files['dc1'] as DatacenterFiles).secrets.secrets) {
      if (/^(postgresUser|forge1AppClientId|.*PublicKey$)/.test(name)) continue;
      expect(shown, name).not.to.include(fields?.password ?? file?.content.split('\n')[3]);
    }
  });

  it('are not read to look at files that are not there', async () => {
    await makeBootstrap({}, storeOf('b5')).go();
    const reads = calls.filter((call) => call.includes('b5-secrets-dc1') && call.includes(':access'));
    // Three are of the step that makes the secrets. One makes the files, and one looks at them.
    expect(reads).to.have.length(5);
  });

  it('of two steps at once are those of the first that wrote', async () => {
    const store = storeOf('b2');
    await store.write('age-identity', 'first');
    await store.write('age-identity', 'second');
    const version = await store.find('age-identity');
    expect(await store.read('age-identity', version ?? '')).to.equal('first');
    const { body } = await cloud.call('secretmanager', 'GET /v1/projects/P/secrets/b2-age-identity/versions');
    expect(body['versions'], 'a list is late').to.equal(undefined);
  });

  it('take one call to find, whether they are there or not', async () => {
    const store = storeOf('b3');
    expect(await store.find('age-identity')).to.equal(undefined);
    await store.write('age-identity', 'first');
    calls.length = 0;
    expect(await store.find('age-identity')).to.equal('1');
    expect(calls).to.have.length(1);
  });

  for (const verb of ['disable', 'destroy']) {
    it(`are those of the next version when an operator has had to ${verb} the first`, async () => {
      const store = storeOf(`b4-${verb}`);
      for (const payload of ['first', 'second', 'third']) await store.write('age-identity', payload);
      const path = `/v1/projects/P/secrets/b4-${verb}-age-identity/versions`;
      await cloud.call('secretmanager', `POST ${path}/1:${verb}`, {});
      // Lists are late.
      await new Promise((resolve) => setTimeout(resolve, cloud.world.scaled(60)));
      const version = await store.find('age-identity');
      expect(await store.read('age-identity', version ?? '')).to.equal('second');
    });
  }
});
