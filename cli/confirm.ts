/** Asks a person on the terminal whether to go on. Called by commands before what cannot simply be undone. */
import { createInterface } from 'node:readline/promises';

/** Somebody is there to read the question and to answer it. */
export const canAsk = (): boolean => process.stdin.isTTY === true && process.stderr.isTTY === true;

/** Anything but a yes is a no, also the end of the input. */
export async function confirm(question: string, interrupted: AbortSignal): Promise<boolean> {
  // The terminal's own line editing will do; so Ctrl-C stays the interrupt that main hears.
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  try {
    const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
    const answer = await Promise.race([lines.question(`${question} [y/N] `, { signal: interrupted }), ended]);
    return /^\s*y(?:es)?\s*$/i.test(answer);
  } finally {
    lines.close();
  }
}
