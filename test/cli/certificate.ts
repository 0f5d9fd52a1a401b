/** A certificate for `localhost`, or a name beneath it, by a CA that nobody knows yet: who is to trust it is given its file. For tests at TLS. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createKeyMaker } from '../../functions/host/keys.js';
import { realRandom } from '../../functions/host/random.js';
import { makeCaCertificate, makeServerCertificate } from '../../functions/steps/config/certificates.js';

export async function makeCertificate(folder: string, hostname = 'localhost') {
  const { make } = createKeyMaker();
  const [ca, server] = [await make('rsa-2048'), await make('rsa-2048')];
  const means = { now: new Date(), random: realRandom };
  const issuer = { privateKey: ca.privateKey, certPem: await makeCaCertificate(ca, 'CA of a test', means) };
  const name = { hostname, ip: '127.0.0.1' };
  const file = join(folder, 'ca.pem');
  writeFileSync(file, issuer.certPem);
  /** `file`: for NODE_EXTRA_CA_CERTS. */
  return { key: server.privateKey, cert: await makeServerCertificate(issuer, server.publicKey, name, means), file };
}
