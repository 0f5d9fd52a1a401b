/**
 * Config and secrets in the caller's folder. Existing files of the same bootstrap are the base of a re-run. Files of another
 * one are moved aside. What plinth made is written whole, and only if it differs.
 */
import { renameSync, statSync } from 'node:fs';
import { basename, dirname, join, parse, resolve } from 'node:path';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import type { LocalOptions } from '../../shared/bootstrap/options.js';
import type { BootstrapRequest } from '../../shared/bootstrap/request.js';
import { type Fault, Problem } from '../../shared/problems.js';
import type { Client } from '../service/client.js';
import type { Settings } from '../settings.js';
import {
  asidePath,
  expandHome,
  fileWord,
  keepSecret,
  makeSecretFolder,
  openMode,
  placeOf,
  reason,
  reasonOfWriting,
  secretMode,
  whyUnwritable,
  withSuffix,
  writeWhole,
} from './files.js';
import { readSecretTextIfThere, registerText, registerUnreadable } from './secret-text.js';
import {
  checkSecrets,
  identityPath,
  inFull,
  isOf,
  keptIdentities,
  notWritten,
  opensToTheSame,
  remember,
  standingSecrets,
} from './secrets-file.js';

export interface WrittenFile {
  readonly path: string;
  readonly what: 'install config' | 'secrets' | 'age identity';
  /** `unchanged`: its content was already right. */
  readonly state: 'written' | 'unchanged';
  /** The new path of another bootstrap's file that was in the way. */
  readonly movedAside?: string;
}

export type DatacenterKey = 'dc1' | 'dc2';
export const suffixOf = (key: string): string => (key === 'dc1' ? '' : `-${fileWord(key)}`);
/** The limit of a request for one file. */
const longestFile = 400 * 1024;

interface StandingConfig {
  readonly path: string;
  readonly text: string;
  /** Undefined if the config names no bootstrap. */
  readonly bootstrapId: string | undefined;
  readonly projectId: string | undefined;
}

/** Faults of existing files, found before anything is made. A file that recovery will replace may hold anything. */
export async function standingFaults(
  local: LocalOptions,
  keys: readonly DatacenterKey[],
  settings: Settings,
): Promise<Fault[]> {
  const writes = local.writeConfig || local.recoverConfig;
  const faults: Fault[] = [];
  const taken = new Set<string>();
  for (const key of keys) {
    for (const [path, flag, kind] of [
      [withSuffix(local.installConfig, suffixOf(key)), '--install-config', 'install config'],
      [withSuffix(local.secretsFile, suffixOf(key)), '--secrets-file', 'secrets file'],
    ] as const) {
      const place = placeOf(path, settings);
      if (taken.has(resolve(place))) faults.push({ path: flag, message: `${path} is the path of another file, too` });
      taken.add(resolve(place));
      try {
        const text = readSecretTextIfThere(place, kind, settings);
        if (text === undefined && !isFolder(dirname(place))) {
          if (writes) faults.push({ path: flag, message: `${path}: there is no folder ${dirname(path)}` });
          continue;
        }
        const unwritable = writes ? whyUnwritable(place) : undefined;
        if (unwritable !== undefined) faults.push({ path: flag, message: `${path} cannot be written: ${unwritable}` });
        if (text === undefined || local.recoverConfig) continue;
        if (text.length > longestFile) faults.push({ path: flag, message: `${path} is larger than 400 KiB` });
        await readYaml(text, settings);
        if (flag === '--secrets-file') await checkSecrets({ path, text });
      } catch (error) {
        const why = error instanceof Problem ? inFull(error) : `${path} cannot be read: ${reason(error)}`;
        faults.push({ path: flag, message: why });
      }
    }
  }
  return faults;
}

/** The files that the caller holds of the bootstrap `id`. */
export async function readBase(
  local: LocalOptions,
  keys: readonly DatacenterKey[],
  id: string,
  settings: Settings,
): Promise<NonNullable<BootstrapRequest['base']>> {
  // A damaged file is found before the start, also where no file of secrets is to be opened yet.
  await keptIdentities(id, settings);
  const base: { -readonly [K in DatacenterKey]?: { config?: string; secrets?: string } } = {};
  for (const key of keys) {
    const config = await readConfig(placeOf(withSuffix(local.installConfig, suffixOf(key)), settings), settings);
    const secretsPath = withSuffix(local.secretsFile, suffixOf(key));
    const secrets = standingSecrets(secretsPath, settings);
    const ours = config?.bootstrapId === id;
    const mine = secrets !== undefined && (await isOf(secrets, id, ours, settings));
    if (mine) remember(secrets);
    const part = { ...(ours && { config: config.text }), ...(mine && { secrets: secrets.text }) };
    if (Object.keys(part).length > 0) base[key] = part;
  }
  return base;
}

export interface WrittenFiles {
  readonly files: readonly WrittenFile[];
  /** Why some files are missing. */
  readonly problem?: Problem;
}

/**
 * Fetches and writes what was made: config, encrypted secrets, and the age identity that opens them. A failure here undoes no
 * bootstrap.
 */
export async function writeFiles(...made: Parameters<typeof eachFile>): Promise<WrittenFiles> {
  const files: WrittenFile[] = [];
  try {
    for await (const file of eachFile(...made)) files.push(file);
    return { files };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { files, problem: error };
  }
}

async function* eachFile(
  client: Pick<Client, 'config' | 'secrets' | 'ageIdentity'>,
  view: BootstrapView,
  local: LocalOptions,
  settings: Settings,
): AsyncGenerator<WrittenFile> {
  const ready = view.result.datacenters.filter((datacenter) => datacenter.ready);
  if (ready.length === 0) return;
  const identity = await keepIdentity(client, view.id, settings);
  for (const { key } of ready) {
    const [config, secrets] = await Promise.all([client.config(view.id, key), client.secrets(view.id, key)]);
    const configPath = withSuffix(local.installConfig, suffixOf(key));
    const secretsPath = withSuffix(local.secretsFile, suffixOf(key));
    const [configPlace, secretsPlace] = [placeOf(configPath, settings), placeOf(secretsPath, settings)];
    const standing = await onDisk(configPath, '--install-config', () => readConfig(configPlace, settings));
    const ours = standing?.bootstrapId === view.id;
    const other = standing?.projectId ?? 'previous';

    yield await onDisk(configPath, '--install-config', async () => {
      const same = ours && (await sameYaml(standing.text, config, settings));
      const aside = standing === undefined || ours ? undefined : moveAside(configPath, other, settings);
      if (!same) writeWhole(configPlace, config, openMode);
      return wrote(configPath, 'install config', same, aside);
    });

    yield await onDisk(secretsPath, '--secrets-file', async () => {
      const stood = standingSecrets(secretsPath, settings);
      const mine = stood !== undefined && (await isOf(stood, view.id, ours, settings));
      const same = mine && (await opensToTheSame(stood, secrets, identity.text));
      const aside = stood === undefined || mine ? undefined : moveAside(secretsPath, other, settings);
      if (same) keepSecret(secretsPlace);
      else writeWhole(secretsPlace, secrets, secretMode);
      remember({ path: secretsPath, place: secretsPlace, text: same ? stood.text : secrets });
      return wrote(secretsPath, 'secrets', same, aside);
    }).catch((error: unknown) => {
      throw notWritten(secretsPath, error);
    });
  }
  yield { path: identity.path, what: 'age identity', state: identity.state };
}

/** It is no fault of plinth if the disk refuses, or if a file has meanwhile become something other than a config. */
async function onDisk<T>(path: string, flag: string | undefined, act: () => T | Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (error instanceof Problem || code === undefined || code.startsWith('ERR_')) throw error;
    const message = `${path} is not written: ${reasonOfWriting(error)}`;
    throw new Problem('bad-input', `The bootstrap stands, but ${message}.`, {
      ...(flag !== undefined && { errors: [{ path: flag, message }] }),
      advice: 'Make that right, or name another path, and run the same command again: it writes what is missing.',
      cause: error,
    });
  }
}

const wrote = (path: string, what: WrittenFile['what'], same: boolean, aside: string | undefined): WrittenFile => ({
  path,
  what,
  state: same ? 'unchanged' : 'written',
  ...(aside !== undefined && { movedAside: aside }),
});

function moveAside(path: string, project: string, settings: Settings): string {
  const place = placeOf(path, settings);
  const aside = asidePath(place, project);
  renameSync(place, aside);
  return join(parse(path).dir, basename(aside));
}

/** Each reading of the identity is recorded. So it is read once and kept, in the form of age-keygen. */
async function keepIdentity(
  client: Pick<Client, 'ageIdentity'>,
  id: string,
  settings: Settings,
): Promise<{ path: string; text: string; state: WrittenFile['state'] }> {
  const path = identityPath(settings.configFolder, id);
  const kept = await onDisk(path, undefined, async () => {
    const found = await keptIdentities(id, settings);
    if (found !== undefined) keepSecret(path);
    return found;
  });
  if (kept !== undefined) return { path, text: kept.text, state: 'unchanged' };
  const text = registerText((await client.ageIdentity(id)).trim(), 'age identity', settings);
  const { recipientOf } = await import('../../shared/install-config/age-identity.js');
  const recipient = await recipientOf(text, 'What the service sent');
  await onDisk(path, undefined, () => {
    makeSecretFolder(dirname(path));
    writeWhole(path, `# public key: ${recipient}\n${text}\n`, secretMode);
  });
  return { path, text, state: 'written' };
}

async function readConfig(path: string, settings: Settings): Promise<StandingConfig | undefined> {
  const text = readSecretTextIfThere(path, 'install config', settings);
  if (text === undefined) return undefined;
  const { bootstrap } = (await readYaml(text, settings)) as { bootstrap?: { id?: unknown; projectId?: unknown } };
  const word = (value: unknown) => (typeof value === 'string' && /^[a-z0-9-]{1,63}$/.test(value) ? value : undefined);
  return { path, text, bootstrapId: word(bootstrap?.id), projectId: word(bootstrap?.projectId) };
}

/** Any mapping. The function judges its content. */
async function readYaml(text: string, settings: Settings): Promise<object> {
  const { parseYaml } = await import('../../shared/yaml-text.js');
  const parsed = parseYaml(text);
  if ('fault' in parsed) {
    registerUnreadable(text, settings);
    throw Object.assign(new SyntaxError(parsed.fault), { code: 'NO_YAML' });
  }
  const { content } = parsed;
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw Object.assign(new SyntaxError('it is no YAML mapping'), { code: 'NO_MAPPING' });
  }
  return content;
}

async function sameYaml(one: string, other: string, settings: Settings): Promise<boolean> {
  const sorted = (_: string, value: unknown): unknown =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value;
  const [first, second] = await Promise.all([readYaml(one, settings), readYaml(other, settings)]);
  return JSON.stringify(first, sorted) === JSON.stringify(second, sorted);
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** The same with `~` as the home folder. */
export function localPaths(local: LocalOptions, { home }: Pick<Settings, 'home'>): LocalOptions {
  const { installConfig, secretsFile } = local;
  return { ...local, installConfig: expandHome(installConfig, home), secretsFile: expandHome(secretsFile, home) };
}
