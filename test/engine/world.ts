/**
 * A world for the engine's tests: toy steps that make things in a map, a queue in place of Pub/Sub, time that only waits
 * move, and a process that can be killed at any call of the store.
 */

import { beginOrResume } from '../../functions/bootstraps/begin/begin.js';
import type { Begun } from '../../functions/bootstraps/begin/begin-facts.js';
import { readConfig } from '../../functions/config.js';
import type { Context } from '../../functions/context.js';
import type { StoredBootstrap } from '../../functions/engine/record/documents.js';
import { getBootstrap } from '../../functions/engine/record/update.js';
import type { LeaseTimes } from '../../functions/engine/run/lease.js';
import type { RunResult } from '../../functions/engine/run/result.js';
import { runMessage } from '../../functions/engine/run/run.js';
import { sweep } from '../../functions/engine/run/sweep.js';
import type { AnyStep } from '../../functions/engine/step.js';
import { realTimers } from '../../functions/host/clock.js';
import { createLog, type Severity } from '../../functions/host/log.js';
import { realRandom } from '../../functions/host/random.js';
import { withRetries } from '../../functions/store/retry.js';
import type { Store } from '../../functions/store/store.js';
import { noTracing } from '../../functions/tracing/tracing.js';
import { createMemoryStore, type MemoryStore } from '../../local/functions/memory-store.js';
import type { StepMessage } from '../../shared/bootstrap/message.js';
import type { GivenOptions } from '../../shared/bootstrap/options.js';
import { acceptOptions } from '../support/accept-options.js';
import { countStore, type StoreCounts } from '../support/counting-store.js';

export const alice = { email: 'alice@example.com', member: 'user:alice@example.com' };
export const bob = { email: 'bob@example.com', member: 'user:bob@example.com' };

export const given: GivenOptions = {
  projectName: 'My project',
  billingAccount: '012345-6789AB-CDEF01',
  baseDomain: 'example.com',
  forge1AppClientId: 'client',
  forge1AppClientSecret: 'planted-client-secret',
};

/** The process is gone: nothing it still does has an effect. */
export class Killed extends Error {
  override readonly name = 'Killed';
}

export interface KillAt {
  /** The n-th call of the store, from 1. */
  readonly call: number;
  readonly when: 'before' | 'after';
}

export interface World {
  readonly context: Context;
  readonly store: MemoryStore;
  readonly counts: StoreCounts & { messages: number };
  /** Messages that wait to be delivered. */
  readonly queue: StepMessage[];
  readonly logs: { severity: Severity; message: string; fields: unknown }[];
  /** How often each thing was made. */
  readonly made: Map<string, number>;
  readonly things: Map<string, unknown>;
  /** Seconds that were waited, one entry a wait. */
  readonly waits: number[];
  readonly secrets: Map<string, string[]>;
  /** Moves real time, for leases and due times. */
  pass(seconds: number): void;
  make(thing: string, value?: unknown): void;
  kill(at: KillAt | undefined): void;
  /** The process is killed at once. */
  die(): void;
  isDead(): boolean;
  /** A new process, on the same store. */
  revive(): void;
  /** Store calls of this process. */
  calls(): number;
  begin(steps: readonly AnyStep[], changes?: Partial<GivenOptions>, caller?: typeof alice): Promise<Begun>;
  run(
    steps: readonly AnyStep[],
    message: StepMessage,
    seconds?: number,
    times?: Partial<LeaseTimes>,
  ): Promise<RunResult>;
  /** Takes the one message that waits. */
  take(): StepMessage;
  /** Delivers all messages, and those that follow from them, until none is left. */
  drain(steps: readonly AnyStep[], next?: (waiting: StepMessage[]) => StepMessage[]): Promise<RunResult[]>;
  sweep(): Promise<number>;
  read(id: string): Promise<StoredBootstrap>;
  states(id: string): Promise<Record<string, string>>;
}

const realSetTimeout = setTimeout;
const tick = () => new Promise<void>((resolve) => realSetTimeout(resolve, 0));

/** `firestore`: in place of the memory store, which then stays empty. */
export function createWorld(settings: Readonly<Record<string, string>> = {}, firestore?: Store): World {
  const store = createMemoryStore();
  const counted = countStore(firestore ?? store);
  const counts: World['counts'] = Object.assign(counted.counts, { messages: 0 });
  const queue: StepMessage[] = [];
  const logs: World['logs'] = [];
  const made = new Map<string, number>();
  const things = new Map<string, unknown>();
  const waits: number[] = [];
  const secrets = new Map<string, string[]>();
  let offset = 0;
  let process = { dead: false, calls: 0, killAt: undefined as KillAt | undefined };

  const now = () => new Date(Date.now() + offset);
  /** A store that dies with the process that uses it. */
  const storeOf = (own: typeof process): Store => {
    const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
      if (own.dead) throw new Killed();
      own.calls += 1;
      const hit = own.killAt?.call === own.calls ? own.killAt.when : undefined;
      if (hit === 'before') own.dead = true;
      if (own.dead) throw new Killed();
      const result = await work();
      if (hit === 'after') own.dead = true;
      // Others of this process may have been hit meanwhile: whatever was written stands, but nobody hears of it.
      if (own.dead) throw new Killed();
      return result;
    };
    const { store: inner } = counted;
    return {
      ...inner,
      get: (collection, id) => guarded(() => inner.get(collection, id)),
      getMany: (collection, ids) => guarded(() => inner.getMany(collection, ids)),
      query: (query) => guarded(() => inner.query(query)),
      commit: (writes) => guarded(() => inner.commit(writes)),
    };
  };

  const secretManager = {
    find: async (id: string) => (secrets.has(id) ? '1' : undefined),
    versions: async (id: string) => (secrets.get(id) ?? []).map((_, i) => String(i + 1)),
    write: async (id: string, payload: string) => {
      secrets.set(id, [...(secrets.get(id) ?? []), payload]);
      return String(secrets.get(id)?.length);
    },
    read: async (id: string, version: string) => secrets.get(id)?.[Number(version) - 1] ?? '',
    remove: async (id: string) => {
      secrets.delete(id);
    },
    destroy: async (id: string, version: string) => {
      const versions = secrets.get(id);
      if (versions !== undefined) versions[Number(version) - 1] = '';
    },
  };
  const cloud = { secretManager, reportingTo: () => cloud } as unknown as Context['cloud'];

  const contextOf = (own: typeof process): Context => ({
    config: readConfig({
      PLINTH_PROJECT: 'plinth-test',
      PLINTH_DEPLOYMENT: 'test',
      PLINTH_MACHINE_ACCESS: 'direct',
      PLINTH_SSH_SOURCE_RANGES: '127.0.0.0/8',
      PLINTH_LIVING_PER_OWNER: '1000',
      PLINTH_LIVING_IN_ALL: '1000',
      ...settings,
    }),
    log: createLog({
      write(line) {
        const { severity, message, ...fields } = JSON.parse(line) as (typeof logs)[number];
        logs.push({ severity, message, fields });
      },
    }),
    random: realRandom,
    clock: {
      ...realTimers,
      now,
      async wait(seconds, signal) {
        waits.push(seconds);
        await tick();
        signal?.throwIfAborted();
      },
    },
    store: withRetries(storeOf(own), { clock: realTimers, random: realRandom }),
    publisher: {
      async publish(_lane, messages) {
        if (own.dead) throw new Killed();
        counts.messages += messages.length;
        queue.push(...messages);
      },
      close: async () => undefined,
    },
    cloud,
    keys: { make: () => Promise.reject(new Error('No keys are made here')) },
    remote: { host: () => Promise.reject(new Error('No machines are here')), close: async () => undefined },
    osLogin: {
      identity: () => Promise.reject(new Error('No machines are here')),
      doubt: () => undefined,
      close: async () => undefined,
    },
    tracing: noTracing,
  });
  let context = contextOf(process);

  const world: World = {
    get context() {
      return context;
    },
    store,
    counts,
    queue,
    logs,
    made,
    things,
    waits,
    secrets,
    pass: (seconds) => {
      offset += seconds * 1000;
    },
    make(thing, value = thing) {
      if (process.dead) throw new Killed();
      made.set(thing, (made.get(thing) ?? 0) + 1);
      things.set(thing, value);
    },
    kill: (at) => {
      process.killAt = at;
    },
    die: () => {
      process.dead = true;
    },
    isDead: () => process.dead,
    revive() {
      process = { dead: false, calls: 0, killAt: undefined };
      context = contextOf(process);
    },
    calls: () => process.calls,
    begin: (steps, changes = {}, caller = alice) => {
      const all = { ...given, ...changes };
      const { options, secrets: secretOptions, warnings } = acceptOptions(all);
      return beginOrResume(context, steps, {
        caller,
        options,
        secrets: secretOptions,
        given: all,
        sshPublicKey: 'ssh-ed25519 AAAA alice',
        warnings,
      });
    },
    take() {
      const [message, ...more] = queue.splice(0);
      if (message === undefined || more.length > 0) throw new Error('There is not one message that waits');
      return message;
    },
    run: (steps, message, seconds = 500, times = {}) =>
      runMessage(context, steps, message, {
        deadlineAt: new Date(now().getTime() + seconds * 1000),
        trace: { id: 'f'.repeat(32), spanId: 'e'.repeat(16), sampled: false },
        times,
      }),
    async drain(steps, next = (waiting) => waiting) {
      const results: RunResult[] = [];
      while (queue.length > 0) {
        const batch = next(queue.splice(0));
        results.push(...(await Promise.all(batch.map((message) => world.run(steps, message)))));
      }
      return results;
    },
    sweep: async () => (await sweep(context)).published,
    async read(id) {
      const found = await getBootstrap({ store: firestore ?? store }, id);
      if (found === undefined) throw new Error(`There is no ${id}`);
      return found;
    },
    async states(id) {
      const { data } = await world.read(id);
      return Object.fromEntries(Object.entries(data.instances).map(([instance, { state }]) => [instance, state]));
    },
  };
  return world;
}
