/** Keys and certificates, read by OpenSSH and OpenSSL. */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createKeyMaker } from '../../functions/host/keys.js';
import { realRandom } from '../../functions/host/random.js';
import { makeCaCertificate, makeServerCertificate } from '../../functions/steps/config/certificates.js';
import { createTestKeys } from '../../local/stack/test-keys.js';
import { isOpenSshPair, openSshPair } from '../../shared/openssh.js';
import { keysAtHand } from './made-bootstrap.js';

const now = new Date('2026-03-04T05:06:07Z');
let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'keys-'));
});
after(() => rmSync(folder, { recursive: true }));
const inFolder = (name: string, content: string, mode = 0o600): string => {
  const path = join(folder, name);
  writeFileSync(path, content, { mode });
  return path;
};

describe('the OpenSSH form of a key', () => {
  before(keysAtHand);

  for (const kind of ['ed25519', 'rsa-2048', 'rsa-4096'] as const) {
    it(`of ${kind} is read by ssh-keygen, which finds the same public half`, async () => {
      const pair = openSshPair((await createTestKeys().make(kind)).privateKey, 'a comment');
      const file = inFolder(`${kind}-key`, pair.privateKey);
      const printed = execFileSync('ssh-keygen', ['-y', '-f', file], { encoding: 'utf8' }).trim();
      expect(printed).to.equal(pair.publicKey);
      expect(isOpenSshPair(pair.privateKey, pair.publicKey)).to.equal(true);
      // It signs, too: all numbers of the private half are right.
      execFileSync('ssh-keygen', ['-q', '-Y', 'sign', '-n', 'test', '-f', file, inFolder(`${kind}-text`, 'x')]);
    });
  }
});

describe('a certificate', () => {
  it('is verified by openssl for its purpose, name and address', async () => {
    const [ca, server] = await Promise.all([createKeyMaker().make('rsa-2048'), createKeyMaker().make('rsa-2048')]);
    const caCertPem = await makeCaCertificate(ca, 'plinth PostgreSQL CA b1', { now, random: realRandom });
    const issuer = { privateKey: ca.privateKey, certPem: caCertPem };
    const name = { hostname: 'postgres', ip: '10.10.0.7' };
    const certPem = await makeServerCertificate(issuer, server.publicKey, name, { now, random: realRandom });
    const verify = (...more: string[]) =>
      execFileSync(
        'openssl',
        [
          'verify',
          '-x509_strict',
          '-attime',
          String(now.getTime() / 1000),
          '-purpose',
          'sslserver',
          '-CAfile',
          inFolder('ca.pem', caCertPem),
          ...more,
          inFolder('server.pem', certPem),
        ],
        { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] },
      );
    expect(verify('-verify_hostname', 'postgres', '-verify_ip', '10.10.0.7')).to.match(/: OK\n$/);
    expect(() => verify('-verify_ip', '10.10.0.8')).to.throw('IP address mismatch');
    expect(() => verify('-verify_hostname', 'jumpbox')).to.throw('hostname mismatch');
  });
});
