/** Reads and checks all inputs of an installation before anything is done. */
import { createHash } from 'node:crypto';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { someIdentitiesIn } from '../../shared/install-config/age-identity.js';
import { type InstallConfig, readInstallConfig } from '../../shared/install-config/config.js';
import { configMeaning } from '../../shared/install-config/edit-config.js';
import { decryptSecrets, type SecretsFile } from '../../shared/install-config/secrets.js';
import { packageMismatches } from '../../shared/package/manifest.js';
import { type Fault, Problem } from '../../shared/problems.js';
import { proxyVariables } from '../../shared/proxy-variables.js';
import type { SecretRedactor } from '../../shared/secret-redactor.js';
import { registerSecretsFile } from '../../shared/secret-texts.js';
import { sha256 } from '../../shared/sha256.js';
import { homePlaceOf, readBytes, reason } from '../files/files.js';
import { readSecretText, registerUnreadable } from '../files/secret-text.js';
import type { CommandContext } from '../frame/command.js';
import { standingPackage, type UnpackedPackage, unpackPackage } from './unpack.js';

export interface InstallInputs {
  readonly config: InstallConfig;
  readonly secrets: SecretsFile;
  /** Knows them all. */
  readonly redactor: SecretRedactor;
  readonly values: readonly { readonly path: string; readonly sha256: string }[];
  readonly package: UnpackedPackage;
  /** A digest of config, encrypted secrets and values. If it is the same, these are unchanged since the last run. */
  readonly digest: string;
  /** Holds the list of installed components, and the unpacked packages. */
  readonly stateFolder: string;
  /** Components write beneath this folder. */
  readonly root: string;
  readonly skip: readonly string[];
  /** The proxy variables of the environment. */
  readonly proxies: Readonly<Record<string, string>>;
}

const defaultState = '/var/lib/platform/install';

/** Throws one problem with all faults. */
export async function readInputs(call: CommandContext): Promise<InstallInputs> {
  const { given, settings, interrupted } = call;
  const faults: Fault[] = [...call.faults];
  const attempt = async <T>(path: string, read: () => T | Promise<T>): Promise<T | undefined> => {
    try {
      return await read();
    } catch (error) {
      interrupted.throwIfAborted();
      if (error instanceof Problem) faults.push({ path, message: said(error) });
      else faults.push({ path, message: `cannot be read: ${reason(error)}` });
      return undefined;
    }
  };
  const at = (path: string) => resolve(homePlaceOf(path, settings));
  const configPath = at(given.installConfig ?? 'config.yaml');
  const secretsPath = at(given.secretsFile ?? 'prod.vault.yaml');
  const keyPath = at(call.word('age-key')?.text ?? join(dirname(secretsPath), 'age_key.txt'));
  const archive = call.word('package')?.text;
  const stateFolder = at(call.word('state-dir')?.text ?? defaultState);
  const root = call.word('root')?.text ?? '/';
  if (!isAbsolute(root)) faults.push({ path: '--root', message: 'must be an absolute path' });

  const configText = await attempt('--install-config', () => readSecretText(configPath, 'install config', settings));
  const config =
    configText === undefined ? undefined : await attempt('--install-config', () => readInstallConfig(configText));
  if (configText !== undefined && config === undefined) registerUnreadable(configText, settings);
  const secretsText = await attempt('--secrets-file', () => readSecretText(secretsPath, 'secrets file', settings));
  const identity = await attempt('--age-key', async () => {
    const text = readSecretText(keyPath, 'age identity', settings);
    await someIdentitiesIn(text, keyPath);
    return text;
  });
  const secrets =
    secretsText === undefined || identity === undefined
      ? undefined
      : await attempt('--secrets-file', () => decryptSecrets(secretsText, identity));
  if (secrets !== undefined) registerSecretsFile(settings.redactor, secrets);
  const values: { path: string; sha256: string }[] = [];
  for (const path of (given.pcAppsValues ?? []).map(at)) {
    const content = await attempt('--pc-apps-values', () => readBytes(path, Number.POSITIVE_INFINITY));
    if (content !== undefined) values.push({ path, sha256: sha256(content) });
  }
  if (archive === undefined || archive === '') faults.push({ path: '--package', message: 'is needed' });
  const unpacked =
    archive === undefined || archive === ''
      ? undefined
      : await attempt(archive, () => unpackPackage(at(archive), join(stateFolder, 'packages'), interrupted));
  if (unpacked !== undefined) faults.push(...packageMismatches(given, unpacked.manifest));
  if (faults.length > 0 || config === undefined || secrets === undefined || unpacked === undefined)
    throw refusal(faults);

  const digest = createHash('sha256');
  const texts = [configMeaning(configText ?? ''), secretsText ?? ''].map((text) => sha256(text));
  for (const part of [...texts, ...values.map((value) => value.sha256)]) digest.update(part);
  return {
    config,
    secrets,
    redactor: settings.redactor,
    values,
    package: unpacked,
    digest: digest.digest('hex'),
    stateFolder,
    root,
    skip: given.installSkipSteps ?? [],
    proxies: Object.fromEntries(
      proxyVariables.flatMap((name) => (settings.env[name] === undefined ? [] : [[name, settings.env[name]]])),
    ),
  };
}

/** An unpacked package of an earlier run. Only that package can remove some components. */
export const earlierPackage = standingPackage;

const said = ({ detail, advice }: Problem): string =>
  `${detail.replace(/\.$/, '')}${advice === undefined ? '' : `. ${advice}`}`;

const refusal = (errors: readonly Fault[]): Problem =>
  new Problem('bad-input', errors.map(({ path, message }) => `${path} ${message}`).join('; '), {
    errors,
    advice: 'Nothing was installed. Correct these and run the command again.',
  });
