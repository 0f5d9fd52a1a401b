/** Asks a person on the terminal whether to go on. Called by commands before what cannot simply be undone. */
import { createInterface } from 'node:readline/promises';

/** Somebody is there to read the question and to answer it. */
export const canAsk = (): boolean => process.stdin.isTTY === true && process.stderr.isTTY === true;

/** Only the very name is a yes. */
export const confirmByName = async (question: string, name: string, interrupted: AbortSignal): Promise<boolean> =>
  (await ask(question, interrupted)).trim() === name;

/** Anything but a yes is a no, also the end of the input. */
export const confirm = async (question: string, interrupted: AbortSignal): Promise<boolean> =>
  /^\s*y(?:es)?\s*$/i.test(await ask(`${question} [y/N]`, interrupted));

/** A line; empty at the end of the input. */
export async function ask(question: string, interrupted: AbortSignal): Promise<string> {
  // The terminal's own line editing will do; so Ctrl-C stays the interrupt that main hears.
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  try {
    const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
    return await Promise.race([lines.question(`${question} `, { signal: interrupted }), ended]);
  } finally {
    lines.close();
  }
}
