/**
 * Makes the generated secrets of a datacenter once and keeps them. It needs no cloud resource, so slow keys are made while the
 * machines are created. Values that need addresses, and secrets from flags, come later, in the step `config`.
 */
import * as z from 'zod';
import { Problem } from '../../../shared/problems.js';
import { defineStep, done } from '../../engine/step.js';
import { datacenters } from '../topology.js';
import { ageIdentity } from './age-identity.js';
import type { Standing } from './made-secrets.js';

const making = () => import('./making.js');

export const secrets = defineStep({
  name: 'secrets',
  title: 'Secrets',
  lane: 'cloud',
  needs: { ageIdentity },
  each: datacenters,
  describe: (options, key) => [
    `keys, certificates and passwords of ${key}, kept in Secret Manager`,
    ...(options.customPgIp === undefined
      ? []
      : ['no PostgreSQL CA, server certificate or admin password: those are yours']),
  ],
  /** The public halves. Only Secret Manager has the private ones. */
  output: z.object({
    secretVersion: z.string(),
    clusterCaCertPem: z.string(),
    cephPublicKey: z.string(),
    postgresCaCertPem: z.string().optional(),
    registryCaCertPem: z.string().optional(),
  }),
  async observe(call) {
    const { madeSecretsName, readMadeSecrets, readStandingFiles } = await making();
    const { bootstrap, key, needs, secrets: store } = call;
    // Report unusable files of the caller here, long before the step that rewrites them.
    if (bootstrap.base[key] !== undefined) await readStandingFiles(call, needs.ageIdentity.secretVersion, key);
    const secretVersion = await store.find(madeSecretsName(key));
    if (secretVersion === undefined) return undefined;
    const made = await readMadeSecrets(store, key, secretVersion);
    return {
      secretVersion,
      ...made.public,
      ...(made.registry !== undefined && { registryCaCertPem: made.registry.caCertPem }),
    };
  },
  async run(call) {
    const { checkPairs, madeSecretsName, makeSecrets, readStandingFiles } = await making();
    const { context, bootstrap, key, needs } = call;
    // Secret Manager has none. If files exist, Secret Manager has lost the secrets. Take the files over if their pairs are
    // whole.
    const { merged } = await readStandingFiles(call, needs.ageIdentity.secretVersion, key);
    checkPairs(key, merged.config, merged.secrets);
    checkRegistry(key, merged);
    const made = await makeSecrets({
      keys: context.keys,
      random: context.random,
      now: context.clock.now(),
      bootstrapId: bootstrap.id,
      datacenter: key,
      first: key === 'dc1',
      ownPostgres: bootstrap.options.customPgIp === undefined,
      standing: merged,
    });
    await call.secrets.write(madeSecretsName(key), JSON.stringify(made));
    return done;
  },
  goes: 'undo',
  removes: ({ id }, key) => [`secret ${id}-secrets-${key}`],
  async undo({ secrets, key }) {
    const { madeSecretsName } = await making();
    await secrets.remove(madeSecretsName(key));
    return done;
  },
});

/** Only Secret Manager has the registry's CA key, so files can't restore it. */
function checkRegistry(datacenter: string, { config }: Standing): void {
  if (config?.registry.caCertPem === undefined) return;
  throw new Problem(
    'conflict',
    `Of datacenter ${datacenter}, the key of the registry's CA is lost, but registry.caCertPem stands in the config.`,
    { advice: 'Bootstrap a new project: nodes that trust this CA would refuse images from a registry with another.' },
  );
}
