/** How long a person waits for `plinth --help`, beside what Node itself takes to start. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type Measurement, median } from './figures.js';

const program = fileURLToPath(new URL('../cli/main.js', import.meta.url));
const pairs = 20;

function timed(args: readonly string[]): number {
  const begun = performance.now();
  const { status } = spawnSync(process.execPath, args, { stdio: 'ignore' });
  if (status !== 0) throw new Error(`node ${args.join(' ')} ended with ${status}`);
  return performance.now() - begun;
}

export const help: Measurement = {
  name: 'help',
  title: 'plinth --help',
  async measure(say) {
    const commands = { help: [program, '--help'], nothing: ['-e', '0'] } as const;
    timed(commands.help);
    timed(commands.nothing);
    const times: Record<keyof typeof commands, number[]> = { help: [], nothing: [] };
    for (let i = 0; i < pairs; i++) {
      // By turns, so that a busy moment of the machine hits both.
      const order = i % 2 === 0 ? (['help', 'nothing'] as const) : (['nothing', 'help'] as const);
      for (const which of order) times[which].push(timed(commands[which]));
    }
    say(`${pairs} pairs`);
    return [
      {
        name: 'plinth --help',
        value: median(times.help),
        unit: 'ms',
        baseline: { name: 'node -e 0', value: median(times.nothing), unit: 'ms' },
        aim: 2,
      },
    ];
  },
};
