/**
 * Recovers config, secrets and age identity from the jumpbox. The caller's own SSH key proves that the files are theirs.
 * Everything is read and checked before a local file changes. Existing files are kept as backups.
 */
import { constants, copyFileSync, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Host } from '../../functions/remote/remote.js';
import { flags, type GivenOptions, type LocalOptions } from '../../shared/bootstrap/options.js';
import { someIdentitiesIn } from '../../shared/install-config/age-identity.js';
import { filesOnJumpbox, optionsOnJumpbox } from '../../shared/install-config/on-jumpbox.js';
import { optionsIn } from '../../shared/install-config/recovered-options.js';
import type { SecretsFile } from '../../shared/install-config/secrets.js';
import { Problem } from '../../shared/problems.js';
import { makeSecretFolder, openMode, placeOf, secretMode, withSuffix, writeWhole } from '../files/files.js';
import { readReplacedIfThere, registerText, registerUnreadable, type SecretFileKind } from '../files/secret-text.js';
import { identityPath, isInClear } from '../files/secrets-file.js';
import { type DatacenterKey, suffixOf } from '../files/standing-files.js';
import type { CommandContext } from '../frame/command.js';
import { loginIdentity } from '../identity/login-identity.js';
import type { SshKey } from '../identity/ssh-key.js';
import type { Settings } from '../settings.js';
import { callerRemote, jumpboxHost, type SeenJumpbox, userOnJumpbox, type WayIn } from './jumpbox.js';

export interface RecoveredFile {
  readonly path: string;
  readonly what: 'install config' | 'secrets' | 'age identity';
  /** The path of the backup of an existing file. */
  readonly backup?: string;
  /** The backup is a secrets file in clear. */
  readonly inClear?: true;
}

export interface RecoveryFrom {
  /** The id of the bootstrap. */
  readonly id: string;
  readonly name: string;
  readonly jumpbox: SeenJumpbox | undefined;
  readonly wayIn: WayIn;
}

/** What the jumpbox holds. Nothing is written yet. */
export interface Recovered {
  readonly id: string;
  readonly datacenters: readonly {
    readonly datacenter: DatacenterKey;
    readonly config: string;
    readonly secrets: string;
    readonly opened: SecretsFile;
    readonly ageIdentity: string;
  }[];
  /** Undefined: its release wrote no file of options. */
  readonly options: GivenOptions | undefined;
}

/** `secretsDir`: where the secrets are if no file of options says so. */
export async function readRecovered(
  call: Pick<CommandContext, 'io' | 'settings' | 'interrupted'>,
  from: RecoveryFrom,
  key: SshKey,
  secretsDir: string,
): Promise<Recovered> {
  if (key.keep !== undefined) {
    throw new Problem('bad-input', 'No SSH key was found, and a new one opens no jumpbox.', {
      advice: 'Name the one that the bootstrap was made with, by --ssh-private-key-path.',
    });
  }
  const identity = await loginIdentity(call, key);
  const remote = callerRemote(call.settings, call.interrupted);
  try {
    const user = await userOnJumpbox(call.settings, from.wayIn, call.interrupted);
    const host = (await opened(jumpboxHost(remote, from, identity, user, call.interrupted), key, from)).asRoot();
    const options = optionsIn((await host.read(optionsOnJumpbox))?.toString(), from.id);
    const dir = options === undefined ? secretsDir : (options.secretsDir ?? flags.secretsDir.default);
    const read = (datacenter: DatacenterKey) =>
      readFrom({ host, settings: call.settings }, from, datacenter, filesOnJumpbox(dir, suffixOf(datacenter)));
    const first = await read('dc1');
    const second = first.isOneOfTwo ? [await read('dc2')] : [];
    return { id: from.id, datacenters: [first, ...second], options };
  } finally {
    await remote.close();
  }
}

export async function writeRecovered(
  settings: Settings,
  { id, datacenters }: Recovered,
  local: LocalOptions,
): Promise<RecoveredFile[]> {
  const stamp = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const files: RecoveredFile[] = [];
  for (const { datacenter, config, secrets } of datacenters) {
    const [configPath, secretsPath] = [local.installConfig, local.secretsFile].map((path) =>
      withSuffix(path, suffixOf(datacenter)),
    ) as [string, string];
    files.push(await put(configPath, 'install config', config, openMode, { settings, stamp }));
    files.push(await put(secretsPath, 'secrets', secrets, secretMode, { settings, stamp }));
  }
  return [...files, ...keepIdentity(identityPath(settings.configFolder, id), datacenters[0]?.ageIdentity ?? '')];
}

/** The jumpbox has existed for long, so waiting won't make it accept a refused key. */
async function opened(host: Promise<Host>, { from }: SshKey, { name }: RecoveryFrom): Promise<Host> {
  try {
    return await host;
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'host-login') throw error;
    throw new Problem('host-login', `The jumpbox of ${name} refused the SSH key ${from}.`, {
      advice: 'Name the key that the bootstrap was made with, by --ssh-private-key-path.',
      cause: error,
    });
  }
}

/** Only the parts that are looked at here. */
interface StandingConfig {
  readonly bootstrap?: { readonly id?: unknown };
  readonly dataCenters?: unknown;
}

async function readFrom(
  { host, settings }: { readonly host: Host; readonly settings: Settings },
  { id, name }: RecoveryFrom,
  datacenter: DatacenterKey,
  paths: ReturnType<typeof filesOnJumpbox>,
) {
  const read = async (path: string, kind: SecretFileKind): Promise<string> => {
    const content = await host.read(path);
    if (content !== undefined) return registerText(content.toString(), kind, settings);
    throw new Problem('not-found', `The jumpbox of ${name} has no ${path}.`, {
      advice:
        'Config and secrets are put there once the jumpbox is set up. If --secrets-dir was given to the bootstrap, give it now, too.',
    });
  };
  const [config, secrets, ageIdentity] = await Promise.all([
    read(paths.config, 'install config'),
    read(paths.secrets, 'secrets file'),
    read(paths.identity, 'age identity'),
  ]);
  const { parseYaml } = await import('../../shared/yaml-text.js');
  const parsed = parseYaml(config);
  if ('fault' in parsed) {
    registerUnreadable(config, settings);
    throw new Problem('conflict', `${paths.config} on the jumpbox of ${name} is no YAML: ${parsed.fault}.`, {
      advice: 'The same command without --recover-config writes it again, where plinth still has its record.',
    });
  }
  const stands = (parsed.content ?? {}) as StandingConfig;
  const of = stands.bootstrap?.id;
  if (of !== id) {
    throw new Problem('conflict', `${paths.config} on the jumpbox of ${name} is of another bootstrap, ${String(of)}.`);
  }
  const file = await openedSecrets(secrets, ageIdentity, paths, `on the jumpbox of ${name}`);
  const isOneOfTwo = stands.dataCenters !== undefined;
  return { datacenter, config, secrets, opened: file, ageIdentity, isOneOfTwo };
}

/** Throws a problem that says which of the two files is wrong, and why. */
async function openedSecrets(
  secrets: string,
  ageIdentity: string,
  paths: ReturnType<typeof filesOnJumpbox>,
  where: string,
): Promise<SecretsFile> {
  const { decryptSecrets } = await import('../../shared/install-config/secrets.js');
  try {
    await someIdentitiesIn(ageIdentity, `${paths.identity} ${where}`);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw new Problem('conflict', error.detail, {
      advice: 'The same command without --recover-config writes it again, where plinth still has its record.',
    });
  }
  return decryptSecrets(secrets, ageIdentity, `${paths.secrets} ${where}`).catch((error: unknown) => {
    if (!(error instanceof Problem)) throw error;
    const { detail, advice } = error;
    throw new Problem('conflict', detail, {
      ...(advice !== undefined && { advice: advice.replaceAll('<file>', paths.secrets) }),
      cause: error,
    });
  });
}

async function put(
  path: string,
  what: RecoveredFile['what'],
  content: string,
  mode: number,
  { settings, stamp }: { readonly settings: Settings; readonly stamp: string },
): Promise<RecoveredFile> {
  const place = placeOf(path, settings);
  const stood = readReplacedIfThere(place, what === 'secrets' ? 'secrets file' : 'install config', settings);
  const backup = stood === undefined || stood === content ? undefined : `${path}.${stamp}.bak`;
  // A link that somebody put there is not followed.
  if (backup !== undefined) copyFileSync(place, placeOf(backup, settings), constants.COPYFILE_EXCL);
  writeWhole(place, content, mode);
  if (backup === undefined) return { path, what };
  const inClear = what === 'secrets' && stood !== undefined && (await isInClear(stood));
  return { path, what, backup, ...(inClear && { inClear }) };
}

/** An existing identity is the same one, because a bootstrap only ever has one. */
function keepIdentity(path: string, identity: string): RecoveredFile[] {
  if (existsSync(path)) return [];
  makeSecretFolder(dirname(path));
  writeWhole(path, identity, secretMode);
  return [{ path, what: 'age identity' }];
}
