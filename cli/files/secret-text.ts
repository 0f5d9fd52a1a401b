/**
 * Reads files that hold secrets, or may hold them by mistake. What they may hold is registered before anything parses it, so
 * that no error can print it.
 */
import { readFileSync } from 'node:fs';
import type { SecretRedactor } from '../../shared/secret-redactor.js';
import { registerLines, registerNamed, registerScalars } from '../../shared/secret-texts.js';
import type { Settings } from '../settings.js';

type Register = (redactor: SecretRedactor, text: string) => void;

/** Each kind of file, and how its secrets are known before it is parsed. A new one has a row here, and is tried damaged. */
const secretFileKinds = {
  'age identity': registerLines,
  'SSH private key': registerLines,
  'upload session': registerLines,
  'secret by reference': (redactor, text) => {
    redactor.register(text.replace(/\r?\n$/, ''));
    registerLines(redactor, text);
  },
  'secrets file': registerScalars,
  credentials: registerNamed,
  'test user': registerNamed,
  'install config': registerNamed,
  'values file': registerNamed,
  'project file': registerNamed,
  'config file': registerNamed,
  kubeconfig: registerNamed,
} as const satisfies Readonly<Record<string, Register>>;
export type SecretFileKind = keyof typeof secretFileKinds;

type Reading = Pick<Settings, 'redactor'>;

/** For a text that is no file here, such as one of a machine. */
export function registerText(text: string, kind: SecretFileKind, { redactor }: Reading): string {
  secretFileKinds[kind](redactor, text);
  return text;
}

/** For a text that cannot be parsed, so that nobody knows which of its values is a secret. */
export const registerUnreadable = (text: string, { redactor }: Reading): void => registerScalars(redactor, text);

/** Throws if it cannot be read. */
export const readSecretText = (path: string, kind: SecretFileKind, settings: Reading): string =>
  registerText(readFileSync(path, 'utf8'), kind, settings);

/** Undefined if there is no such file. Throws if it cannot be read. */
export function readSecretTextIfThere(path: string, kind: SecretFileKind, settings: Reading): string | undefined {
  try {
    return readSecretText(path, kind, settings);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
