import { createPrivateKey } from 'node:crypto';
import { expect } from 'chai';
import { createKeyMaker } from '../../functions/host/keys.js';
import { realRandom } from '../../functions/host/random.js';
import { makeSecrets } from '../../functions/steps/config/made-secrets.js';
import { findSecret } from '../../shared/install-config/secrets.js';

describe('secrets from the real key maker', () => {
  it('have the sizes they must have, and fit into one secret', async function () {
    this.timeout(240_000);
    const made = await makeSecrets({
      keys: createKeyMaker(),
      random: realRandom,
      now: new Date(),
      bootstrapId: 'b1',
      datacenter: 'dc1',
      first: true,
      ownPostgres: true,
      standing: { config: undefined, secrets: undefined },
    });
    const bits = (name: string) => {
      const pem = findSecret({ version: 1, secrets: made.secrets }, name)?.file?.content ?? '';
      return createPrivateKey(pem).asymmetricKeyDetails?.modulusLength;
    };
    expect(bits('tokenPrivateKey')).to.equal(4096);
    expect(bits('selfSignedCaKeyPem')).to.equal(2048);
    expect(bits('postgresCaKeyPem')).to.equal(2048);
    expect(Buffer.from(made.public.cephPublicKey.split(' ')[1] ?? '', 'base64').length).to.be.above(512);
    expect(Buffer.byteLength(JSON.stringify(made))).to.be.below(65_536 / 2);
  });
});
