/** A certificate for `localhost` that nobody knows yet: who is to trust it is given its file. For tests of the command line at TLS. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export function makeCertificate(folder: string) {
  const [key, file] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const days = ['-days', '30', '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  execFileSync('openssl', ['req', '-x509', ...kind, '-keyout', key, '-out', file, ...days], { stdio: 'ignore' });
  /** `file`: for NODE_EXTRA_CA_CERTS. */
  return { key: readFileSync(key), cert: readFileSync(file), file };
}
