/** What a play of bootstraps runs on: functions with lives of their own, one store, one cloud, and messages that may be lost. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { lookAtFuses } from '../../functions/bootstraps/budget/enforce.js';
import { warn } from '../../functions/bootstraps/lifetime/warn.js';
import { followTeams } from '../../functions/bootstraps/people/team-roles.js';
import { cleanup } from '../../functions/cleanup/cleanup.js';
import { searchHourly } from '../../functions/cleanup/hourly-search.js';
import { googleApis, readConfig } from '../../functions/config.js';
import type { Context } from '../../functions/context.js';
import { runMessage } from '../../functions/engine/run/run.js';
import { sweep } from '../../functions/engine/run/sweep.js';
import type { AnyStep } from '../../functions/engine/step.js';
import { createOsLoginIdentity } from '../../functions/host/os-login.js';
import { keepPools } from '../../functions/pools/keep.js';
import { stepsOf } from '../../functions/steps/index.js';
import { withRetries } from '../../functions/store/retry.js';
import type { Write } from '../../functions/store/store.js';
import { noTracing } from '../../functions/tracing/tracing.js';
import { createDirectCloud } from '../../local/cloud/direct.js';
import { createMemoryStore } from '../../local/functions/memory-store.js';
import {
  environmentOf,
  type FunctionEnvironment,
  initialState,
  laneFunctions,
  local,
} from '../../local/stack/deployment.js';
import type { StepMessage } from '../../shared/bootstrap/message.js';
import { fillOptions } from '../../shared/bootstrap/rules.js';
import { type FunctionName, functionNames, type Lane } from '../../shared/names.js';
import { Problem, type ProblemCode } from '../../shared/problems.js';
import { createRandom, type Random } from '../organizations/random.js';
import { type BootstrapsItem, type Difficulty, difficulties, onlyOf } from './bootstraps-plan.js';
import { createMachines, type Machines } from './machines.js';
import { cloudOf, endpointOf } from './process-cloud.js';
import { remoteOf } from './process-remote.js';
import { type Disturbance, inTurns, storeOf } from './process-store.js';
import { refuseQuickWrites } from './quick-writes.js';
import { createScheduler, type Process } from './scheduler.js';
import { createSeedKeys } from './seed-keys.js';
import { createTeller } from './told.js';

export interface Stage {
  readonly scheduler: ReturnType<typeof createScheduler>;
  readonly memory: ReturnType<typeof createMemoryStore>;
  readonly direct: ReturnType<typeof createDirectCloud>;
  readonly teller: ReturnType<typeof createTeller>;
  readonly random: Random;
  /** The living process of a function, a new one if the last has died. */
  living(name: FunctionName): Living;
  /** Has a function do something. What it throws ends that, as it ends a request. */
  invoke(name: FunctionName, what: string, work: (context: Context) => Promise<void>): void;
  /** As Cloud Scheduler has it done. */
  sweeps(): void;
  cleansUp(): void;
  /** Whatever lives of plinth ends, as when it is deployed anew. */
  killAll(): void;
  /** Of all bootstraps here. */
  readonly steps: readonly AnyStep[];
  /** Numbers of teams and the id of their organization, by name. None: bootstraps belong to people alone. */
  readonly teams: Map<string, string>;
  /** Bootstraps go on to their machines. */
  readonly installs: boolean;
  readonly machines: Machines;
  /** Calls and messages so far. */
  readonly counts: { calls: number; messages: number; deaths: number };
  /** What functions have logged as errors. */
  readonly errors: readonly string[];
}

interface Living {
  readonly process: Process;
  readonly context: Context;
}

const endpoints = Object.fromEntries(googleApis.map((api) => [api, endpointOf(api)])) as Record<
  (typeof googleApis)[number],
  string
>;
const configs = new Map<string, Context['config']>();
function configOf(name: FunctionName, settings: FunctionEnvironment): Context['config'] {
  const key = JSON.stringify([name, settings]);
  const known =
    configs.get(key) ??
    readConfig({
      ...environmentOf(name, {
        origin: 'https://plinth.simulated.example',
        endpoints,
        issuerUrl: 'https://issuer.simulated.example',
        forge1Url: 'https://forge1.simulated.example',
      }),
      ...settings,
    });
  configs.set(key, known);
  return known;
}

/** The deployment of a plan, beyond the usual. */
function settingsOf(items: readonly BootstrapsItem[]): FunctionEnvironment {
  const ceilings = onlyOf(items, 'ceilings');
  const pool = onlyOf(items, 'pool');
  const { billingAccount, folder: parent } = local;
  const hosts = {
    PLINTH_HOSTS: 'on',
    PLINTH_RELEASES_URL: 'https://releases.simulated.example',
    PLINTH_RELEASE_SHA256: 'a'.repeat(64),
  };
  return {
    ...(onlyOf(items, 'machines') && hosts),
    ...(ceilings && { PLINTH_USD_PER_MONTH: String(ceilings.month), PLINTH_BEYOND_CEILING: ceilings.beyond }),
    ...(pool && { PLINTH_POOLS: JSON.stringify([{ parent, billingAccount, region, size: pool.size, maxAge: '1d' }]) }),
  };
}

/** Where bootstraps are, unless they ask for another place. */
const { region } = fillOptions({});

/** Within a data centre. */
const promptly = (random: Random): number => 0.005 + random.next() * 0.02;

/** Nobody waits for Google for longer than a minute. */
const mostLateSeconds = 45;

/** Most answers come soon, some after seconds, and one in a hundred when a lease is over. */
function latency(random: Random): number {
  const luck = random.next();
  if (luck < 0.9) return 0.01 + random.next() * 0.2;
  return luck < 0.99 ? random.next() * 3 : random.next() * mostLateSeconds;
}

/** One for all plays: each that exists costs every promise of the process a little. */
const delivery = new AsyncLocalStorage<string>();

/** Seconds that clocks of functions differ by. */
export const mostAheadSeconds = 20;
const functionSeconds = 540;

/** What people may be told, beside that the database or Google cannot be reached now. */
const refusals: readonly ProblemCode[] = ['conflict', 'bad-input', 'not-found', 'over-ceiling', 'stopped', 'too-many'];
const unreachable: readonly ProblemCode[] = ['unavailable', 'cloud-unavailable'];

const isExpected = (name: FunctionName, error: unknown): boolean =>
  error instanceof Problem &&
  (unreachable.includes(error.code) || (name === functionNames.bootstraps && refusals.includes(error.code)));

const said = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));

/** What somebody sees of all that goes on. */
interface Watching {
  /** `by`: the delivery of a message that did it. Undefined: a person or a schedule did. */
  onCommit(writes: readonly Write[], by: string | undefined): void;
  onMessage(message: StepMessage): void;
  onEnd(by: string, ended: EndedRun): void;
}

/** What a delivery tells of an instance that it had. */
export interface EndedRun {
  /** The bootstrap's id and the instance's. */
  readonly place: string;
  /** Of the delivery's message. */
  readonly generation: number;
  readonly result: string;
}

export function createStage(seed: number, items: readonly BootstrapsItem[], watching: Watching): Stage {
  const random = createRandom(seed ^ 0x5eed);
  const scheduler = createScheduler(random, onlyOf(items, 'order')?.withinSeconds ?? 0);
  const calls = new Map(items.flatMap((each) => (each.kind === 'call' ? [[each.nth, each.how] as const] : [])));
  const fates = new Map(items.flatMap((each) => (each.kind === 'message' ? [[each.nth, each.fate] as const] : [])));
  const settings = settingsOf(items);
  const difficulty = onlyOf(items, 'cloud');
  const world: Difficulty | undefined = difficulty && difficulties[difficulty.is];
  const memory = createMemoryStore(scheduler.time);
  const quickWrites = onlyOf(items, 'quick writes');
  const stored = quickWrites === undefined ? memory : refuseQuickWrites(memory, scheduler.time, quickWrites.are);
  const google = scheduler.process('Google');
  const direct = createDirectCloud({
    seed,
    initial: initialState(),
    now: scheduler.time,
    sleep: (milliseconds) => google.turn(milliseconds / 1000),
    world: world?.world,
    settings: world?.settings,
  });
  const teller = createTeller();
  const machines = createMachines(direct.world, scheduler.time, (what) => teller.wrong(scheduler.time(), what));
  const installs = onlyOf(items, 'machines') !== undefined;
  const steps = stepsOf({ hosts: installs });
  const counts = { calls: 0, messages: 0, deaths: 0 };
  const errors: string[] = [];
  const lives = new Map<FunctionName, Living>();
  const secondsOf = onlyOf(items, 'prompt') === undefined ? latency : promptly;
  const seconds = (): number => secondsOf(random);
  const policySeconds =
    onlyOf(items, 'slow policies') === undefined ? seconds : (): number => random.next() * mostLateSeconds;
  let deliveries = 0;

  const disturb = (process: Process, call: string): Disturbance | undefined => {
    const how = calls.get(counts.calls);
    counts.calls += 1;
    if (how === undefined) return undefined;
    teller.tell(scheduler.time(), process.name, `its call ${counts.calls - 1} (${call}) ${how} its effect`);
    return how;
  };

  function deliver(lane: Lane, message: StepMessage, afterSeconds: number): void {
    const post = scheduler.process('Pub/Sub');
    scheduler.start(post, async () => {
      await post.turn(afterSeconds);
      const { bootstrapId, instance, generation } = message;
      stage.invoke(laneFunctions[lane], `gets ${bootstrapId} ${instance}`, async (context) => {
        const deadlineAt = new Date(context.clock.now().getTime() + functionSeconds * 1000);
        deliveries += 1;
        const by = String(deliveries);
        const onEnd = (ended: string, result: string): void => {
          teller.tell(scheduler.time(), laneFunctions[lane], `${bootstrapId} ${ended}: ${result}`);
          watching.onEnd(by, { place: `${bootstrapId} ${ended}`, generation, result });
        };
        await delivery.run(by, () => runMessage(context, steps, message, { deadlineAt, onEnd }));
      });
    });
  }

  function send(lane: Lane, message: StepMessage): void {
    const fate = fates.get(counts.messages);
    counts.messages += 1;
    const { bootstrapId, instance } = message;
    if (fate !== undefined) teller.tell(scheduler.time(), 'Pub/Sub', `${bootstrapId} ${instance} is ${fate}`);
    if (fate === 'lost') return;
    deliver(lane, message, fate === 'late' ? 30 + random.next() * 600 : seconds());
    if (fate === 'doubled') deliver(lane, message, seconds());
  }

  function createContext(name: FunctionName, process: Process): Context {
    const config = configOf(name, settings);
    const cloud = cloudOf({ config, direct, process, disturb, seconds, policySeconds });
    const keys = createSeedKeys(process.random);
    const { clock } = process;
    return {
      config,
      clock,
      cloud,
      keys,
      random: process.random,
      log(severity, message, fields) {
        if (severity !== 'ERROR') return;
        const { error } = (fields ?? {}) as { readonly error?: unknown };
        errors.push(error === undefined ? message : `${message}: ${said(error)}`);
        if (error === undefined || isExpected(name, error)) teller.tell(scheduler.time(), process.name, message);
        else teller.wrong(scheduler.time(), `${process.name}: ${message}: ${said(error)}`);
      },
      store: withRetries(
        storeOf(stored, process, {
          disturb,
          seconds,
          answers: true,
          onCommit: (writes) => watching.onCommit(writes, delivery.getStore()),
        }),
        process,
      ),
      publisher: {
        publish: (lane, messages) =>
          inTurns(
            process,
            disturb(process, 'publish'),
            async () => {
              for (const each of messages) {
                watching.onMessage(each);
                send(lane, each);
              }
            },
            {
              seconds,
            },
          ),
        close: async () => undefined,
      },
      remote: remoteOf({ machines, process, disturb, seconds }),
      osLogin: createOsLoginIdentity({ config, cloud, keys, clock }),
      tracing: noTracing,
    };
  }

  const stage: Stage = {
    scheduler,
    memory,
    direct,
    teller,
    random,
    counts,
    errors,
    steps,
    teams: new Map(),
    installs,
    machines,
    living(name) {
      const found = lives.get(name);
      if (found !== undefined && !found.process.isDead()) return found;
      if (found !== undefined) counts.deaths += 1;
      const process = scheduler.process(name, random.below(mostAheadSeconds));
      const living = { process, context: createContext(name, process) };
      lives.set(name, living);
      return living;
    },
    sweeps() {
      stage.invoke(functionNames.sweep, 'sweeps', async (context) => {
        const works = [sweep(context), warn(context), lookAtFuses(context), followTeams(context), keepPools(context)];
        const failed = (await Promise.allSettled(works)).find(({ status }) => status === 'rejected');
        if (failed?.status === 'rejected') throw failed.reason;
      });
    },
    cleansUp() {
      stage.invoke(functionNames.cleanup, 'cleans up', async (context) => {
        await cleanup(context, steps);
        await searchHourly(context);
      });
    },
    killAll() {
      for (const { process } of lives.values()) process.kill();
    },
    invoke(name, what, work) {
      const { process, context } = stage.living(name);
      scheduler.start(process, async () => {
        try {
          await work(context);
        } catch (error) {
          if (!isExpected(name, error)) teller.wrong(scheduler.time(), `${name} ${what}: ${said(error)}`);
          else teller.tell(scheduler.time(), name, `${what}: ${(error as Error).message}`);
        }
      });
    },
  };
  return stage;
}
