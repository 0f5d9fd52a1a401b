/**
 * Config and secrets in the caller's folder. Existing files of the same bootstrap are the base of a re-run. Files of another
 * one are moved aside. What plinth made is written whole, and only if it differs.
 */
import { renameSync, statSync } from 'node:fs';
import { basename, dirname, join, parse, resolve } from 'node:path';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import type { LocalOptions } from '../../shared/bootstrap/options.js';
import type { BootstrapRequest } from '../../shared/bootstrap/request.js';
import { refusalOf } from '../../shared/bootstrap/rules.js';
import { recipientOf } from '../../shared/install-config/age-identity.js';
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
import { type Kept, keptFaults } from './kept-places.js';
import { readReplacedIfThere, readSecretTextIfThere, registerText, registerUnreadable } from './secret-text.js';
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
        const read = local.recoverConfig ? readReplacedIfThere : readSecretTextIfThere;
        const text = read(place, kind, settings);
        if (text === undefined && !isFolder(dirname(place))) {
          if (writes) faults.push({ path: flag, message: `${path}: there is no folder ${dirname(path)}` });
          continue;
        }
        const unwritable = writes ? whyUnwritable(place) : undefined;
        if (unwritable !== undefined) faults.push({ path: flag, message: `${path} cannot be written: ${unwritable}` });
        if (text === undefined || local.recoverConfig) continue;
        if (flag === '--secrets-file') await checkSecrets({ path, text });
        else await checkConfig({ flag, path, text }, faults, settings);
      } catch (error) {
        const why = error instanceof Problem ? inFull(error) : `${path} cannot be read: ${reason(error)}`;
        faults.push({ path: flag, message: why });
      }
    }
  }
  return faults;
}

/** Throws a fault of its text, and adds what reaches out of an `override`. */
async function checkConfig(
  { flag, path, text }: { readonly flag: string; readonly path: string; readonly text: string },
  faults: Fault[],
  settings: Settings,
): Promise<void> {
  if (idIn(await readYaml(text, settings)) === undefined) return;
  const [{ overrideFaults }, { faultText }] = await Promise.all([
    import('../../shared/install-config/overrides.js'),
    import('../../shared/yaml-text.js'),
  ]);
  const texts = overrideFaults(text).map((fault) => `${path}: ${faultText(fault)}. Write the value itself`);
  faults.push(...texts.map((message) => ({ path: flag, message })));
}

/** Faults of existing files, or else what is only doubtful of them. */
export async function examineStanding(
  ...standing: Parameters<typeof standingFaults>
): Promise<{ readonly faults: readonly Fault[]; readonly doubts: readonly Fault[] }> {
  const faults = await standingFaults(...standing);
  return { faults, doubts: faults.length > 0 ? [] : await standingDoubts(...standing) };
}

/** Where readers of YAML 1.1 and 1.2 read an `override` of an existing config differently. */
async function standingDoubts(
  local: LocalOptions,
  keys: readonly DatacenterKey[],
  settings: Settings,
): Promise<Fault[]> {
  const doubts: Fault[] = [];
  for (const key of keys) {
    const path = withSuffix(local.installConfig, suffixOf(key));
    const text = local.recoverConfig
      ? undefined
      : readSecretTextIfThere(placeOf(path, settings), 'install config', settings);
    // A file without the word needs no reader of YAML.
    if (text?.includes('override') !== true) continue;
    const [{ overrideDoubts }, { doubtOf }] = await Promise.all([
      import('../../shared/install-config/overrides.js'),
      import('./yaml-doubts.js'),
    ]);
    doubts.push(...doubtOf('--install-config', path, overrideDoubts(text)));
  }
  return doubts;
}

/** The files that the caller holds of the bootstrap. Throws where something that the run will keep has no place. */
export async function readBase(
  kept: Kept & Required<Pick<Kept, 'standing'>>,
  keys: readonly DatacenterKey[],
  settings: Settings,
): Promise<NonNullable<BootstrapRequest['base']>> {
  const faults = keptFaults(kept, settings);
  if (faults.length > 0) throw refusalOf(faults);
  const { local, standing } = kept;
  const { id } = standing;
  if (id === undefined) return {};
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

/** The configs of a base, by their paths. */
export const configsIn = (base: NonNullable<BootstrapRequest['base']>, local: LocalOptions): Map<string, string> =>
  new Map(
    Object.entries(base).flatMap(([key, files]) =>
      files?.config === undefined ? [] : [[withSuffix(local.installConfig, suffixOf(key)), files.config] as const],
    ),
  );

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
  let problem: Problem | undefined;
  try {
    for await (const file of eachFile(...made)) {
      if (file instanceof Problem) problem ??= file;
      else files.push(file);
    }
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    problem ??= error;
  }
  return { files, ...(problem !== undefined && { problem }) };
}

/** A file that its place refuses yields a problem. The others are written all the same. */
async function* eachFile(
  client: Pick<Client, 'config' | 'secrets' | 'ageIdentity'>,
  view: BootstrapView,
  local: LocalOptions,
  settings: Settings,
  /** The configs that this command sent or wrote, by path. */
  known: Map<string, string>,
): AsyncGenerator<WrittenFile | Problem> {
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
      const last = known.get(configPath);
      // Somebody may fill in what is missing while this command goes on.
      const same = ours && (config === last || (await sameYaml(standing.text, config)));
      const isEdited = ours && !same && last !== undefined && last !== standing.text;
      const word = isEdited ? 'edited' : other;
      const aside = standing === undefined || (ours && !isEdited) ? undefined : moveAside(configPath, word, settings);
      if (!same) writeWhole(configPlace, config, openMode);
      if (!same) known.set(configPath, config);
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
  yield identity.problem ?? { path: identity.path, what: 'age identity', state: identity.state };
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
): Promise<{ path: string; text: string; state: WrittenFile['state']; problem?: Problem }> {
  const path = identityPath(settings.configFolder, id);
  const kept = await onDisk(path, undefined, async () => {
    const found = await keptIdentities(id, settings);
    if (found !== undefined) keepSecret(path);
    return found;
  });
  if (kept !== undefined) return { path, text: kept.text, state: 'unchanged' };
  const text = registerText((await client.ageIdentity(id)).trim(), 'age identity', settings);
  const recipient = await recipientOf(text, 'What the service sent');
  try {
    await onDisk(path, undefined, () => {
      makeSecretFolder(dirname(path));
      writeWhole(path, `# public key: ${recipient}\n${text}\n`, secretMode);
    });
  } catch (error) {
    if (error instanceof Problem) return { path, text, state: 'written', problem: error };
    throw error;
  }
  return { path, text, state: 'written' };
}

async function readConfig(path: string, settings: Settings): Promise<StandingConfig | undefined> {
  const text = readSecretTextIfThere(path, 'install config', settings);
  if (text === undefined) return undefined;
  const content = await readYaml(text, settings);
  return { path, text, bootstrapId: idIn(content), projectId: wordIn(content, 'projectId') };
}

const idIn = (content: object) => wordIn(content, 'id');

/** Of the bootstrap that a config names. */
function wordIn(content: object, key: 'id' | 'projectId'): string | undefined {
  const { bootstrap } = content as { bootstrap?: Readonly<Record<string, unknown>> | null };
  const value = bootstrap?.[key];
  return typeof value === 'string' && /^[a-z0-9-]{1,63}$/.test(value) ? value : undefined;
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

async function sameYaml(one: string, other: string): Promise<boolean> {
  const { configMeaning } = await import('../../shared/install-config/edit-config.js');
  return configMeaning(one) === configMeaning(other);
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** The same with `~` as the home folder. */
export function localPaths(local: LocalOptions, { home }: Pick<Settings, 'home'>): LocalOptions {
  const { installConfig, secretsFile } = local;
  return { ...local, installConfig: expandHome(installConfig, home), secretsFile: expandHome(secretsFile, home) };
}
