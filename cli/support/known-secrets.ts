/** Reads all secrets that this computer holds for plinth, so that a support archive shows none of them. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '../files/config-file.js';
import { readSecretTextIfThere, type SecretFileKind } from '../files/secret-text.js';
import { readCredentials } from '../identity/credentials-file.js';
import type { Settings } from '../settings.js';

const folders: Readonly<Record<string, SecretFileKind>> = {
  age: 'age identity',
  'test-users': 'test user',
  uploads: 'upload session',
};

/** Reading registers them. What cannot be read is no secret that could be shown. */
export async function registerKnownSecrets(settings: Settings): Promise<void> {
  await readConfig(settings).catch(() => undefined);
  silent(() => readCredentials(settings));
  for (const [name, kind] of Object.entries(folders)) {
    const folder = join(settings.configFolder, name);
    for (const file of silent(() => readdirSync(folder)) ?? []) {
      silent(() => readSecretTextIfThere(join(folder, file), kind, settings));
    }
  }
}

function silent<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
