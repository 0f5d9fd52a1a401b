/** Programs of the project that end at once, run in one process one after another: most of such a run is the start of its process. */
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { startProgram } from './halves.js';

export type Run = readonly [program: string, args: readonly string[]];

export interface Ended {
  /** That its process would have ended with. */
  readonly exitCode: unknown;
  readonly stdout: string;
  readonly stderr: string;
}

const player = fileURLToPath(new URL('one-after-another-program.js', import.meta.url));

export async function oneAfterAnother(
  runs: readonly Run[],
  at: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> },
): Promise<readonly Ended[]> {
  const played = startProgram(player, [JSON.stringify(runs)], at);
  expect(await played.ended, played.output()).to.equal(0);
  return JSON.parse(played.output()) as Ended[];
}
