/**
 * The user's files of a bootstrap, and given secrets that replace another value in them. A person may have changed it there with
 * sops.
 */
import { flagName, type GivenOptions, type LocalOptions, type SecretOption } from '../../shared/bootstrap/options.js';
import { checkOptions, refusalOf } from '../../shared/bootstrap/rules.js';
import type { Fault } from '../../shared/problems.js';
import type { Call } from '../frame/command.js';
import type { Settings } from '../settings.js';
import { keptIdentities } from './secrets-file.js';
import { type DatacenterKey, readBase } from './standing-files.js';

/** `replaced` says in words which secrets of the files the given ones replace. With `--strict` they are refused. */
export async function baseOf(
  call: Call,
  local: LocalOptions,
  keys: readonly DatacenterKey[],
  { id, given }: { readonly id: string | undefined; readonly given: GivenOptions },
) {
  if (id === undefined) return { base: {}, replaced: [] };
  const { output, settings } = call;
  const base = await readBase(local, keys, id, settings);
  const path = local.secretsFile;
  const faults = await replacedSecrets({ id, path, text: base.dc1?.secrets, given }, settings);
  if (call.has('strict') && faults.length > 0) throw refusalOf(faults);
  const replaced = faults.map(({ message }) => `${path} ${message}`);
  for (const text of replaced) output.warn(text);
  return { base, replaced };
}

interface Parts {
  /** The id of the bootstrap, whose identities are kept here. */
  readonly id: string;
  readonly path: string;
  /** Of the first datacenter. A second one copies these secrets. */
  readonly text: string | undefined;
  readonly given: GivenOptions;
}

async function replacedSecrets({ id, path, text, given }: Parts, settings: Settings): Promise<Fault[]> {
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
