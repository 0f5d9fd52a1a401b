/**
 * Plants one fault after another in a scratch copy of the project, and wants the tests to notice each. `--only` takes a fault by
 * its number, or those with a text in their names, and may be given more than once. Run as `npm run test:planted`.
 */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Fault, ScheduleFault, SimulatedWorld } from './fault.js';
import { faults } from './faults.js';
import { guards } from './guards.js';
import { type Ended, runNamedTests } from './named-tests.js';
import { mostSeeds, schedules } from './schedules.js';
import { createScratchCopy, type ScratchCopy } from './scratch-copy.js';

/** A fault and its place in the table, from 1. */
type Chosen = (Fault | ScheduleFault) & { readonly number: number };

interface Verdict {
  readonly caught: boolean;
  readonly says: string;
}

const planted: readonly (Fault | ScheduleFault)[] = [...faults, ...guards, ...schedules];

const isNamed = <T extends object>(fault: T): fault is Extract<T, Fault> => 'tests' in fault;

/** None where no number or name fits. */
function chosenBy(only: readonly string[] | undefined): readonly Chosen[] {
  const all = planted.map((fault, i) => ({ ...fault, number: i + 1 }));
  if (only === undefined) return all;
  const isMeant = ({ number, name }: Chosen, text: string): boolean =>
    /^\d+$/.test(text) ? String(number) === text : text !== '' && name.includes(text);
  return all.filter((fault) => only.some((text) => isMeant(fault, text)));
}

/** Before anything is planted: all tests are there, and pass. */
function checkSound({ passed, failed, broken }: Ended, chosen: readonly Fault[]): void {
  const faulty = [...failed, ...broken];
  if (faulty.length > 0) throw new Error(`Without any fault these do not pass:\n${faulty.join('\n')}`);
  const missing = chosen.filter(({ fails }) => !passed.some((title) => title.includes(fails)));
  if (missing.length > 0) throw new Error(`No test is named so:\n${missing.map(({ fails }) => fails).join('\n')}`);
}

/** What was wrong first, with its seed. Undefined: no seed shows anything. */
async function simulated(copy: ScratchCopy, world: SimulatedWorld): Promise<string | undefined> {
  const simulate = ['dist/test/simulation/main.js', '--world', world, '--seed', '1', '--whole'];
  const { code, output } = await copy.run(process.execPath, [...simulate, '--seeds', String(mostSeeds[world])]);
  if (code === 0) return undefined;
  if (code !== 1) throw new Error(`The simulation did not run to its end:\n${output.slice(-4000)}`);
  return output.split('\n').slice(0, 2).join(' ');
}

/** Of the tests that the fault names. */
async function testedVerdict(copy: ScratchCopy, fault: Fault): Promise<Verdict> {
  const { failed, broken } = await runNamedTests(copy, [fault]);
  if (failed.length > 0) return { caught: true, says: `caught by: ${failed.join('; ')}` };
  if (broken.length > 0) return { caught: false, says: `ERROR, no assertion failed: ${broken.join('; ')}` };
  return { caught: false, says: `NOT CAUGHT by ${fault.tests.join(', ')}` };
}

async function simulatedVerdict(copy: ScratchCopy, world: SimulatedWorld): Promise<Verdict> {
  const found = await simulated(copy, world);
  if (found === undefined) return { caught: false, says: `NOT FOUND by the simulation of ${world}` };
  return { caught: true, says: `found: ${found}` };
}

async function verdictOn(copy: ScratchCopy, fault: Chosen): Promise<Verdict> {
  try {
    const files = copy.plant(fault.edits);
    await copy.build();
    const world = isNamed(fault) ? fault.simulated : fault.world;
    const verdicts = [
      ...(isNamed(fault) ? [await testedVerdict(copy, fault)] : []),
      ...(world === undefined ? [] : [await simulatedVerdict(copy, world)]),
    ];
    return {
      caught: verdicts.every(({ caught }) => caught),
      says: [files.join(', '), ...verdicts.map(({ says }) => says)].join('; '),
    };
  } catch (error) {
    return { caught: false, says: `ERROR: ${error instanceof Error ? error.message : error}` };
  } finally {
    copy.restore();
  }
}

const secondsSince = (start: number): string => `${((performance.now() - start) / 1000).toFixed(0)} s`;

/** How many are caught. */
async function plantAll(copy: ScratchCopy, chosen: readonly Chosen[]): Promise<number> {
  const start = performance.now();
  await copy.build();
  const named = chosen.filter(isNamed);
  if (named.length > 0) {
    const sound = await runNamedTests(copy, named);
    checkSound(sound, named);
    console.log(`Without a fault ${sound.passed.length} tests pass, ${secondsSince(start)}.`);
  }
  for (const world of new Set<SimulatedWorld>(
    chosen.flatMap((fault) => (isNamed(fault) ? (fault.simulated ?? []) : fault.world)),
  )) {
    const found = await simulated(copy, world);
    if (found !== undefined) throw new Error(`Without any fault the simulation finds:\n${found}`);
    console.log(`Without a fault ${mostSeeds[world]} seeds of ${world} show nothing, ${secondsSince(start)}.`);
  }
  let caught = 0;
  for (const fault of chosen) {
    const since = performance.now();
    const verdict = await verdictOn(copy, fault);
    if (verdict.caught) caught += 1;
    const source = isNamed(fault) ? fault.source : fault.world;
    console.log(`${fault.number}. ${fault.name} (${source}, ${secondsSince(since)})\n   ${verdict.says}`);
  }
  console.log(`${caught} of ${chosen.length} faults are caught, ${secondsSince(start)}.`);
  return caught;
}

const { values } = parseArgs({ options: { only: { type: 'string', multiple: true } } });
const chosen = chosenBy(values.only);
if (chosen.length === 0) {
  console.error(`--only takes a number from 1 to ${planted.length}, or a part of a fault's name.`);
  process.exit(2);
}
const copy = createScratchCopy(resolve(import.meta.dirname, '../../..'));
try {
  if ((await plantAll(copy, chosen)) < chosen.length) process.exitCode = 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  await copy.remove();
}
