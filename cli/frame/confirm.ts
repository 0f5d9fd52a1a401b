/** Asks a person on the terminal whether to go on. */
import { createInterface } from 'node:readline/promises';
import { Problem } from '../../shared/problems.js';
import type { Call } from './command.js';
import type { Io } from './io.js';

type Asking = Pick<Call, 'io' | 'interrupted'>;

/** Somebody is there to read the question and to answer it. */
export const canAsk = ({ stdin, stderr }: Io): boolean => stdin.isTTY === true && stderr.isTTY === true;

/** Only the very name is a yes. */
export const confirmByName = async (question: string, name: string, call: Asking): Promise<boolean> =>
  (await ask(question, call)).trim() === name;

/** Anything but a yes is a no, also the end of the input. */
export const confirm = async (question: string, call: Asking): Promise<boolean> =>
  /^\s*y(?:es)?\s*$/i.test(await ask(`${question} [y/N]`, call));

/** A line; empty at the end of the input. Nothing is changed before it is asked, which Ctrl-C is told. */
export async function ask(question: string, { io, interrupted }: Asking): Promise<string> {
  // The terminal's own line editing will do; so Ctrl-C stays the interrupt that main hears.
  const lines = createInterface({ input: io.stdin, output: io.stderr, terminal: false });
  try {
    const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
    return await Promise.race([lines.question(`${question} `, { signal: interrupted }), ended]);
  } catch (error) {
    if (!interrupted.aborted) throw error;
    throw new Problem('interrupted', 'Interrupted.', { advice: 'Nothing was changed.', cause: error });
  } finally {
    lines.close();
  }
}
