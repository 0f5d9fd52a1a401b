/** Keys that the deployment makes for itself on first use: random, each in a secret of its own in plinth's project. */
import { randomBytes } from 'node:crypto';
import { deploymentSecrets } from '../../shared/names.js';
import { Problem } from '../../shared/problems.js';
import type { Cloud } from '../cloud/index.js';

type Keyring = Pick<Cloud, 'secretManager'>;
/** Of `deploymentSecrets`; the webhook's key is the receiver's, too, so that an operator adds it. */
type OwnKey = Exclude<keyof typeof deploymentSecrets, 'webhookKey'>;

/** Undefined: it has not been made yet. The lowest enabled version counts. */
export async function findOwnKey({ secretManager }: Keyring, key: OwnKey): Promise<string | undefined> {
  const id = deploymentSecrets[key];
  const version = await secretManager.find(id);
  return version === undefined ? undefined : secretManager.read(id, version);
}

/** Made once, and then the same for ever: whoever writes at the same time reads what the first one wrote. */
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
