/** `npm run local`: runs plinth and the stand-ins for Google on this machine, until stopped. */

import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { forge1Pat } from './forge1/forge1.js';
import type { CloudHalf } from './stack/cloud-half.js';
import { local, people } from './stack/deployment.js';
import { environmentLines } from './stack/environment.js';
import { type MachinesChoice, machinesUsage, readMachines } from './stack/machines-option.js';
import { readSettingsOption, settingsUsage } from './stack/settings-option.js';
import { createStack, type Stack, type StackOptions } from './stack/stack.js';
import { defaultStateFolder, openStateFolder } from './stack/state-folder.js';
import { readWorld, type WorldChoice, worldUsage } from './stack/world-option.js';
import { writeWhole } from './whole-file.js';

const usage = `npm run local -- [options]

  --port N             port of plinth's API; 0 (default): any
  --dns-port N         port of the name servers and of the resolver on 127.0.0.1; 0 (default): any
  --store S            memory (default): nothing outlives it · emulator: Google's Firestore and Pub/Sub emulators (Java)
  --time-factor F      how long the cloud takes: 1 as Google, 0 at once; default 0.05
  --seed N             of all chance in the simulated cloud; default 1
${worldUsage}${settingsUsage}${machinesUsage}  --only H             cloud: all that stands for Google · functions: plinth itself; needs --store emulator
  --state DIR          where the halves find each other; default ${defaultStateFolder}
  --env-file F         written once all is ready: KEY=value lines for plinth and gcloud
`;

class BadOption extends Error {}

const oneOf = <T extends string>(flag: string, value: string, allowed: readonly T[]): T => {
  const found = allowed.find((each) => each === value);
  if (found === undefined) throw new BadOption(`--${flag} must be ${allowed.join(' or ')}, not "${value}".`);
  return found;
};
const numberOf = (flag: string, value: string, { whole, max }: { whole: boolean; max: number }): number => {
  const number = /^\d+(\.\d+)?$/.test(value) ? Number(value) : Number.NaN;
  if (!(number >= 0 && number <= max) || (whole && !Number.isInteger(number))) {
    throw new BadOption(`--${flag} must be a ${whole ? 'whole ' : ''}number from 0 to ${max}, not "${value}".`);
  }
  return number;
};

function reading<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new BadOption((error as Error).message);
  }
}

function worldIn({ world, 'world-set': set }: Partial<Record<string, string | boolean | string[]>>): WorldChoice {
  return reading(() => readWorld(world as string | undefined, set as string[] | undefined));
}

interface Options extends StackOptions {
  readonly half: 'both' | 'cloud' | 'functions';
  readonly state: string;
  readonly envFile: string | undefined;
  readonly machines: MachinesChoice;
}

function readOptions(args: string[]): Options | undefined {
  const text = { type: 'string' } as const;
  let values: Partial<Record<string, string | boolean | string[]>>;
  try {
    ({ values } = parseArgs({
      args,
      options: {
        port: { ...text, default: '0' },
        'dns-port': { ...text, default: '0' },
        store: text,
        'time-factor': { ...text, default: '0.05' },
        seed: { ...text, default: '1' },
        machines: text,
        world: text,
        'world-set': { ...text, multiple: true },
        set: { ...text, multiple: true },
        only: text,
        state: { ...text, default: defaultStateFolder },
        'env-file': text,
        help: { type: 'boolean', short: 'h' },
      },
    }));
  } catch (error) {
    throw new BadOption((error as Error).message);
  }
  if (values['help'] === true) return undefined;
  const given = values as Partial<Record<string, string>>;
  const half = given['only'] === undefined ? 'both' : oneOf('only', given['only'], ['cloud', 'functions']);
  // The functions use the store that the cloud half runs.
  const store = oneOf('store', given['store'] ?? (half === 'functions' ? 'emulator' : 'memory'), [
    'memory',
    'emulator',
  ]);
  if (half !== 'both' && store === 'memory') {
    throw new BadOption(
      `--only ${half} needs --store emulator: what is in memory does not outlive the half that is killed.`,
    );
  }
  for (const flag of ['machines', 'world', 'world-set']) {
    if (half === 'functions' && given[flag] !== undefined) throw new BadOption(`--${flag} belongs to the cloud half.`);
  }
  if (half === 'cloud' && given['set'] !== undefined) throw new BadOption('--set belongs to the functions half.');
  return {
    half,
    store,
    settings: reading(() => readSettingsOption(values['set'] as string[] | undefined)),
    machines: reading(() => readMachines(given['machines'], given['state'] ?? defaultStateFolder)),
    ...worldIn(values),
    port: numberOf('port', given['port'] ?? '', { whole: true, max: 65_535 }),
    dnsPort: numberOf('dns-port', given['dns-port'] ?? '', { whole: true, max: 65_535 }),
    timeFactor: numberOf('time-factor', given['time-factor'] ?? '', { whole: false, max: 100 }),
    seed: numberOf('seed', given['seed'] ?? '', { whole: true, max: 2 ** 31 - 1 }),
    state: given['state'] ?? defaultStateFolder,
    envFile: given['env-file'],
    keys: 'real',
  };
}

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const note = (text: string): void => void process.stderr.write(`${text}\n`);

/** Writes the functions' logs to a file, and also shows errors. */
function logTo(file: string): (line: string) => void {
  writeFileSync(file, '', { mode: 0o600 });
  return (line) => {
    appendFileSync(file, `${line}\n`);
    const { severity, message } = JSON.parse(line) as { severity: string; message: string };
    if (severity === 'ERROR' || severity === 'CRITICAL') note(`${severity} ${message}`);
  };
}

function tellWhatNext(stack: Stack, { envFile, state, timeFactor = 0 }: Options, lines: readonly string[]): void {
  const { url, record } = stack;
  const [resolver, dnsPort] = record.dns.resolver.split(':');
  const load =
    envFile === undefined
      ? lines.map((line) => `export ${line}`)
      : [`set -a; . ${envFile.includes('/') ? envFile : `./${envFile}`}; set +a`];
  say(`
The console is at ${url}: sign in as ${people.alice}.
All that stands for Google is at ${record.frontUrl} (its state: /_local/state).
Its DNS answers: dig -p ${dnsPort} @${resolver} ${local.domain} NS
In another terminal:

${load.map((line) => `  ${line}`).join('\n')}
  mkdir -p my-first && cd my-first
  export PLINTH_FORGE1_APP_CLIENT_SECRET=secret      # any text does here
  npx plinth init                                    # its domain: my-first.${local.domain}
  npx plinth up
  gcloud projects list
  npm run -s local:token -- bob@${local.domain}${state === defaultStateFolder ? '' : ` --state ${state}`}      a token for somebody else

What stands for forge1 takes the token ${forge1Pat}, for its registry (--registry-user me --forge1-pat ${forge1Pat})
and for the keys of the team that it has (--forge1-team-org example --forge1-team-slug platform).

Where a message names a setting, such as PLINTH_LOAD_BALANCERS, start this with --set PLINTH_LOAD_BALANCERS=internal.

${timeFactor < 1 ? 'The cloud is faster than Google. Before its first bootstrap has ended, plinth tells the minutes of Google.\n\n' : ''}Ctrl-C stops it.`);
}

/** Puts the sample package where a release would put it. */
async function storePackage({ cloud }: CloudHalf, folder: string): Promise<string> {
  const [{ makePackage }, { publishPackage }] = await Promise.all([
    import('./packages/make-package.js'),
    import('./stack/publish-package.js'),
  ]);
  const made = await makePackage(folder);
  await publishPackage(cloud, made);
  return `plinth-sample ${made.version} (${made.hash})`;
}

/** A script that waits for the file must not find one of an earlier run. What refuses it is known before anything starts. */
function clearEnvFile(file: string): void {
  try {
    rmSync(file, { force: true });
    const trial = `${file}.${process.pid}`;
    writeFileSync(trial, '', { mode: 0o600 });
    rmSync(trial);
  } catch (error) {
    throw new BadOption(`--env-file ${file} cannot be written: ${(error as Error).message}`);
  }
}

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  if (options === undefined) return say(usage);
  const folder = openStateFolder(options.state);
  if (options.envFile !== undefined) clearEnvFile(options.envFile);
  const stopped = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        resolve();
        // A second signal ends the process at once.
        process.once(signal, () => process.exit(130));
      });
    }
  });
  if (options.half === 'functions') say(`Waits for the cloud half in ${folder.path} …`);
  const starting = createStack({
    ...options,
    onLog: logTo(folder.file(`${options.half}.log`)),
    onNote: note,
  });
  const stack = await Promise.race([starting, stopped]);
  if (stack === undefined) {
    await (await starting.catch(() => undefined))?.close();
    return;
  }
  const made = stack.cloudHalf === undefined ? undefined : await storePackage(stack.cloudHalf, folder.file('package'));
  if (made !== undefined) say(`The package store holds ${made}.`);
  const lines = environmentLines(stack, folder, await stack.tokens(people.alice));
  if (options.envFile !== undefined) writeWhole(options.envFile, `${lines.join('\n')}\n`);
  if (options.half === 'cloud') {
    const { frontUrl, dns } = stack.record;
    say(`All that stands for Google is at ${frontUrl}; now start --only functions beside it.`);
    say(`Its DNS answers at ${dns.resolver}.`);
  } else {
    tellWhatNext(stack, options, lines);
  }
  await stopped;
  await stack.close();
  say('Stopped.');
}

try {
  await main();
} catch (error) {
  const bad = error instanceof BadOption;
  note(bad ? `${error.message}\n\n${usage}` : `npm run local: ${(error as Error).message}`);
  process.exitCode = bad ? 2 : 1;
}
