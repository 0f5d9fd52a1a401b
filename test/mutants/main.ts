/**
 * Draws mutants of cli/, functions/ and shared/ by a seed, and tells which of them the tests kill: `npm run test:mutants -- --seed 1
 * --keep FILE`. With `--from FILE` it tries the mutants of that file again, and fails where one that was killed now survives.
 *
 * All mutants are built into one scratch copy, each behind a switch, and one run of the tests notes which file reaches which. A
 * mutant then meets the files that reach it, the quickest first, until one fails or `--seconds` of them have passed.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { readResults, secondsByFile } from '../../tools/tests/results.js';
import { filesOf, type TierName, tiers } from '../../tools/tests/tiers.js';
import { createRandom } from '../organizations/random.js';
import { createScratchCopy, type ScratchCopy } from '../planted/scratch-copy.js';
import { draw, findAgain, type Mutant, type Placed } from './draw.js';

type End = 'killed' | 'survived' | 'unreached';
type Tried = Mutant & { readonly end: End };

/** What a test run without any mutant showed. */
interface Judges {
  /** Of the files that pass, by how long they take. */
  readonly seconds: ReadonlyMap<string, number>;
  readonly reach: readonly (readonly string[])[];
}

const hourMs = 3_600_000;
const mocha = join('node_modules', 'mocha', 'bin', 'mocha.js');
const hooks = ['--require', './dist/test/mutants/hooks.js'];

/** Types no longer fit everywhere, and what the compiler thinks of a mutant is not asked here. */
function buildIn(folder: string, mutants: readonly Placed[]): void {
  for (const top of ['bench', 'cli', 'functions', 'local', 'shared', 'test', 'tools']) {
    for (const file of readdirSync(join(folder, top), { recursive: true, encoding: 'utf8' })) {
      if (!/\.m?ts$/.test(file)) continue;
      const path = join(folder, top, file);
      const text = switched(
        readFileSync(path, 'utf8'),
        mutants.flatMap((each, number) => (each.file === join(top, file) ? [{ ...each, number }] : [])),
      );
      writeFileSync(path, text.replace(/^(#!.*\n)?/, '$1// @ts-nocheck\n'));
    }
  }
}

function switched(text: string, mutants: readonly (Placed & { readonly number: number })[]): string {
  return mutants
    .toSorted((one, other) => other.start - one.start)
    .reduce((rest, { start, end, put, isStatement, number }) => {
      const was = rest.slice(start, end);
      const isOn = `(globalThis as any).plinthMutant?.(${number})`;
      const both = isStatement ? `if (${isOn}) ${put} else ${was}` : `(${isOn} ? (${put}) : (${was}))`;
      return rest.slice(0, start) + both + rest.slice(end);
    }, text);
}

async function judgesFor(copy: ScratchCopy, tier: TierName, count: number): Promise<Judges> {
  const results = join(copy.folder, 'results.json');
  const seen = join(copy.folder, 'mutants-seen');
  const how = [
    '--no-config',
    '--exit',
    '--timeout',
    '120000',
    '--parallel',
    '--jobs',
    '3',
    '--reporter',
    'test/report.cjs',
  ];
  await copy.run(process.execPath, [mocha, ...how, ...hooks, ...filesOf(tiers[tier])], {
    longestMs: hourMs,
    env: { ...switchOf(copy), PLINTH_TEST_RESULTS: results, PLINTH_TEST_SECONDS: '3', PLINTH_MUTANTS_SEEN: seen },
  });
  const told = readResults(results);
  if (told === undefined) throw new Error('The tests did not run to their end.');
  const failed = new Set(told.filter(({ state }) => state === 'failed').map(({ file }) => file));
  const seconds = new Map([...secondsByFile(told)].filter(([file]) => !failed.has(file)));
  console.log(`${seconds.size} files judge; ${failed.size} do not pass with the switches in the sources:`);
  for (const file of failed) console.log(`  ${file}`);
  const filesAt = (number: number): string[] => {
    const names = readdirSync(seen).includes(String(number)) ? readdirSync(join(seen, String(number))) : [];
    return names.map(decodeURIComponent).filter((file) => seconds.has(file));
  };
  return { seconds, reach: Array.from({ length: count }, (_, number) => filesAt(number)) };
}

const switchOf = ({ folder }: ScratchCopy): Record<string, string> => ({
  NODE_OPTIONS: `--import=${pathToFileURL(join(folder, 'dist/test/mutants/switch.js'))}`,
  CI: 'true',
});

async function tryOne(copy: ScratchCopy, { seconds, reach }: Judges, number: number, budget: number): Promise<End> {
  let spent = 0;
  const files = (reach[number] ?? [])
    .toSorted((one, other) => (seconds.get(one) ?? 0) - (seconds.get(other) ?? 0))
    .filter((file, i) => {
      spent += seconds.get(file) ?? 0;
      return i === 0 || spent <= budget;
    });
  if (files.length === 0) return 'unreached';
  const how = ['--no-config', '--exit', '--bail', '--timeout', '60000', '--reporter', 'dot'];
  const { code } = await copy.run(process.execPath, [mocha, ...how, ...files], {
    longestMs: (spent * 3 + 120) * 1000,
    env: { ...switchOf(copy), PLINTH_TEST_SECONDS: '3', PLINTH_MUTANT: String(number) },
  });
  return code === 0 ? 'survived' : 'killed';
}

async function tryAll(copy: ScratchCopy, mutants: readonly Placed[], tier: TierName, budget: number): Promise<Tried[]> {
  buildIn(copy.folder, mutants);
  await copy.build();
  const judges = await judgesFor(copy, tier, mutants.length);
  const ends: End[] = [];
  const next = mutants.keys();
  const work = async (): Promise<void> => {
    for (const number of next) {
      const { file, line, was, put } = mutants[number] as Placed;
      const end = await tryOne(copy, judges, number, budget);
      ends[number] = end;
      console.log(`${number + 1}. ${end}: ${file}: ${line.trim()}\n   ${was} → ${put}`);
    }
  };
  await Promise.all([work(), work()]);
  return mutants.map(({ file, line, nth, column, was, put }, number) => ({
    ...{ file, line, nth, column, was, put },
    end: ends[number] as End,
  }));
}

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '120' },
    tier: { type: 'string', default: 'node' },
    keep: { type: 'string' },
    from: { type: 'string' },
  },
});
const root = resolve(import.meta.dirname, '../../..');
const earlier = values.from === undefined ? undefined : (JSON.parse(readFileSync(values.from, 'utf8')) as Tried[]);
const again = earlier?.map((each) => ({ each, placed: findAgain(root, each) }));
const gone = again?.filter(({ placed }) => placed === undefined) ?? [];
const mutants =
  again?.flatMap(({ placed }) => placed ?? []) ?? draw(root, createRandom(Number(values.seed)), Number(values.count));
const wasKilled = again?.filter(({ placed }) => placed !== undefined).map(({ each }) => each.end === 'killed') ?? [];
for (const { each } of gone) console.log(`No longer in the sources: ${each.file}: ${each.line.trim()}`);

const copy = createScratchCopy(root);
try {
  const tried = await tryAll(copy, mutants, values.tier as TierName, Number(values.seconds));
  const killed = tried.filter(({ end }) => end === 'killed').length;
  const lost = tried.filter(({ end }, i) => wasKilled[i] === true && end !== 'killed');
  console.log(`${killed} of ${tried.length} mutants are killed; ${lost.length} that were killed before survive.`);
  if (values.keep !== undefined) writeFileSync(values.keep, `${JSON.stringify(tried, undefined, 1)}\n`);
  if (lost.length > 0) process.exitCode = 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  await copy.remove();
}
