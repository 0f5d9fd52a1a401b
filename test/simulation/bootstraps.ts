/**
 * Whole bootstraps, from the first request to the removal, with people, operators, sweep and cleanup. Functions die, calls fail
 * before or after their effect, messages are lost, doubled and late, and the cloud is short of things.
 */
import type { BootstrapRecord } from '../../functions/engine/record/documents.js';
import { turnPools } from '../../functions/pools/status.js';
import type { Write } from '../../functions/store/store.js';
import { collections, functionNames } from '../../shared/names.js';
import { createJudge, type Judge } from './bootstraps-judge.js';
import { person } from './bootstraps-people.js';
import { type BootstrapsItem, type Mishap, onlyOf, planOf, planWithMachines } from './bootstraps-plan.js';
import { createStage, type Stage } from './bootstraps-stage.js';
import { openTeams, teaming } from './bootstraps-teams.js';
import { createPromises } from './judge-promises.js';
import { startsAt } from './scheduler.js';
import { fillKeyPool } from './seed-keys.js';
import { simulationOf, type Told } from './told.js';

/** All of them must be removed by then. */
const horizonSeconds = 16 * 3600;

const recordsIn = ({ memory }: Stage): [id: string, record: BootstrapRecord][] =>
  Object.entries(memory.seen(collections.bootstraps)) as never;

const isOver = ({ state, removal }: BootstrapRecord): boolean =>
  state === 'removed' || removal?.quarantinedAt !== undefined;

/** An operator tries until the pools are drained. Their projects live for as long as anybody may claim them. */
function drains({ memory, invoke, teller, scheduler }: Stage): boolean {
  const { pools } = memory.dump([collections.passes])[collections.passes] ?? {};
  if (((pools?.['drained'] ?? []) as unknown[]).length > 0) return false;
  teller.tell(scheduler.time(), 'operator', 'asks to drain the pools');
  invoke(functionNames.bootstraps, 'drains the pools', async (context) => {
    await turnPools(context, 'admin@example.com', 'drain');
  });
  return true;
}

/** Sweep each minute and cleanup every five, until nothing lives and nobody comes any more. */
function schedule(stage: Stage, judge: Judge, items: readonly BootstrapsItem[]): void {
  const { scheduler } = stage;
  const pool = onlyOf(items, 'pool');
  // What comes after its bootstrap is removed is found by cleanup.
  const afterSeconds = onlyOf(items, 'cloud')?.is === 'projects come late' ? 5400 : 0;
  const lastSeconds = Math.max(0, ...items.map((each) => ('atSeconds' in each ? each.atSeconds : 0)));
  let overSince = 0;
  const post = scheduler.process('Cloud Scheduler');
  scheduler.start(post, async () => {
    for (let minute = 1; minute * 60 < horizonSeconds; minute++) {
      await post.turn(60);
      const seconds = (scheduler.time() - startsAt) / 1000;
      judge.look();
      stage.sweeps();
      if (minute % 5 === 0) stage.cleansUp();
      if (pool !== undefined && seconds > pool.drainAtSeconds && drains(stage)) continue;
      if (!recordsIn(stage).every(([, record]) => isOver(record))) overSince = seconds;
      if (seconds > Math.max(lastSeconds + 900, overSince + afterSeconds)) return;
    }
  });
}

/** What earlier releases did not write yet. */
const later = [
  'price',
  'fuseAt',
  'machineAccess',
  'sshSourceRanges',
  'loadBalancers',
  'traceparent',
] as const satisfies readonly (keyof BootstrapRecord)[];

/** From now on another release runs. Nothing that the earlier one began knows of what came later. */
function release(stage: Stage, judge: () => Judge | undefined, atSeconds: number): void {
  const { scheduler, memory, teller } = stage;
  const post = scheduler.process('deployment');
  scheduler.start(post, async () => {
    await post.turn(atSeconds);
    stage.killAll();
    const all = recordsIn(stage);
    // Earlier releases knew neither stops nor pools.
    const isOld = all.every(([, { vmsStopped, prepared }]) => vmsStopped === undefined && prepared === undefined);
    const found = isOld ? all : [];
    teller.tell(scheduler.time(), 'deployment', `another release goes on with ${found.map(([id]) => id).join(', ')}`);
    if (found.length === 0) return;
    const counters = Object.entries(memory.dump([collections.counters])[collections.counters] ?? {});
    const writes = [
      ...found.map(([id, record]): Write => {
        const data: Record<string, unknown> = { ...record };
        for (const field of later) delete data[field];
        return { kind: 'set', collection: collections.bootstraps, id, data };
      }),
      ...counters.map(
        ([id, { spend: _, ...data }]): Write => ({ kind: 'set', collection: collections.counters, id, data }),
      ),
    ];
    await memory.commit(writes);
    judge()?.look(writes);
  });
}

function mishap({ scheduler, machines, teller }: Stage, { machine, atSeconds, how }: Mishap): void {
  const post = scheduler.process('the world');
  scheduler.start(post, async () => {
    await post.turn(atSeconds);
    teller.tell(scheduler.time(), 'the world', `${machine} ${how}`);
    machines.befall(machine, how);
  });
}

export async function playBootstraps(seed: number, items: readonly BootstrapsItem[]): Promise<Told> {
  await fillKeyPool();
  let judge: Judge | undefined;
  const stage = createStage(seed, items, {
    onCommit: (writes, by) => judge?.look(writes, by),
    onMessage: (message) => judge?.sent(message),
    onEnd: (by, ended) => judge?.over(by, ended),
  });
  const { teller, scheduler, counts } = stage;
  try {
    const teams = onlyOf(items, 'teams');
    if (teams !== undefined) await openTeams(stage, teams);
    const promises = createPromises();
    judge = createJudge(stage, promises, items);
    for (const item of items) {
      if (item.kind === 'do') person(stage, promises, item);
      if (item.kind === 'release') release(stage, () => judge, item.atSeconds);
      if (item.kind === 'mishap') mishap(stage, item);
      if (item.kind === 'team' && teams !== undefined) teaming(stage, item);
    }
    schedule(stage, judge, items);
    await scheduler.run();
    judge.end();
  } catch (error) {
    teller.wrong(scheduler.time(), error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
  teller.tell(scheduler.time(), 'end', `${counts.calls} calls, ${counts.messages} messages`);
  return teller.told();
}

export const bootstraps = simulationOf('bootstraps', planOf, playBootstraps);
export const installs = simulationOf('installs', planWithMachines, playBootstraps);
