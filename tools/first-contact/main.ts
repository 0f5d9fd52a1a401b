/** `npm run first-contact`: tries on a real account what plinth believes of Google. */
import { closeSync, openSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { GoogleAuth } from 'google-auth-library';
import { checks, chosen, mainChecks, removalChecks } from './checks/index.js';
import { BadCall, type Options, readOptions, usage } from './options.js';
import { listOf, planOf } from './plan.js';
import type { Result } from './recording.js';
import { firstContact, type Outcome } from './run.js';

const codes = { held: 0, differs: 1, badCall: 2, leftStanding: 3, stopped: 130 } as const;

const say = (line: string): void => void process.stderr.write(`${line}\n`);
const tell = (line: string): void => void process.stdout.write(`${line}\n`);

const marks = { held: '✓', differs: '✗', unknown: '?' } as const;

const shown = ({ check, verdict, seen }: Result): string => `${marks[verdict]} ${check}: ${seen}`;

async function agreed({ yes }: Options): Promise<boolean> {
  if (yes) return true;
  if (!process.stdin.isTTY)
    throw new BadCall('This makes a project that costs money: give --yes where nobody can be asked.');
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await asking.question('Go on? (y/N) ')).trim());
  } finally {
    asking.close();
  }
}

function endOf({ results, removed, project }: Outcome, wasStopped: boolean): number {
  const count = (verdict: Result['verdict']) => results.filter((result) => result.verdict === verdict).length;
  say(`${count('held')} held, ${count('differs')} differ, ${count('unknown')} unknown.`);
  if (!removed) {
    say(`Something was left standing. Remove it: gcloud projects delete ${project}`);
    return codes.leftStanding;
  }
  say(`Nothing is left of ${project}.`);
  if (wasStopped) return codes.stopped;
  return count('differs') > 0 ? codes.differs : codes.held;
}

async function run(options: Options): Promise<number> {
  const wanted = options.only.length === 0 ? mainChecks : chosenOrBad(options.only);
  say(planOf([...wanted, ...removalChecks], options.region));
  if (!(await agreed(options))) return codes.badCall;
  const stop = new AbortController();
  process.on('SIGINT', () => {
    if (stop.signal.aborted) say('It is being removed. Please wait.');
    stop.abort();
  });
  process.on('SIGTERM', () => stop.abort());
  // The terminal was closed.
  process.on('SIGHUP', () => stop.abort());
  // So was what reads this, as `tee` is by the same Ctrl-C: a write that fails must not end the process before the removal.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => stop.abort());
  beWritable(options);
  const auth = new GoogleAuth({ scopes: ['https://www.googleapis.com/auth/cloud-platform'] });
  const outcome = await firstContact({
    ...options,
    checks: wanted,
    env: process.env,
    credentials: await auth.getClient(),
    signal: stop.signal,
    say,
    told: (result) => tell(options.json ? JSON.stringify(result) : shown(result)),
  });
  say(`The recording is ${options.out}.`);
  return endOf(outcome, stop.signal.aborted);
}

/** Before anything is made. */
function beWritable({ out }: Options): void {
  try {
    closeSync(openSync(out, 'a'));
  } catch (error) {
    throw new BadCall(`--out cannot be written: ${(error as Error).message}. Give another file.`);
  }
}

function chosenOrBad(only: readonly string[]) {
  try {
    return chosen(only);
  } catch (error) {
    throw new BadCall((error as Error).message);
  }
}

async function main(): Promise<number> {
  try {
    const options = readOptions(process.argv.slice(2));
    if (options === 'help') tell(usage);
    else if (options === 'list') tell(listOf(checks));
    else return await run(options);
    return codes.held;
  } catch (error) {
    if (!(error instanceof BadCall)) throw error;
    say(`${error.message}\n\n${usage}`);
    return codes.badCall;
  }
}

process.exitCode = await main();
