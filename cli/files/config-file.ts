/** `config.yaml` in plinth's config folder: where the service is, and which OAuth client people log in with. */
import { join } from 'node:path';
import { type Fault, Problem } from '../../shared/problems.js';
import { refusal } from '../frame/required.js';
import type { Settings } from '../settings.js';
import { makeSecretFolder, reason, secretMode, writeWhole } from './files.js';
import { readSecretTextIfThere, registerUnreadable } from './secret-text.js';

/** All names that the file may hold, in display order. */
export const configNames = [
  'endpoints.bootstraps',
  'endpoints.api',
  'oauth.issuer',
  'oauth.clientId',
  'oauth.clientSecret',
] as const;
export type ConfigName = (typeof configNames)[number];
export type ConfigValues = Readonly<Partial<Record<ConfigName, string>>>;

export const configPath = (configFolder: string): string => join(configFolder, 'config.yaml');

type Reading = Pick<Settings, 'configFolder' | 'redactor'>;

/** Undefined if there is no such file. */
function textOf(settings: Reading): string | undefined {
  const path = configPath(settings.configFolder);
  try {
    return readSecretTextIfThere(path, 'config file', settings);
  } catch (error) {
    throw unreadable(path, reason(error));
  }
}

/** Empty if there is no file. */
export async function readConfig(settings: Reading): Promise<ConfigValues> {
  const text = textOf(settings);
  return text === undefined ? {} : configIn(text, configPath(settings.configFolder), settings);
}

/** `from` names the text in messages. */
export async function configIn(text: string, from: string, settings: Reading): Promise<ConfigValues> {
  const [{ isMap, isScalar }, { faultText, readYamlDocument }] = await Promise.all([
    import('yaml'),
    import('../../shared/yaml-text.js'),
  ]);
  const { document, errors, lineOf } = readYamlDocument(text);
  const [first] = errors;
  if (first !== undefined) {
    registerUnreadable(text, settings);
    throw unreadable(from, faultText(first));
  }
  const faults: Fault[] = [];
  const values: Partial<Record<ConfigName, string>> = {};
  const read = (node: unknown, name: string, at: number): void => {
    const fault = (message: string) => void faults.push({ path: `${from}:${at}:${name}`, message });
    if (isMap(node) && (name === '' || isGroup(name))) {
      for (const { key, value } of node.items) {
        const word = isScalar(key) ? String(key.value) : '?';
        const line = isScalar(key) ? lineOf(key.range?.[0] ?? 0) : at;
        read(value, name === '' ? word : `${name}.${word}`, line);
      }
    } else if (!isConfigName(name))
      fault(name === '' || isGroup(name) ? 'must hold keys and their values' : 'is no setting of this file');
    else if (!isScalar(node) || typeof node.value !== 'string') fault('must be text');
    else values[name] = node.value;
  };
  if (document.contents !== null) read(document.contents, '', 1);
  if (faults.length > 0) throw refusal(faults, advice);
  return values;
}

const isConfigName = (name: string): name is ConfigName => (configNames as readonly string[]).includes(name);
const isGroup = (name: string): boolean => configNames.some((each) => each.startsWith(`${name}.`));

/** Replaces the file atomically, readable only by its owner. It keeps what people wrote beside the values. */
export async function writeConfig(settings: Reading, values: ConfigValues): Promise<void> {
  const { configFolder } = settings;
  const { readYamlDocument } = await import('../../shared/yaml-text.js');
  const path = configPath(configFolder);
  const { document } = readYamlDocument(textOf(settings) ?? '');
  for (const name of configNames) {
    const value = values[name];
    if (value === undefined) {
      if (document.hasIn(name.split('.'))) document.deleteIn(name.split('.'));
    } else if (document.getIn(name.split('.')) !== value) document.setIn(name.split('.'), value);
  }
  for (const group of ['endpoints', 'oauth']) {
    if (!configNames.some((name) => name.startsWith(`${group}.`) && values[name] !== undefined)) {
      if (document.has(group)) document.delete(group);
    }
  }
  makeSecretFolder(configFolder);
  writeWhole(path, String(document), secretMode);
}

const advice = 'Correct it; it may hold endpoints: {bootstraps, api} and oauth: {issuer, clientId, clientSecret}.';
const unreadable = (file: string, why: string) =>
  new Problem('bad-input', `${file} cannot be read: ${why}.`, { advice });

/** Why no token may be sent to a URL, such as plain http outside loopback. Undefined if it may. */
export function whyNoEndpoint(url: string): string | undefined {
  if (!URL.canParse(url)) return 'must be a URL';
  const { protocol, hostname, username, search, hash } = new URL(url);
  const loopback = hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d+){3}$/.test(hostname);
  if (protocol !== 'https:' && !(protocol === 'http:' && loopback)) {
    return 'must begin with https:// (plain http is for loopback only)';
  }
  return username !== '' || search !== '' || hash !== '' ? 'must have no user, query or fragment' : undefined;
}

export const withoutSlash = (url: string): string => url.replace(/\/+$/, '');
