/** `npm run demo -- --pool`: a project waits before anybody asks, and the bootstrap takes it. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolsView } from '../../shared/bootstrap/pools.js';
import { local, people } from '../stack/deployment.js';
import { environmentFor } from '../stack/environment.js';
import type { Stack } from '../stack/stack.js';
import { homeOf, type PlinthOptions, runPlinth } from './plinth-process.js';
import { project } from './project.js';
import type { Stage } from './stage.js';

/** Settings of a deployment with a pool of one project. */
export const poolSettings = {
  PLINTH_POOLS: JSON.stringify([
    { parent: local.folder, billingAccount: local.billingAccount, region: project.region, size: 1 },
  ]),
} as const;

const patienceSeconds = 60;

/** Waits until a project is prepared. Returns sentences about what is wrong. */
export async function awaitPrepared(stage: Stage, stack: Stack, folder: string): Promise<readonly string[]> {
  const own = join(folder, '.operator');
  mkdirSync(homeOf(own), { recursive: true });
  const env = environmentFor(stack, { file: (each) => join(own, each) }, await stack.tokens(people.admin));
  const at: PlinthOptions = { folder: own, env, show: false };
  stage.phase('A project is prepared before anybody asks');
  const until = Date.now() + patienceSeconds * 1000;
  for (;;) {
    const { stdout, stderr } = await runPlinth(['pool', 'status', '--json'], at);
    const last = stdout.trim().split('\n').at(-1) ?? '';
    const [pool] = last.startsWith('{') ? (JSON.parse(last) as PoolsView).pools : [];
    if (pool?.free === 1) break;
    if (Date.now() > until)
      return [`no project was prepared: ${stderr.trim() || (pool?.rest?.why ?? 'it takes longer')}`];
    stage.now('Cloud Scheduler calls sweep each minute, here each second; sweep prepares it');
    await sleep(200);
  }
  const { stdout } = await runPlinth(['pool', 'status'], at);
  stage.command('plinth pool status      # as an operator');
  for (const line of stdout.trim().split('\n')) stage.say(`  ${line}`);
  return [];
}

/** What became of it. Returns sentences about what is wrong. */
export async function checkClaimed(stage: Stage, at: PlinthOptions): Promise<readonly string[]> {
  const { stdout } = await runPlinth(['beta', 'bootstrap-cloud', 'status', project.name], { ...at, show: false });
  const isClaimed = /Prepared +since .*claimed by this bootstrap/.test(stdout);
  const [id] = /pool-[a-z0-9]{8}/.exec(stdout) ?? [];
  return stage.looked(
    isClaimed && id !== undefined,
    `${id ?? 'a prepared project'} waited, and is ${project.name} now: only what is its own was made`,
    `no prepared project was claimed: ${stdout.trim()}`,
  );
}
