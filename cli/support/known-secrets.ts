/** Secrets that this computer holds for plinth: what a support archive must never show. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isSecret, optionNames } from '../../shared/bootstrap/options.js';
import { configPath, readConfig } from '../files/config-file.js';
import { readIfThere } from '../files/files.js';
import type { Call } from '../frame/command.js';
import { readCredentials } from '../identity/credentials-file.js';

/** A variable with such a name holds a secret, whoever set it. `API_KEY` is one, `KEY_ID` is none. */
const secretName = /(?:TOKEN|SECRET|PASSW(?:OR)?D|PASSPHRASE|CREDENTIALS?|PRIVATE_KEY|API_?KEY|_PAT|_HEADERS)$/i;

/** Values. What cannot be read is no secret that could be shown. */
export async function knownSecrets({ settings, given }: Pick<Call, 'settings' | 'given'>): Promise<readonly string[]> {
  const { env, configFolder } = settings;
  const config = await readConfig(configPath(configFolder)).catch(() => undefined);
  const login = silent(() => readCredentials(settings));
  return [
    ...optionNames.filter(isSecret).map((option) => given[option]),
    ...Object.entries(env).map(([name, value]) => (secretName.test(name) ? value : undefined)),
    ...partsOfHeaders(settings.traces.headers),
    config?.['oauth.clientSecret'],
    login?.refreshToken,
    login?.idToken,
    ...filesIn(join(configFolder, 'age')),
    ...filesIn(join(configFolder, 'test-users')).flatMap(textsOf),
  ].filter((value): value is string => typeof value === 'string' && value !== '');
}

/** `authorization=Bearer x,other=y`: each value for itself. */
const partsOfHeaders = (headers: string | undefined): string[] =>
  (headers ?? '').split(',').map((each) => decoded(each.slice(each.indexOf('=') + 1).trim()));

const decoded = (text: string): string => silent(() => decodeURIComponent(text)) ?? text;

function filesIn(folder: string): string[] {
  const names = silent(() => readdirSync(folder)) ?? [];
  return names.flatMap((name) => silent(() => readIfThere(join(folder, name))) ?? []);
}

/** The token of a test user stands in JSON beside what anybody may know. */
function textsOf(content: string): string[] {
  const { token, password } = (silent(() => JSON.parse(content)) ?? {}) as Record<string, unknown>;
  return [token, password].filter((each) => typeof each === 'string');
}

function silent<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
