/**
 * `npm run demo -- --chaos`: the functions and the command line are killed before one's eyes, again and again. Then it counts
 * from outside, by the simulated cloud's own record of calls, whether all is there once.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { people } from '../stack/deployment.js';
import { environmentFor } from '../stack/environment.js';
import type { MachinesChoice } from '../stack/machines-option.js';
import { createStack, type Stack } from '../stack/stack.js';
import { openStateFolder, type StateFolder } from '../stack/state-folder.js';
import type { WorldChoice } from '../stack/world-option.js';
import { inspectCloud } from './check-result.js';
import { historyOf, madeTwice } from './history.js';
import { homeOf, makeFolder, type PlinthOptions, startPlinth } from './plinth-process.js';
import { flagsFor, project } from './project.js';
import type { Stage } from './stage.js';

const program = fileURLToPath(new URL('../main.js', import.meta.url));
const timeFactor = 0.02;
/** Milliseconds of rest before each kill of the functions, while the bootstrap goes on. */
const rests = [900, 1700, 1300, 2300, 1100];
/** After this many kills of the functions, the command line goes too. */
const killsBeforeCaller = 3;

interface Functions {
  kill(): Promise<void>;
  start(): Promise<void>;
}

/** The functions as a process of their own, in the folder where the cloud half is. */
function functionsIn(folder: StateFolder, stage: Stage): Functions {
  let child: ChildProcess | undefined;
  const envFile = folder.file('chaos.env');
  return {
    async start() {
      rmSync(envFile, { force: true });
      const args = ['--only', 'functions', '--store', 'emulator', '--state', folder.path, '--env-file', envFile];
      const started = spawn(process.execPath, ['--', program, ...args, '--time-factor', String(timeFactor)], {
        stdio: 'ignore',
      });
      child = started;
      while (!existsSync(envFile)) {
        if (started.exitCode !== null) throw new Error('The functions did not start.');
        await sleep(50);
      }
      stage.say(`  ▲ functions serve again, process ${started.pid}`);
    },
    async kill() {
      const killed = child;
      if (killed === undefined || killed.exitCode !== null || killed.signalCode !== null) return;
      const gone = new Promise((resolve) => killed.once('close', resolve));
      killed.kill('SIGKILL');
      await gone;
      stage.say(`  ▼ kill -9 ${killed.pid}: the functions are gone`);
    },
  };
}

/** Runs the command, kills what serves it, and kills the command once. Returns the last exit code. */
async function throughKills(stage: Stage, functions: Functions, at: PlinthOptions): Promise<number | null> {
  const begin = () => startPlinth(['beta', 'bootstrap-cloud', ...flagsFor(undefined)], { ...at, show: true });
  const again = () => {
    stage.say('The same command again:');
    return begin();
  };
  let running = begin();
  for (const [n, rest] of rests.entries()) {
    if ((await Promise.race([running.ended, sleep(rest)])) !== undefined) break;
    await functions.kill();
    const takesCaller = n + 1 === killsBeforeCaller;
    if (takesCaller) {
      running.child.kill('SIGKILL');
      await running.ended;
      stage.say(`  ▼ kill -9 ${running.child.pid}: the command line is gone, too`);
    }
    await functions.start();
    if (takesCaller) running = again();
  }
  const { exitCode } = await running.ended;
  // On a slow computer the functions may be away for longer than a command waits.
  return exitCode === 0 ? exitCode : (await again().ended).exitCode;
}

/** Returns sentences about what is wrong. */
async function count(stage: Stage, stack: Stack, folder: string): Promise<readonly string[]> {
  const { cloudHalf } = stack;
  if (cloudHalf === undefined) throw new Error('The cloud half runs in another process.');
  const { missing, extra, wanted } = await inspectCloud(stack, folder, { '*': 'SPOT' });
  const history = historyOf(cloudHalf.cloud);
  const twice = madeTwice(history);
  const calls = history.calls.length;
  return [
    ...stage.looked(extra.length === 0, 'same end: nothing stands that nobody asked for', extra.join(', ')),
    ...stage.looked(
      twice.length === 0,
      `nothing twice: ${calls} calls to the cloud, each thing made once`,
      twice.join(', '),
    ),
    ...stage.looked(missing.length === 0, `nothing lost: all ${wanted.length} things stand`, missing.join(', ')),
  ];
}

export interface ChaosOptions extends WorldChoice {
  readonly machines: MachinesChoice;
}

/** Returns sentences about what is wrong. */
export async function chaos(stage: Stage, options: ChaosOptions): Promise<readonly string[]> {
  const state = mkdtempSync(join(tmpdir(), 'plinth-chaos-'));
  const folder = makeFolder();
  mkdirSync(homeOf(folder), { recursive: true });
  stage.phase("A Google Cloud on this machine, with Google's emulators");
  const stack = await createStack({ ...options, store: 'emulator', half: 'cloud', state, timeFactor });
  const functions = functionsIn(openStateFolder(state), stage);
  try {
    await functions.start();
    const url = openStateFolder(state).readFunctions()?.origin ?? '';
    const env = {
      ...environmentFor(
        { url, record: stack.record },
        { file: (each) => join(folder, each) },
        await stack.tokens(people.alice),
      ),
      PLINTH_FORGE1_APP_CLIENT_SECRET: project.clientSecret,
    };
    stage.phase('A bootstrap, and kill -9 while it runs');
    const exitCode = await stage.quiet(() => throughKills(stage, functions, { folder, env }));
    if (exitCode !== 0) return [`plinth ended with exit code ${exitCode}`];
    stage.phase('Counted from outside');
    return await count(stage, stack, folder);
  } finally {
    await functions.kill();
    await stack.close();
    rmSync(state, { recursive: true, force: true });
    rmSync(folder, { recursive: true, force: true });
  }
}
