/** Reads flags that a command requires, and reports all missing ones at once. */
import { type Fault, Problem } from '../../shared/problems.js';
import type { CommandContext } from './command.js';

type RequiredFlag = 'ttl' | 'until' | 'reason' | 'with';

export function required<N extends RequiredFlag>(call: CommandContext, ...names: N[]): Record<N, string> {
  const faults: Fault[] = [...call.faults];
  const read: Partial<Record<N, string>> = {};
  for (const name of names) {
    const word = call.word(name);
    if (word !== undefined && word.text.trim() !== '') read[name] = word.text.trim();
    else if (!faults.some(({ path }) => path === `--${name}`)) faults.push({ path: `--${name}`, message: 'is needed' });
  }
  if (faults.length > 0) throw refusal(faults);
  return read as Record<N, string>;
}

/** For what the service refuses in the field that this flag fills: names the flag in place of the field. */
export const atFlag =
  (name: RequiredFlag) =>
  (error: unknown): never => {
    if (!(error instanceof Problem) || !error.errors?.every(({ path }) => path === name)) throw error;
    const { errors, advice } = error;
    throw refusal(
      errors.map(({ message }) => ({ path: `--${name}`, message })),
      advice,
    );
  };

export const refusal = (errors: readonly Fault[], advice?: string): Problem =>
  new Problem('bad-input', errors.map(({ path, message }) => `${path} ${message}`).join('; '), {
    errors,
    ...(advice !== undefined && { advice }),
  });
