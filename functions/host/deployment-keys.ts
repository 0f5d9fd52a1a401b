/** Keys that the deployment makes on first use. They are random, each in a secret of its own in plinth's project. */
import { randomBytes } from 'node:crypto';
import { deploymentSecrets } from '../../shared/names.js';
import { Problem } from '../../shared/problems.js';
import type { Cloud } from '../cloud/index.js';
import { registerOfDeployment } from './redaction.js';

type Keyring = Pick<Cloud, 'secretManager'>;
/** Keys of `deploymentSecrets`. An operator adds the others, because the webhook's receiver and the issuer know them, too. */
type OwnKey = Exclude<keyof typeof deploymentSecrets, 'webhookKey' | 'consoleClient'>;

/** Undefined: not made yet. The lowest enabled version counts. */
export async function findOwnKey({ secretManager }: Keyring, key: OwnKey): Promise<string | undefined> {
  const id = deploymentSecrets[key];
  const version = await secretManager.find(id);
  return version === undefined ? undefined : registerOfDeployment(await secretManager.read(id, version));
}

/** Made once and never changed. If two write at the same time, both read what the first one wrote. */
export async function ownKey(keyring: Keyring, key: OwnKey): Promise<string> {
  const standing = await findOwnKey(keyring, key);
  if (standing !== undefined) return standing;
  const id = deploymentSecrets[key];
  await keyring.secretManager.write(id, randomBytes(32).toString('base64'));
  const made = await findOwnKey(keyring, key);
  if (made === undefined)
    throw new Problem('cloud-propagation', `The secret ${id} was written and cannot be found yet.`);
  return made;
}
