/** Given secrets that replace another value in the user's secrets file. A person may have changed it there with sops. */
import { flagName, type GivenOptions, type SecretOption } from '../../shared/bootstrap/options.js';
import { checkOptions } from '../../shared/bootstrap/rules.js';
import type { Fault } from '../../shared/problems.js';
import type { Settings } from '../settings.js';
import { keptIdentities } from './secrets-file.js';

interface Parts {
  /** The id of the bootstrap, whose identities are kept here. */
  readonly id: string;
  readonly path: string;
  /** Of the first datacenter. A second one copies these secrets. */
  readonly text: string | undefined;
  readonly given: GivenOptions;
}

export async function replacedSecrets({ id, path, text, given }: Parts, settings: Settings): Promise<Fault[]> {
  const kept = text === undefined ? undefined : await keptIdentities(id, settings);
  if (text === undefined || kept === undefined) return [];
  const [{ decryptSecrets }, { secretsIn }] = await Promise.all([
    import('../../shared/install-config/secrets.js'),
    import('../../shared/install-config/recovered-options.js'),
  ]);
  // Whether the file is whole is judged by the service.
  const opened = await decryptSecrets(text, kept.text).catch(() => undefined);
  if (opened === undefined) return [];
  const { options, secrets } = checkOptions(given);
  return Object.entries(secretsIn(opened, options.registryType)).flatMap(([option, value]) => {
    const other = secrets[option as SecretOption];
    if (other === undefined || other === value) return [];
    return [
      { path, message: `holds another value of ${flagName(option as SecretOption)}. The given one replaces it.` },
    ];
  });
}
