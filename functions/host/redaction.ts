/**
 * The barrier of a function's process. Each request and each instance of a step has a redactor of its own, because one
 * caller's secrets are nobody else's matter. Everything that is logged or answered as a problem passes it.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { keyForms } from '../../shared/secret-forms.js';
import { createSecretRedactor, type SecretRedactor } from '../../shared/secret-redactor.js';

const current = new AsyncLocalStorage<SecretRedactor>();
/** Those of all work that goes on now. */
const active = new Set<SecretRedactor>();
/** Secrets of the deployment. No caller can guess one. */
const ofProcess = createSecretRedactor({ forms: keyForms });

/** All that `work` logs, and whatever it calls, passes `redactor`. */
export async function withRedactor<T>(redactor: SecretRedactor, work: () => Promise<T>): Promise<T> {
  active.add(redactor);
  try {
    return await current.run(redactor, work);
  } finally {
    active.delete(redactor);
  }
}

/** Registers a secret of the work that goes on here. */
export const registerHere = (value: string | undefined): void => current.getStore()?.register(value);

/** Registers a secret that serves all callers, and returns it. */
export function registerOfDeployment(value: string): string {
  ofProcess.register(value);
  return value;
}

/** What nobody awaits, such as an error that nobody catches, may be of any work that goes on. */
export function redactHere<T>(data: T): T {
  const own = current.getStore();
  const redactors = own === undefined ? [...active] : [own];
  return ofProcess.redact(redactors.reduce((left, { redact }) => redact(left), data));
}

/** The functions framework and libraries write to the process themselves, and Node its warnings. */
export function guardProcess(warn: (text: string) => void): void {
  for (const stream of [process.stdout, process.stderr]) {
    const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
    stream.write = (text: unknown, ...rest: unknown[]): boolean =>
      write(typeof text === 'string' ? redactHere(text) : text, ...rest);
  }
  process.removeAllListeners('warning');
  process.on('warning', ({ name, message }) => warn(`${name}: ${message}`));
}
