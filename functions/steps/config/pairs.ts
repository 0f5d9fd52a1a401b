/**
 * Checks pairs whose private half is a secret and whose public half is in the config or another secret. If one half is lost,
 * an error names it. A silent new key could break a running install.
 */
import { findSecret, type SecretsFile } from '../../../shared/install-config/secrets.js';
import { isOpenSshPair, isPemPair } from '../../../shared/openssh.js';
import { Problem } from '../../../shared/problems.js';
import { isCertificateOf } from './certificates.js';

interface Pair {
  /** Name of the secret that holds the private half. */
  readonly privateHalf: string;
  /** Path of the public half in the config, or the name of its secret. */
  readonly publicHalf: string;
  readonly publicIn: 'config' | 'secrets';
  fits(privateHalf: string, publicHalf: string): boolean;
}

const certified = (key: string, certificate: string) => isCertificateOf(certificate, key);

const pairs: readonly Pair[] = [
  {
    privateHalf: 'selfSignedCaKeyPem',
    publicHalf: 'cluster.certificates.ca.certPem',
    publicIn: 'config',
    fits: certified,
  },
  {
    privateHalf: 'cephSshPrivateKey',
    publicHalf: 'ceph.cephAdmSshKey.publicKey',
    publicIn: 'config',
    fits: isOpenSshPair,
  },
  { privateHalf: 'postgresCaKeyPem', publicHalf: 'postgres.caCertPem', publicIn: 'config', fits: certified },
  {
    privateHalf: 'postgresPrimaryServerKeyPem',
    publicHalf: 'postgres.primary.sslConfig.serverCertPem',
    publicIn: 'config',
    fits: certified,
  },
  { privateHalf: 'tokenPrivateKey', publicHalf: 'tokenPublicKey', publicIn: 'secrets', fits: isPemPair },
  { privateHalf: 'domainAuthPrivateKey', publicHalf: 'domainAuthPublicKey', publicIn: 'secrets', fits: isPemPair },
];

/**
 * Throws a `Problem` that names every half that is missing or doesn't fit its other half. A pair without both halves is fine.
 * With external PostgreSQL, its pairs are not checked, because the CA may be a stranger's. `config` may be any tree. So a
 * config that lost a half, and is invalid for it, still gets an error that names the half.
 */
export function checkPairs(datacenter: string, config: unknown, secrets: SecretsFile | undefined): void {
  const external = textAt(config, 'postgres.mode') === 'external';
  const secretAt = (name: string) => findSecret(secrets, name)?.file?.content;
  const faults = pairs
    .filter(({ publicHalf }) => !(external && publicHalf.startsWith('postgres.')))
    // Without a config, no half is missing there. It is written again.
    .filter(({ publicIn }) => publicIn === 'secrets' || config !== undefined)
    .flatMap(({ privateHalf, publicHalf, publicIn, fits }) => {
      const key = secretAt(privateHalf);
      const other = publicIn === 'config' ? textAt(config, publicHalf) : secretAt(publicHalf);
      if (key === undefined && other === undefined) return [];
      const place = publicIn === 'config' ? 'the config' : 'the secrets file';
      if (key === undefined) {
        return [{ path: privateHalf, message: `is missing in the secrets file, but ${publicHalf} stands in ${place}` }];
      }
      if (other === undefined) {
        return [{ path: publicHalf, message: `is missing in ${place}, but ${privateHalf} stands in the secrets file` }];
      }
      return fits(key, other) ? [] : [{ path: publicHalf, message: `does not belong to ${privateHalf}` }];
    });
  if (faults.length === 0) return;
  throw new Problem(
    'conflict',
    `Keys of datacenter ${datacenter} have lost their other half: ${faults.map(({ path, message }) => `${path} ${message}`).join('; ')}.`,
    {
      errors: faults,
      advice:
        'Put back what is lost, from a copy. Or move the config and the secrets file away, both: then they are written again from what the bootstrap holds.',
    },
  );
}

/** The text at a dotted path, if any. */
function textAt(tree: unknown, path: string): string | undefined {
  let value = tree;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return typeof value === 'string' && value !== '' ? value : undefined;
}
