/**
 * Reads files that hold secrets, or may hold them by mistake. What they may hold is registered before anything parses it, so
 * that no error can print it. A file is regular, not too large, and UTF-8 with or without a byte order mark.
 */
import type { SecretRedactor } from '../../shared/secret-redactor.js';
import { registerLines, registerNamed, registerScalars } from '../../shared/secret-texts.js';
import type { Settings } from '../settings.js';
import { ifThere, readBytes } from './files.js';
import { textIn } from './given-text.js';

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

/** Programs that read these byte by byte are their judges: age and OpenSSH. */
const readElsewhere: ReadonlySet<SecretFileKind> = new Set(['age identity', 'SSH private key']);

/** The limit of a request for one file. */
const mostRequested = 400 * 1024;
const mostOf: Readonly<Partial<Record<SecretFileKind, number>>> = {
  'install config': mostRequested,
  'secrets file': mostRequested,
  // They travel over SSH.
  'values file': 16 * 1024 * 1024,
};

/** Throws if it cannot be read as text. */
export function readSecretText(path: string, kind: SecretFileKind, settings: Reading): string {
  const bytes = readBytes(path, mostOf[kind]);
  const loose = registerText(bytes.toString('utf8'), kind, settings);
  if (readElsewhere.has(kind)) return loose;
  try {
    return textIn(bytes, path);
  } catch (error) {
    registerUnreadable(loose, settings);
    throw error;
  }
}

/** Undefined if there is no such file. Throws if it cannot be read. */
export const readSecretTextIfThere = (path: string, kind: SecretFileKind, settings: Reading): string | undefined =>
  ifThere(() => readSecretText(path, kind, settings));

/** The same for a file that will be replaced, and may hold anything of any size. */
export const readReplacedIfThere = (path: string, kind: SecretFileKind, settings: Reading): string | undefined =>
  ifThere(() => registerText(readBytes(path, Number.POSITIVE_INFINITY).toString('utf8'), kind, settings));
