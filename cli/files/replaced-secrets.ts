/**
 * The user's files of a bootstrap, and given secrets that replace another value in them. A person may have changed it there with
 * sops.
 */
import { flagName, type GivenOptions, type SecretOption } from '../../shared/bootstrap/options.js';
import type { BeginReply } from '../../shared/bootstrap/routes.js';
import { checkOptions } from '../../shared/bootstrap/rules.js';
import type { Settings } from '../settings.js';
import { keptIdentities } from './secrets-file.js';
import { type DatacenterKey, readBase } from './standing-files.js';

/** `replacedBy` names the secrets that the given ones replace, but for options that the run changes anyway. */
export async function baseOf(
  kept: Parameters<typeof readBase>[0],
  keys: readonly DatacenterKey[],
  given: GivenOptions,
  settings: Settings,
) {
  const { local, standing } = kept;
  const { id } = standing;
  const base = await readBase(kept, keys, settings);
  // A second datacenter copies these secrets of the first.
  const flags = id === undefined ? [] : await replacedSecrets(id, base.dc1?.secrets, given, settings);
  return {
    base,
    replacedBy: ({ changes }: Pick<BeginReply, 'changes'>): string[] =>
      flags
        .filter((flag) => !changes.some(({ option }) => option === flag))
        .map((flag) => `${local.secretsFile} holds another value of ${flag}. The given one replaces it.`),
  };
}

/** Their flags. */
async function replacedSecrets(
  id: string,
  text: string | undefined,
  given: GivenOptions,
  settings: Settings,
): Promise<string[]> {
  const kept = text === undefined ? undefined : await keptIdentities(id, settings);
  if (text === undefined || kept === undefined) return [];
  const [{ decryptSecrets }, { secretsIn }] = await Promise.all([
    import('../../shared/install-config/secrets.js'),
    import('../../shared/install-config/recovered-options.js'),
  ]);
  // The service judges whether the file is whole.
  const opened = await decryptSecrets(text, kept.text).catch(() => undefined);
  if (opened === undefined) return [];
  const { options, secrets } = checkOptions(given);
  const names = Object.entries(secretsIn(opened, options.registryType)) as [SecretOption, string][];
  return names.flatMap(([option, value]) => {
    const other = secrets[option];
    return other === undefined || other === value ? [] : [flagName(option)];
  });
}
