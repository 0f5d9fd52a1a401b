/** Asks a person on the terminal whether to go on. */
import { createInterface } from 'node:readline/promises';
import { type Fault, Problem } from '../../shared/problems.js';
import { oneSpelling } from '../../shared/visible-text.js';
import type { CommandContext } from './command.js';
import type { Io } from './io.js';
import { paintedLine } from './printable.js';
import { wrapLine } from './wrap-line.js';

type Asking = Pick<CommandContext, 'io' | 'interrupted'>;

/** The least that a terminal has left for an answer behind its question. */
const answerCells = 20;

/** Whether a person can read the question and answer it. */
export const canAsk = ({ stdin, stderr }: Io): boolean => stdin.isTTY === true && stderr.isTTY === true;

/** The fault where nobody can be asked and no --yes was given. `beside`: the flag because of which it is asked. */
export const unasked = ({ io, has }: Pick<CommandContext, 'io' | 'has'>, beside?: '--force'): readonly Fault[] => {
  if (has('yes') || canAsk(io)) return [];
  const needed = beside === undefined ? 'is needed here' : `is needed with ${beside} here`;
  return [{ path: '--yes', message: `${needed}, as there is no terminal to ask on` }];
};

/** Only the whole name counts as yes, in any spelling of its letters. */
export const confirmByName = async (question: string, name: string, call: Asking): Promise<boolean> =>
  oneSpelling(await ask(question, call)) === oneSpelling(name);

/** Anything but a yes counts as no, and so does the end of the input. */
export const confirm = async (question: string, call: Asking): Promise<boolean> =>
  /^\s*y(?:es)?\s*$/i.test(await ask(`${question} [y/N]`, call));

/**
 * Reads one line, which is empty at the end of the input. Nothing has changed before the question, and the message after
 * Ctrl-C says so.
 */
export async function ask(question: string, { io, interrupted }: Asking): Promise<string> {
  // The terminal's own line editing suffices. This way Ctrl-C still raises SIGINT.
  const lines = createInterface({ input: io.stdin, output: io.stderr, terminal: false });
  try {
    const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
    const shown = wrapLine(paintedLine(question), (io.stderr.columns || 80) - answerCells).join('\n');
    return await Promise.race([lines.question(`${shown} `, { signal: interrupted }), ended]);
  } catch (error) {
    if (!interrupted.aborted) throw error;
    throw new Problem('interrupted', 'Interrupted.', { advice: 'Nothing was changed.', cause: error });
  } finally {
    lines.close();
  }
}
