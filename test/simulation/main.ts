/**
 * `npm run simulate -- --seed N`: plays one seed and prints its timeline. With `--minutes M` or `--seeds K` it goes on with the
 * next seeds, and prints only what is wrong, made small. `--whole` leaves it as it is, which is quicker.
 */
import { parseArgs } from 'node:util';
import { createSecondActs } from '../second-acts/second-acts.js';
import { bootstraps, installs } from './bootstraps.js';
import { hunt, inWords } from './hunt.js';
import { organizations } from './organizations.js';
import { placesOf, type Simulation } from './told.js';

const simulations: Readonly<Record<string, Simulation>> = {
  organizations,
  bootstraps,
  installs,
  'second-acts': createSecondActs({ machines: false }),
  'second-acts-on-machines': createSecondActs({ machines: true }),
};
const usage =
  'npm run simulate -- --seed N [--world organizations] [--minutes M] [--seeds K] [--whole] [--without PLACES of the plan]';

interface Asked {
  readonly simulation: Simulation;
  readonly seed: number;
  readonly minutes: number | undefined;
  readonly seeds: number | undefined;
  readonly without: readonly number[];
  readonly whole: boolean;
}

/** Throws with all that is wrong, in words. */
function readAsked(): Asked {
  const { values } = parseArgs({
    options: {
      world: { type: 'string', default: 'organizations' },
      seed: { type: 'string' },
      minutes: { type: 'string' },
      seeds: { type: 'string' },
      without: { type: 'string', default: '' },
      whole: { type: 'boolean', default: false },
    },
  });
  const wrong: string[] = [];
  const number = (flag: 'seed' | 'minutes' | 'seeds', least: number): number | undefined => {
    const given = values[flag];
    if (given === undefined) return undefined;
    const read = Number(given);
    if (given.trim() === '' || !(read >= least) || (flag !== 'minutes' && !Number.isSafeInteger(read)))
      wrong.push(`--${flag} ${given} is no ${flag === 'minutes' ? 'number' : 'whole number'} from ${least} on`);
    return read;
  };
  const [seed, minutes, seeds] = [number('seed', 0), number('minutes', 0), number('seeds', 1)];
  const without = values.without
    .split(',')
    .filter((each) => each !== '')
    .map(Number);
  if (without.some((each) => !Number.isSafeInteger(each) || each < 0))
    wrong.push('--without takes numbers, such as 0,3,4');
  if (without.length > 0 && (minutes ?? seeds) !== undefined) wrong.push('--without goes with one seed alone');
  const simulation = simulations[values.world];
  if (simulation === undefined) wrong.push(`--world takes ${Object.keys(simulations).join(' or ')}`);
  if (seed === undefined) wrong.push('--seed is missing');
  if (wrong.length > 0 || simulation === undefined || seed === undefined) throw new Error(wrong.join('\n'));
  return { simulation, seed, minutes, seeds, without, whole: values.whole };
}

/** Whether nothing was wrong. */
async function playOne({ simulation, seed, without }: Asked): Promise<boolean> {
  const items = placesOf(simulation.size(seed), without);
  const told = await simulation.play(seed, items);
  for (const line of told.timeline) console.log(line);
  console.log(told.faults.length === 0 ? '\nNothing was wrong.' : `\nWrong:\n${told.faults.join('\n')}`);
  return told.faults.length === 0;
}

async function playMany({
  simulation,
  seed,
  minutes,
  seeds = Number.MAX_SAFE_INTEGER,
  whole,
}: Asked): Promise<boolean> {
  const until = minutes === undefined ? Number.POSITIVE_INFINITY : performance.now() + minutes * 60_000;
  const hunted = await hunt(simulation, {
    from: seed,
    shrinks: !whole,
    goesOn: (played) => played < seeds && performance.now() < until,
  });
  if (hunted.found !== undefined) console.log(inWords(simulation, hunted.found));
  const pace = (hunted.seeds / hunted.cpuSeconds).toFixed(1);
  console.log(`${hunted.seeds} seeds of ${simulation.name} from ${seed} on, ${pace} a CPU-second`);
  return hunted.found === undefined;
}

try {
  const asked = readAsked();
  const many = (asked.minutes ?? asked.seeds) !== undefined;
  process.exitCode = (await (many ? playMany(asked) : playOne(asked))) ? 0 : 1;
  await asked.simulation.close?.();
} catch (error) {
  console.error(`${error instanceof Error ? error.message : error}\n\n${usage}`);
  process.exitCode = 2;
}
