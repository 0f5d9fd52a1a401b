/** Plays seed after seed of a kind of world, some of them twice, and makes the first failing one small. */
import { heldSeed } from '../../tools/tests/tiers.js';
import { shrink } from './shrink.js';
import { placesOf, type Simulation, type Told } from './told.js';

export interface Hunted {
  readonly seeds: number;
  /** Of this process. */
  readonly cpuSeconds: number;
  readonly found?: Found;
}

export interface Found {
  readonly seed: number;
  readonly without: readonly number[];
  readonly told: Told;
}

interface Hunting {
  /** The first seed. */
  readonly from: number;
  /** Asked before each seed, with how many were played. */
  readonly goesOn: (seeds: number) => boolean;
  /** Whether the failing seed's plan is made smaller. */
  readonly shrinks?: boolean;
}

/** Here these tests begin, also where nobody waits for them. */
export const firstSeed = Number(process.env['PLINTH_TEST_SEED'] ?? heldSeed);

/** One in so many seeds is played twice. */
const twiceEvery = 20;

const textOf = ({ timeline, faults }: Told): string => [...timeline, ...faults].join('\n');

/** Undefined: nothing was wrong. */
async function tried(simulation: Simulation, seed: number, twice: boolean): Promise<Told | undefined> {
  const items = placesOf(simulation.size(seed));
  const told = await simulation.play(seed, items);
  if (told.faults.length > 0) return told;
  if (!twice || simulation.inRealTime === true) return undefined;
  const again = await simulation.play(seed, items);
  if (textOf(again) === textOf(told)) return undefined;
  const at = told.timeline.findIndex((line, i) => line !== again.timeline[i]);
  const what = `the same seed told something else at line ${at + 1}: ${again.timeline[at] ?? 'its end'}`;
  return { ...told, faults: [what] };
}

export async function hunt(simulation: Simulation, { from, goesOn, shrinks = true }: Hunting): Promise<Hunted> {
  const begun = process.cpuUsage();
  let seeds = 0;
  let found: Found | undefined;
  while (found === undefined && goesOn(seeds)) {
    const seed = from + seeds;
    const told = await tried(simulation, seed, seeds % twiceEvery === 0);
    seeds += 1;
    if (told !== undefined)
      found = { seed, ...(shrinks ? await shrink(simulation, seed, told) : { without: [], told }) };
  }
  const { user, system } = process.cpuUsage(begun);
  return { seeds, cpuSeconds: (user + system) / 1e6, ...(found === undefined ? {} : { found }) };
}

/** Fails with the first seed that does, as it is: a change is not held up for making it smaller. */
export async function findsNothing(simulation: Simulation, goesOn: Hunting['goesOn']): Promise<void> {
  const { found } = await hunt(simulation, { from: firstSeed, goesOn, shrinks: false });
  if (found !== undefined) throw new Error(inWords(simulation, found));
}

/** What is wrong, the command that plays it again, and the timeline. */
export function inWords({ name }: Simulation, { seed, without, told }: Found): string {
  const left = without.length === 0 ? '' : ` --without ${without.join(',')}`;
  const command = `npm run simulate -- --world ${name} --seed ${seed}`;
  return [
    `Seed ${seed} of ${name}:`,
    ...told.faults.map((fault) => `  ${fault}`),
    '',
    command + left,
    ...(without.length === 0 ? [`To make its plan smaller: ${command} --seeds 1`] : []),
    '',
    ...told.timeline,
  ].join('\n');
}
