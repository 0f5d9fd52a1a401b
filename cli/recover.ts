/**
 * Config, secrets and age identity back from the jumpbox, by the caller's own key, which is the proof that they are theirs.
 * All of it is read and checked before a file here is touched; what stood is kept as a backup. Called by bootstrap-cloud.
 */
import { copyFileSync, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Host } from '../functions/remote/remote.js';
import type { BootstrapOptions, LocalOptions } from '../shared/bootstrap/options.js';
import { filesOnJumpbox } from '../shared/install-config/on-jumpbox.js';
import { Problem } from '../shared/problems.js';
import type { Call } from './command.js';
import { makeSecretFolder, openMode, readIfThere, secretMode, withSuffix, writeWhole } from './files.js';
import { callerRemote, jumpboxHost, type SeenJumpbox } from './jumpbox.js';
import { loginIdentity } from './login-identity.js';
import type { SshKey } from './ssh-key.js';
import { type DatacenterKey, identityPath, suffixOf } from './standing-files.js';

export interface RecoveredFile {
  readonly path: string;
  readonly what: 'install config' | 'secrets' | 'age identity';
  /** Where what stood there is now. */
  readonly backup?: string;
}

export interface RecoveryFrom {
  /** Of the bootstrap. */
  readonly id: string;
  readonly name: string;
  readonly jumpbox: SeenJumpbox | undefined;
}

export async function recoverFiles(
  call: Pick<Call, 'settings' | 'interrupted'>,
  from: RecoveryFrom,
  {
    key,
    local,
    keys,
    options,
  }: { key: SshKey; local: LocalOptions; keys: readonly DatacenterKey[]; options: BootstrapOptions },
): Promise<RecoveredFile[]> {
  if (key.keep !== undefined) {
    throw new Problem('bad-input', 'No SSH key was found, and a new one opens no jumpbox.', {
      advice: 'Name the one that the bootstrap was made with: --ssh-private-key-path <file>.',
    });
  }
  const identity = await loginIdentity(call, key);
  const remote = callerRemote(call.settings);
  try {
    const host = (await jumpboxHost(remote, from, identity, call.interrupted)).asRoot();
    const found = [];
    for (const datacenter of keys) {
      const paths = filesOnJumpbox(options.secretsDir, suffixOf(datacenter));
      found.push(await readFrom(host, from, datacenter, paths, options));
    }
    const stamp = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '');
    return [
      ...found.flatMap(({ datacenter, config, secrets }) => [
        put(withSuffix(local.installConfig, suffixOf(datacenter)), 'install config', config, openMode, stamp),
        put(withSuffix(local.secretsFile, suffixOf(datacenter)), 'secrets', secrets, secretMode, stamp),
      ]),
      ...keepIdentity(identityPath(call.settings.configFolder, from.id), found[0]?.ageIdentity ?? ''),
    ];
  } finally {
    await remote.close();
  }
}

/** As far as it is looked at here. */
interface StandingConfig {
  readonly bootstrap?: { readonly id?: unknown };
  readonly dataCenters?: unknown;
  readonly platform?: { readonly domain?: unknown };
}

async function readFrom(
  host: Host,
  { id, name }: RecoveryFrom,
  datacenter: DatacenterKey,
  paths: ReturnType<typeof filesOnJumpbox>,
  { baseDomain, multiDc }: BootstrapOptions,
) {
  const read = async (path: string): Promise<string> => {
    const content = await host.read(path);
    if (content !== undefined) return content.toString();
    throw new Problem('not-found', `The jumpbox of ${name} has no ${path}.`, {
      advice:
        'Config and secrets are put there once the jumpbox is set up. If --secrets-dir was given to the bootstrap, give it now, too.',
    });
  };
  const [config, secrets, ageIdentity] = await Promise.all([
    read(paths.config),
    read(paths.secrets),
    read(paths.identity),
  ]);
  const [{ parse }, { decryptSecrets }] = await Promise.all([
    import('yaml'),
    import('../shared/install-config/secrets.js'),
  ]);
  const stands = (parse(config) ?? {}) as StandingConfig;
  const of = stands.bootstrap?.id;
  if (of !== id) {
    throw new Problem('conflict', `${paths.config} on the jumpbox of ${name} is of another bootstrap, ${String(of)}.`);
  }
  // Else files would be left behind, or others made for another domain.
  const two = stands.dataCenters !== undefined;
  if (two !== multiDc || stands.platform?.domain !== `cs.${baseDomain}`) {
    throw new Problem('conflict', `${name} was not bootstrapped with these flags.`, {
      advice: `As ${paths.config} on its jumpbox has it: ${two ? '--multi-dc, ' : 'without --multi-dc, '}--base-domain ${String(stands.platform?.domain).replace(/^cs\./, '')}.`,
    });
  }
  await decryptSecrets(secrets, ageIdentity.trim()).catch((error: unknown) => {
    throw new Problem('conflict', `The age identity on the jumpbox of ${name} does not open ${paths.secrets} there.`, {
      cause: error,
    });
  });
  return { datacenter, config, secrets, ageIdentity: ageIdentity.trim() };
}

function put(path: string, what: RecoveredFile['what'], content: string, mode: number, stamp: string): RecoveredFile {
  const stood = readIfThere(path);
  const backup = stood === undefined || stood === content ? undefined : `${path}.${stamp}.bak`;
  if (backup !== undefined) copyFileSync(path, backup);
  writeWhole(path, content, mode);
  return { path, what, ...(backup !== undefined && { backup }) };
}

/** One that the caller has is the same one: there is but one in the life of a bootstrap. */
function keepIdentity(path: string, identity: string): RecoveredFile[] {
  if (existsSync(path)) return [];
  makeSecretFolder(dirname(path));
  writeWhole(path, `${identity}\n`, secretMode);
  return [{ path, what: 'age identity' }];
}
