/**
 * `npm run demo`: a whole bootstrap on this machine, by the real command line, functions and client libraries, against the
 * simulated cloud. Then it inspects the result from outside and reports what is missing.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chaos } from './demo/chaos.js';
import { checkResult } from './demo/check-result.js';
import { awaitEnd, shorten } from './demo/ending.js';
import { inspectInstall, prepareInstall } from './demo/install.js';
import { tellOrganization } from './demo/organization.js';
import { homeOf, makeFolder, type PlinthOptions, runPlinth } from './demo/plinth-process.js';
import { awaitPrepared, checkClaimed, poolSettings } from './demo/prepared.js';
import { commandText, flagsFor, project } from './demo/project.js';
import { slowestOf } from './demo/slowest.js';
import { createStage, type Stage } from './demo/stage.js';
import { emulatorMissing } from './emulators/emulators.js';
import { people } from './stack/deployment.js';
import { environmentFor } from './stack/environment.js';
import { type MachinesChoice, machinesUsage, readMachines } from './stack/machines-option.js';
import { createStack, type Stack } from './stack/stack.js';
import { readWorld, type WorldChoice, worldUsage } from './stack/world-option.js';

const usage = `npm run demo -- [options]

  --store S            memory (default) · emulator: Google's Firestore and Pub/Sub emulators (Java)
  --chaos              kill -9 of the functions and the command line while it runs, on Google's emulators (Java)
  --pool               a project is prepared before anybody asks, and the bootstrap takes it
${worldUsage}${machinesUsage}`;

interface Options extends WorldChoice {
  readonly store: 'memory' | 'emulator';
  readonly machines: MachinesChoice;
  readonly isChaos: boolean;
  readonly hasPool: boolean;
}

function readOptions(args: string[]): Options | undefined {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args,
    options: {
      store: text,
      chaos: { type: 'boolean' },
      pool: { type: 'boolean' },
      machines: text,
      world: text,
      'world-set': { ...text, multiple: true },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help === true) return undefined;
  const { chaos: isChaos = false, pool: hasPool = false } = values;
  if (isChaos && hasPool) throw new Error('--chaos and --pool show different things: give one of them.');
  const { store = isChaos ? 'emulator' : 'memory' } = values;
  if (store !== 'memory' && store !== 'emulator')
    throw new Error(`--store must be memory or emulator, not "${store}".`);
  if (isChaos && store === 'memory')
    throw new Error('--chaos needs --store emulator: what is in memory does not outlive what is killed.');
  const machines = readMachines(values.machines, tmpdir());
  return { store, isChaos, hasPool, machines, ...readWorld(values.world, values['world-set']) };
}

/** What a phase found wrong, and what the summary tells. */
interface Told {
  readonly faults: readonly string[];
  readonly slowest: readonly string[];
}

const told = (faults: readonly string[]): Told => ({ faults, slowest: [] });

async function play(stage: Stage, stack: Stack, folder: string, hasPool: boolean): Promise<Told> {
  // One VM meets a stockout, to show the fallback.
  stack.cloudHalf?.cloud.faults.stockout({ name: 'k0s-2', provisioning: 'SPOT' });
  const version = await prepareInstall(stack, join(folder, '.package'), stage.say);
  const flags = flagsFor(version);
  const env = {
    ...environmentFor(stack, { file: (each) => join(folder, each) }, await stack.tokens(people.alice)),
    PLINTH_FORGE1_APP_CLIENT_SECRET: project.clientSecret,
  };
  const at: PlinthOptions = { folder, env };

  const unprepared = hasPool ? await awaitPrepared(stage, stack, folder) : [];
  if (unprepared.length > 0) return told(unprepared);

  stage.phase('A bootstrap, by one command in an empty folder');
  stage.command(commandText(flags));
  stage.say("The cloud is fifty times as fast as Google's. The minutes that plinth tells beforehand are Google's.");
  stage.say();
  const show = stage.live ? 'terminal' : true;
  const { exitCode } = await stage.quiet(() => runPlinth(['beta', 'bootstrap-cloud', ...flags], { ...at, show }));
  if (exitCode !== 0) {
    const errors = stack.logs.filter((each) => /"(ERROR|CRITICAL)"/.test(each));
    for (const line of [...errors, ...stack.notes]) stage.say(line);
    return told([`plinth ended with exit code ${exitCode}`]);
  }

  stage.phase('Looked at from outside');
  const installing = { name: project.name, folder, env };
  const faults = [
    ...(hasPool ? await checkClaimed(stage, at) : []),
    ...(await checkResult(stage, stack, folder)),
    ...(version === undefined ? [] : await inspectInstall(stage, installing)),
  ];
  const slowest = await slowestOf(project.name, at);
  if (faults.length > 0) return { faults, slowest };

  stage.phase('Its time is made short; meanwhile an organization');
  faults.push(...(await shorten(stage, stack, { ...installing, flags })), ...(await tellOrganization(stage, at)));
  if (faults.length > 0) return { faults, slowest };

  stage.phase('The end of its time, and nothing but waiting');
  return { faults: await awaitEnd(stage, stack), slowest };
}

/** Stays on the screen. */
function sumUp(stage: Stage, { faults, slowest }: Told, { store }: Options, begun: number): number {
  if (faults.length > 0) {
    stage.say(`\nThe demo failed:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    return 1;
  }
  stage.phase(`All was there, and went when its time was over: ${((performance.now() - begun) / 1000).toFixed(0)} s`);
  if (slowest.length > 0) stage.say(`Slowest: ${slowest.join(', ')}.`);
  stage.say('The cloud was simulated, fifty times as fast as the real one. All else was real.');
  stage.say(
    store === 'memory'
      ? 'Kill it while it runs: npm run demo -- --chaos. Keep it running: npm run local.'
      : "Documents and messages went through Google's emulators.",
  );
  return 0;
}

async function main(): Promise<number> {
  let options: ReturnType<typeof readOptions>;
  try {
    options = readOptions(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${usage}`);
    return 2;
  }
  if (options === undefined) {
    process.stdout.write(usage);
    return 0;
  }
  const { store } = options;
  const without = store === 'emulator' ? (emulatorMissing('firestore') ?? emulatorMissing('pubsub')) : undefined;
  if (without !== undefined) {
    process.stderr.write(`${without}\n`);
    return 2;
  }
  const begun = performance.now();
  const stage = createStage();
  try {
    if (!options.isChaos) return await withStack(stage, options, begun);
    const faults = await chaos(stage, options);
    if (faults.length > 0) return sumUp(stage, told(faults), options, begun);
    stage.say('\nSame end, nothing twice, nothing lost.');
    return 0;
  } finally {
    stage.close();
  }
}

async function withStack(stage: Stage, options: Options, begun: number): Promise<number> {
  const { store, machines, world, worldSettings, hasPool } = options;
  const folder = makeFolder();
  mkdirSync(homeOf(folder), { recursive: true });
  stage.phase('A Google Cloud on this machine');
  const settings = hasPool ? poolSettings : {};
  const stack = await createStack({ store, timeFactor: 0.02, keys: 'real', machines, world, worldSettings, settings });
  try {
    stage.say(
      store === 'memory'
        ? 'plinth and a simulated Google Cloud run in this process; documents are kept in memory.'
        : "plinth and a simulated Google Cloud run in this process; documents and messages go through Google's emulators.",
    );
    stage.say(`Watch it in a browser, too: ${stack.url}`);
    stage.say(`  That is the console. Sign in as ${people.alice}. It is there until the demo ends.`);
    // Before all is closed, which takes a few seconds.
    return sumUp(stage, await play(stage, stack, folder, hasPool), options, begun);
  } finally {
    await stack.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`The demo failed: ${(error as Error).stack}\n`);
  process.exitCode = 1;
}
