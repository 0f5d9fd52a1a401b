/**
 * `npm run bench`: all figures, each beside a baseline of the same run, as tables and as JSON. A figure is never a test: it
 * is read by people, and what is quoted in docs/build/bench.md bears its date and machine.
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { rowsOf } from './apart.js';
import { type Measurement, type Row, reasonOf, tableOf } from './figures.js';
import { measurements } from './measurements.js';
import { documentOf, failuresOf, type Result, resultsFile, summaryOf, writeResults } from './results.js';

const say = (text: string): void => void process.stderr.write(`${text}\n`);
const print = (text: string): void => void process.stdout.write(`${text}\n`);

const endingSignals = ['SIGINT', 'SIGTERM'] as const;

/** What each process apart does: one measurement, whose rows it prints as JSON, one a line. */
async function measureHere(measurement: Measurement, count: number | undefined): Promise<never> {
  // Emulators and folders go at the exit.
  for (const signal of endingSignals) process.once(signal, () => process.exit(1));
  const tell = (row: Row): void => print(JSON.stringify(row));
  try {
    for await (const row of measurement.measure(say, count)) tell(row);
  } catch (error) {
    if (error instanceof Error) say(error.stack ?? error.message);
    tell({ name: measurement.name, why: reasonOf(error), kind: 'failed' });
  }
  // What it has left open shall not hold up the others.
  process.exit(0);
}

/** Stops when the run does, or after so long. */
function within(stop: AbortSignal, seconds: number): AbortSignal {
  const limit = new AbortController();
  setTimeout(() => limit.abort(`It had not ended after ${seconds} s.`), seconds * 1000).unref();
  return AbortSignal.any([stop, limit.signal]);
}

interface Run {
  readonly count: number | undefined;
  readonly stop: AbortSignal;
}

/** Each row goes to `onRow` at once. A failure is a row, too. */
async function measured(
  { name, mostSeconds, heapMebibytes }: Measurement,
  { count, stop }: Run,
  onRow: (row: Row) => void,
): Promise<void> {
  const heap = heapMebibytes === undefined || count !== undefined ? [] : [`--max-old-space-size=${heapMebibytes}`];
  const args = [...heap, fileURLToPath(import.meta.url), '--here', name];
  if (count !== undefined) args.push('--count', String(count));
  const why = await rowsOf(args, within(stop, mostSeconds), onRow);
  if (why !== undefined) onRow({ name, why, kind: 'failed' });
}

interface Told {
  onRow(results: readonly Result[]): void;
  onEnd(result: Result): void;
}

/** A measurement that fails leaves a row that says why, and the others run all the same. */
async function measureAll(chosen: readonly Measurement[], run: Run, told: Told): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (const measurement of chosen) {
    if (run.stop.aborted) break;
    const { name, title } = measurement;
    say(`${title} (${name})`);
    const begun = performance.now();
    const result: Result = { name, rows: [], seconds: 0 };
    results.push(result);
    const onRow = (row: Row): void => {
      result.rows.push(row);
      result.seconds = (performance.now() - begun) / 1000;
      told.onRow(results);
    };
    await measured(measurement, run, onRow).catch((error: unknown) =>
      onRow({ name, why: reasonOf(error), kind: 'failed' }),
    );
    result.seconds = (performance.now() - begun) / 1000;
    told.onEnd(result);
  }
  return results;
}

function refusalOf(names: readonly string[] | undefined, given: string | undefined, count: number | undefined) {
  const unknown = names?.find((name) => !measurements.some((each) => each.name === name));
  if (unknown !== undefined) {
    return `--only takes ${measurements.map(({ name }) => name).join(', ')}, several with commas between them, not "${unknown}".`;
  }
  if (given !== undefined && (names?.length !== 1 || !Number.isInteger(count) || Number(count) < 1)) {
    return '--count goes with --only and one name, and is a whole number from 1 on.';
  }
  return undefined;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      count: { type: 'string' },
      json: { type: 'boolean', default: false },
      here: { type: 'string' },
    },
  });
  const names = (values.here ?? values.only)?.split(',');
  const count = values.count === undefined ? undefined : Number(values.count);
  const refusal = refusalOf(names, values.count, count);
  if (refusal !== undefined) {
    say(refusal);
    return 2;
  }
  const chosen = measurements.filter(({ name }) => names?.includes(name) ?? true);
  const [first] = chosen;
  if (values.here !== undefined && first !== undefined) return measureHere(first, count);

  const stopped = new AbortController();
  for (const signal of endingSignals) process.on(signal, () => stopped.abort('The run was stopped.'));
  const results = await measureAll(
    chosen,
    { count, stop: stopped.signal },
    {
      onRow(soFar) {
        if (names === undefined) writeResults(soFar);
      },
      onEnd({ name, seconds, rows }) {
        if (!values.json) print(`\n${name}, ${seconds.toFixed(0)} s\n${tableOf(rows)}\n`);
      },
    },
  );
  print(values.json ? documentOf(results) : summaryOf(results));
  if (names === undefined) say(`\nAlso in ${resultsFile}.`);
  return stopped.signal.aborted || results.some(({ rows }) => failuresOf(rows) > 0) ? 1 : 0;
}

process.exitCode = await main();
