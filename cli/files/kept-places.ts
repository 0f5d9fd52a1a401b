/**
 * What a run will keep in plinth's config folder. Each place is tried before anything is created, because a machine without its
 * key or a secrets file without its identity is of no use.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  type BootstrapOptions,
  fileOptions,
  type GivenFlags,
  type LocalOptions,
} from '../../shared/bootstrap/options.js';
import type { Fault } from '../../shared/problems.js';
import { findSshKey } from '../identity/ssh-key.js';
import type { Settings } from '../settings.js';
import { whyNothingIn } from './files.js';
import { identityPath } from './secrets-file.js';

export interface Kept {
  readonly given: GivenFlags;
  readonly local: LocalOptions;
  readonly options: Pick<BootstrapOptions, 'createTestUser'>;
  /** Undefined: the service has not been asked yet. */
  readonly standing?: { readonly id: string | undefined };
}

export function keptFaults(kept: Kept, settings: Settings): Fault[] {
  const { given, options } = kept;
  const { configFolder } = settings;
  return [
    ...faultsIn(identityFolder(kept, configFolder)),
    ...newKeyFaults(kept, settings),
    ...faultsIn(options.createTestUser ? join(configFolder, 'test-users') : undefined),
    // Where an upload to Cloud Storage goes on after a kill.
    ...faultsIn(fileOptions.some((option) => given[option] !== undefined) ? join(configFolder, 'uploads') : undefined),
  ];
}

/** Of the key that plinth makes where none is found. A plan holds for one key, so it is kept, too. */
export function newKeyFaults({ given, local }: Pick<Kept, 'given' | 'local'>, settings: Settings) {
  // A key that a flag names is never made.
  if ((given.sshPublicKeyPath ?? given.sshPrivateKeyPath) !== undefined) return [];
  const { keep } = findSshKey(given, local.sshPublicKeyPath, settings);
  return faultsIn(keep === undefined ? undefined : join(settings.configFolder, 'ssh'));
}

/** Undefined if nothing is written there: an identity that is kept stays. */
function identityFolder({ local, standing }: Kept, configFolder: string): string | undefined {
  const folder = join(configFolder, 'age');
  if (!local.writeConfig && !local.recoverConfig) return undefined;
  if (standing === undefined) return holdsIdentity(folder) ? undefined : folder;
  const { id } = standing;
  return id !== undefined && existsSync(identityPath(configFolder, id)) ? undefined : folder;
}

/** It may be the one of the bootstrap. The service knows which bootstrap that is. */
function holdsIdentity(folder: string): boolean {
  try {
    return readdirSync(folder).some((name) => name.endsWith('.txt'));
  } catch {
    return false;
  }
}

/** Why nothing can be written into a folder of plinth's own, or beneath it. */
export function faultsIn(folder: string | undefined): Fault[] {
  const why = folder === undefined ? undefined : whyNothingIn(folder);
  if (folder === undefined || why === undefined) return [];
  const remedy = 'Make it writable, or set XDG_CONFIG_HOME to a folder that is';
  return [{ path: folder, message: `cannot be written: ${why}. ${remedy}` }];
}
