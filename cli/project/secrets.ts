/** Reads a secret from where `plinth.yaml` says it is: the environment, a file, or Secret Manager. */
import { homePlaceOf, reason } from '../files/files.js';
import { readSecretText, registerText } from '../files/secret-text.js';
import type { Call } from '../frame/command.js';
import { withoutLineBreak } from '../frame/flags.js';
import type { SecretReference } from './schema.js';
import { readFromSecretManager } from './secret-manager.js';

export type ReadSecret = { readonly value: string } | { readonly why: string };

/** What it says never holds the value, which is registered. */
export async function readSecret(reference: SecretReference, call: Call): Promise<ReadSecret> {
  const read = await readFrom(reference, call);
  if (!('value' in read)) return read;
  registerText(read.value, 'secret by reference', call.settings);
  return { value: withoutLineBreak(read.value) };
}

async function readFrom(reference: SecretReference, call: Call): Promise<ReadSecret> {
  if ('env' in reference) {
    const value = call.settings.env[reference.env] ?? '';
    return withoutLineBreak(value) === ''
      ? { why: `is in the environment variable ${reference.env}, which is not set` }
      : { value };
  }
  if ('file' in reference) return readSecretFile(reference.file, call);
  return readFromSecretManager(reference.secretManager, call);
}

function readSecretFile(path: string, { settings }: Call): ReadSecret {
  try {
    const value = readSecretText(homePlaceOf(path, settings), 'secret by reference', settings);
    return withoutLineBreak(value) === '' ? { why: `is in ${path}, which is empty` } : { value };
  } catch (error) {
    return { why: `is in ${path}, which cannot be read: ${reason(error)}` };
  }
}
