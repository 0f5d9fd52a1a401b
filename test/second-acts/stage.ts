/** Where second acts are played: one local stack for many seeds, and for each a user with a folder of their own. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from '../../functions/store/store.js';
import { type PlinthRun, runPlinth, startPlinth } from '../../local/demo/plinth-process.js';
import { local } from '../../local/stack/deployment.js';
import { Problem } from '../../shared/problems.js';
import { runAt } from '../support/plinth-here.js';
import { publishSample } from '../support/sample-package.js';
import { type Caller, makeScene, type Scene } from '../support/scene.js';

/** What the store does to the next commits. Swapped by an act, and reset after it. */
interface StoreTrouble {
  fails: number;
  dies: number;
}

export interface Stage {
  readonly scene: Scene;
  readonly store: Store;
  readonly trouble: StoreTrouble;
  /** What can be installed, where the VMs answer SSH. */
  readonly packageVersion: string | undefined;
  /** For each play a name of its own, also if the seed is played again. */
  nextName(seed: number): string;
  close(): Promise<void>;
}

export async function openStage({ machines }: { readonly machines: boolean }): Promise<Stage> {
  const trouble: StoreTrouble = { fails: 0, dies: 0 };
  const scene = await makeScene({
    ...(machines && { machines: 'embedded' }),
    wrapStore: (store) => troubled(store, trouble),
  });
  const { store } = scene.stack.functionsHalf ?? {};
  if (store === undefined) throw new Error('a stage needs the functions');
  let plays = 0;
  return {
    scene,
    store,
    trouble,
    packageVersion: machines ? (await publishSample(scene)).version : undefined,
    nextName(seed) {
      plays += 1;
      return `s${seed}p${plays}`;
    },
    close: () => scene.close(),
  };
}

/** Commits of the functions fail, or end as those of a function that dies: their message comes again. */
function troubled(store: Store, trouble: StoreTrouble): Store {
  const away = () => new Problem('unavailable', 'The database cannot be reached now.');
  return {
    ...store,
    async commit(writes) {
      if (trouble.fails > 0) {
        trouble.fails -= 1;
        throw away();
      }
      const versions = await store.commit(writes);
      if (trouble.dies > 0) {
        trouble.dies -= 1;
        throw away();
      }
      return versions;
    },
  };
}

export interface User {
  readonly name: string;
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly caller: Caller;
  remove(): void;
}

export async function makeUser({ scene }: Stage, name: string): Promise<User> {
  const caller = await scene.caller(`alice@${local.domain}`);
  const { folder } = caller;
  // Sockets and configs of SSH belong to this user alone.
  const env = { ...caller.env, XDG_RUNTIME_DIR: join(folder, '.home', '.run') };
  return { name, folder, env, caller, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export interface Ran extends PlinthRun {
  readonly args: readonly string[];
  /** `hung`: it did not end within the bound. */
  readonly ending: 'ended' | 'hung' | NodeJS.Signals;
}

/** No command of these takes longer, however busy the computer. */
export const boundMs = 480_000;

export async function runBounded(user: User, args: readonly string[], apart = false): Promise<Ran> {
  if (apart) return runApart(user, args);
  const ended = await Promise.race([runAt(args, user), sleep(boundMs, undefined, { ref: false })]);
  return ended === undefined ? hung(args) : { ...ended, args, ending: 'ended' };
}

const hung = (args: readonly string[]): Ran => ({ exitCode: null, stdout: '', stderr: '', args, ending: 'hung' });

/** As a process, where a file may hold up the whole process. */
async function runApart(user: User, args: readonly string[]): Promise<Ran> {
  const started = startPlinth(args, user);
  const ended = await Promise.race([started.ended, sleep(boundMs, undefined, { ref: false })]);
  if (ended !== undefined) return { ...ended, args, ending: 'ended' };
  started.child.kill('SIGKILL');
  await started.ended;
  return hung(args);
}

export async function runKilled(
  user: User,
  args: readonly string[],
  signal: NodeJS.Signals,
  afterMs: number,
): Promise<Ran> {
  const started = startPlinth(args, user);
  await Promise.race([started.ended, sleep(afterMs)]);
  started.child.kill(signal);
  const late = setTimeout(() => started.child.kill('SIGKILL'), boundMs);
  const ended = await started.ended;
  clearTimeout(late);
  const ending = started.child.signalCode ?? 'ended';
  return { ...ended, args, ending: ending === 'SIGKILL' && signal !== 'SIGKILL' ? 'hung' : ending };
}

/** ssh takes over the streams of its process, so commands that start it need one. */
export const runAsProcess = (user: User, args: readonly string[]): Promise<PlinthRun> => runPlinth(args, user);
