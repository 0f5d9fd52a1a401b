/**
 * The engine with the real steps against the simulated cloud, in processes that die at a chosen cloud call: time passes, sweep
 * comes, and another process goes on.
 */

import { beginOrResume } from '../../functions/bootstraps/begin/begin.js';
import { requestRemoval } from '../../functions/bootstraps/removal/removal.js';
import { cleanup } from '../../functions/cleanup/cleanup.js';
import { createCloud } from '../../functions/cloud/index.js';
import { readConfig } from '../../functions/config.js';
import type { Context } from '../../functions/context.js';
import {
  type BootstrapRecord,
  type ChosenPackage,
  liftBootstrap,
  read,
} from '../../functions/engine/record/documents.js';
import { runMessage } from '../../functions/engine/run/run.js';
import { sweep } from '../../functions/engine/run/sweep.js';
import { createOsLoginIdentity } from '../../functions/host/os-login.js';
import { realRandom } from '../../functions/host/random.js';
import { createRemote, type Remote } from '../../functions/remote/remote.js';
import { stepsOf } from '../../functions/steps/index.js';
import { withRetries } from '../../functions/store/retry.js';
import type { Store } from '../../functions/store/store.js';
import { noTracing } from '../../functions/tracing/tracing.js';
import { put } from '../../local/cloud/compute/of-project.js';
import { createSimulatedCloud, type SimulatedCloud } from '../../local/cloud/index.js';
import { createClock } from '../../local/functions/clock.js';
import { createMemoryStore, type MemoryStore } from '../../local/functions/memory-store.js';
import {
  type DeployedFacts,
  environmentOf,
  functionAccount,
  initialState,
  laneFunctions,
  local,
} from '../../local/stack/deployment.js';
import { createTestKeys } from '../../local/stack/test-keys.js';
import type { StepMessage } from '../../shared/bootstrap/message.js';
import type { GivenOptions } from '../../shared/bootstrap/options.js';
import { collections, type FunctionName, functionNames } from '../../shared/names.js';
import { acceptOptions } from '../support/accept-options.js';

type Tables = Record<string, Record<string, unknown>>;

export interface Saved {
  readonly tables: Tables;
  readonly documents: readonly { readonly collection: string; readonly id: string; readonly data: object }[];
}

export interface Death {
  /** The n-th cloud call from now on, from 1. */
  readonly nth: number;
  /** After it: its effect stands, and nobody hears of it. */
  readonly when: 'before' | 'after';
}

export interface EngineLabOptions {
  /** 0 unless given. */
  readonly timeFactor?: number;
  /** Of the simulated cloud. */
  readonly seed?: number;
  /** Hears what the functions do. */
  readonly tap?: Tap;
  /** Its VMs answer SSH, and bootstraps go on to them. Their state is not saved. */
  readonly machines?: LabMachines;
}

export interface LabMachines {
  /** Starts what the steps on machines need; what of it is deployed. */
  start(cloud: SimulatedCloud): Promise<Partial<DeployedFacts>>;
}

export interface Tap {
  /** Where functions find the cloud instead. */
  endpoints(cloud: SimulatedCloud): Promise<SimulatedCloud['endpoints']>;
  store(store: MemoryStore): Pick<Store, 'commit'>;
  published(messages: readonly StepMessage[]): void;
  /** What functions reach machines by. */
  remote?(remote: Remote): Remote;
}

export interface EngineLab {
  readonly cloud: SimulatedCloud;
  readonly store: MemoryStore;
  /** Why functions broke off, in words. */
  readonly brokenOff: readonly string[];
  begin(name: string, more?: Partial<GivenOptions>, chosen?: ChosenPackage): Promise<string>;
  /** The world of a function of this process. */
  context(name: FunctionName): Context;
  /** Puts messages in the queue. */
  deliver(messages: readonly StepMessage[]): void;
  /** Of the functions, in milliseconds since the epoch; the cloud's stays as it is. */
  setTime(at: number): void;
  /** Delivers all messages and those that follow from them. Returns when none is left or the process has died. */
  drain(): Promise<void>;
  die(death: Death): void;
  /** At the next call of this method. */
  dieAt(method: string, when: Death['when']): void;
  /** What `work` does when the next call of this method has been answered. */
  after(method: string, work: () => Promise<void>): void;
  /** A new process. */
  revive(): void;
  /** Its messages are lost, its leases run out, and sweep comes, until nothing is left to do. */
  recover(): Promise<void>;
  /** What `work` does when the n-th cloud call from now on has been made, and before the next one begins. */
  at(nth: number, work: () => Promise<void>): void;
  remove(id: string): Promise<void>;
  /** As Cloud Scheduler has it called, `seconds` from now. */
  cleanup(seconds?: number): ReturnType<typeof cleanup>;
  record(id: string): Promise<BootstrapRecord>;
  save(): Promise<Saved>;
  restore(saved: Saved): Promise<void>;
  close(): Promise<void>;
}

const saved = [collections.bootstraps, collections.names, collections.leases, collections.events, collections.files];
const collectionsSaved = [...saved, collections.counters];
class Dead extends Error {
  override readonly name = 'Dead';
}

/** Machines take the time that they take. */
const machinesTimeFactor = 0.1;

export async function createEngineLab(options: EngineLabOptions = {}): Promise<EngineLab> {
  const { timeFactor = 0, seed = 1, tap, machines } = options;
  const steps = stepsOf({ hosts: machines !== undefined });
  const cloud = await createSimulatedCloud({
    timeFactor,
    seed,
    dnsPort: 0,
    initial: initialState(),
    metadata: { project: local.project, serviceAccount: functionAccount(functionNames.runCloudStep) },
  });
  const environment = { GCE_METADATA_HOST: cloud.metadataHost, METADATA_SERVER_DETECTION: 'assume-present' };
  const before = Object.keys(environment).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, environment);
  const store = createMemoryStore();
  const { commit } = tap?.store(store) ?? store;
  const endpoints = (await tap?.endpoints(cloud)) ?? cloud.endpoints;
  const started = await machines?.start(cloud);
  const remotes: Remote[] = [];
  const queue: StepMessage[] = [];
  const brokenOff: string[] = [];
  let offset = 0;
  let own = { dead: false, calls: 0 };
  let watch: { readonly is: () => boolean; readonly work: () => Promise<void> } | undefined;
  let acting: Promise<void> = Promise.resolve();

  const waiting = createClock(machines === undefined ? timeFactor : machinesTimeFactor);
  const clock = { ...waiting, now: () => new Date(Date.now() + offset) };
  const configs = new Map<FunctionName, Context['config']>();
  const configOf = (name: FunctionName) => {
    const { issuerUrl } = cloud;
    const dnsResolver = cloud.nameServers?.resolver;
    const own = { origin: 'http://127.0.0.1:1', endpoints, issuerUrl, forge1Url: 'http://127.0.0.1:1', dnsResolver };
    const facts = { ...own, ...started };
    const config = configs.get(name) ?? readConfig(environmentOf(name, facts));
    configs.set(name, config);
    return config;
  };
  const log = () => undefined;

  /** One process: when it is dead, nothing that it still does has an effect. */
  function contextOf(name: FunctionName, living: typeof own): Context {
    const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
      if (living === own) await acting;
      if (living.dead) throw new Dead();
      return work();
    };
    const heard = (text: string): void => {
      living.calls += 1;
      // What a fault of ours looks like from inside.
      if (/→ 503/.test(text)) living.dead = true;
      if (watch?.is() === true) {
        const { work } = watch;
        watch = undefined;
        acting = work();
      }
    };
    const reporting = (inner: Context['cloud']): Context['cloud'] => ({
      ...inner,
      // The store of packages judges by its own clock, which nobody sets.
      storage: { ...inner.storage, signedUrl: (of, seconds) => inner.storage.signedUrl(of, seconds, new Date()) },
      reportingTo: (listener, reason) =>
        reporting(
          inner.reportingTo((text, facts) => {
            heard(text);
            listener(text, facts);
          }, reason),
        ),
    });
    const config = configOf(name);
    const dying: Store = {
      ...store,
      get: (collection, id) => guarded(() => store.get(collection, id)),
      getMany: (collection, ids) => guarded(() => store.getMany(collection, ids)),
      query: (query) => guarded(() => store.query(query)),
      commit: (writes) => guarded(() => commit(writes)),
    };
    const cloud = reporting(createCloud({ config, clock }));
    const keys = createTestKeys();
    return {
      config,
      log,
      clock,
      random: realRandom,
      store: withRetries(dying, { clock, random: realRandom }),
      publisher: {
        async publish(_lane, messages) {
          if (living.dead) throw new Dead();
          tap?.published(messages);
          queue.push(...messages);
        },
        close: async () => undefined,
      },
      cloud,
      keys,
      osLogin: createOsLoginIdentity({ config, cloud, keys, clock }),
      remote: remoteOf(config),
      tracing: noTracing,
    };
  }
  function remoteOf(config: Context['config']): Remote {
    if (machines === undefined) {
      return { host: () => Promise.reject(new Error('No machines are here')), close: async () => undefined };
    }
    const remote = createRemote(config);
    remotes.push(remote);
    return tap?.remote?.(remote) ?? remote;
  }
  const functionOf = ({ instance }: StepMessage): FunctionName =>
    laneFunctions[steps.find(({ name }) => name === instance.split(':')[0])?.lane ?? 'cloud'];
  const contexts = new Map<FunctionName, Context>();
  const context = (name: FunctionName): Context => {
    const found = contexts.get(name) ?? contextOf(name, own);
    contexts.set(name, found);
    return found;
  };
  const revive = (): void => {
    own = { dead: false, calls: 0 };
    contexts.clear();
  };

  const lab: EngineLab = {
    cloud,
    store,
    brokenOff,
    context,
    async begin(name, more = {}, chosen) {
      const given = {
        projectName: name,
        billingAccount: local.billingAccount,
        baseDomain: `${name}.example.com`,
        forge1AppClientId: 'client',
        forge1AppClientSecret: 'planted-client-secret',
        ...more,
      };
      const { options, secrets, warnings } = acceptOptions(given);
      const { bootstrap } = await beginOrResume(context(functionNames.bootstraps), steps, {
        caller: { email: 'alice@example.com', member: 'user:alice@example.com' },
        options,
        secrets,
        given,
        sshPublicKey: 'ssh-ed25519 AAAA alice',
        warnings,
        package: chosen,
      });
      return bootstrap.id;
    },
    deliver: (messages) => void queue.push(...messages),
    setTime(at) {
      offset = at - Date.now();
    },
    async drain() {
      const underWay = new Set<Promise<void>>();
      while ((queue.length > 0 && !own.dead) || underWay.size > 0) {
        for (const message of own.dead ? [] : queue.splice(0)) {
          const deadlineAt = new Date(clock.now().getTime() + 500_000);
          const run: Promise<void> = runMessage(context(functionOf(message)), steps, message, { deadlineAt })
            .then(() => undefined)
            // As a function that fails: what it left is swept up.
            .catch((error: unknown) => {
              const why = error instanceof Error ? (error.stack ?? error.message) : String(error);
              brokenOff.push(`${message.bootstrapId}/${message.instance}: ${why}`);
            })
            .finally(() => underWay.delete(run));
          underWay.add(run);
        }
        await Promise.race(underWay);
      }
      await acting;
    },
    die({ nth, when }) {
      cloud.faults.add({ method: '*', nth, when, kind: 'unavailable' });
      // Nothing that a dead process still asks for is done.
      cloud.faults.add({ method: '*', nth: nth + 1, times: 0, kind: 'unavailable' });
    },
    dieAt(method, when) {
      cloud.faults.add({ method, when, kind: 'unavailable' });
      cloud.faults.add({ method, nth: 2, times: 0, kind: 'unavailable' });
    },
    after(method, work) {
      const since = cloud.calls.last();
      watch = { is: () => cloud.calls.list({ since, method }).length > 0, work };
    },
    revive,
    async recover() {
      cloud.faults.clear();
      for (let lives = 0; lives < 20; lives++) {
        queue.splice(0);
        revive();
        offset += 120_000;
        await sweep(context(functionNames.sweep));
        if (queue.length === 0) return;
        await lab.drain();
      }
      throw new Error('it comes to no end');
    },
    at(nth, work) {
      own.calls = 0;
      watch = { is: () => own.calls >= nth, work };
    },
    async remove(id) {
      // Of a function that lives, whatever becomes of the one that works on steps.
      const person = contextOf(functionNames.bootstraps, { dead: false, calls: 0 });
      await requestRemoval(person, steps, id, { by: 'alice@example.com', why: 'asked' });
    },
    cleanup(seconds = 0) {
      offset += seconds * 1000;
      return cleanup(context(functionNames.cleanup), steps);
    },
    async record(id) {
      const found = read(await store.get(collections.bootstraps, id), liftBootstrap);
      if (found === undefined) throw new Error(`there is no ${id}`);
      return found.data;
    },
    async save() {
      const { tables } = cloud.state() as unknown as { tables: Tables };
      const found = await Promise.all(collectionsSaved.map((collection) => store.query({ collection })));
      const documents = found.flat().map(({ collection, id, data }) => ({ collection, id, data: { ...data } }));
      return { tables, documents };
    },
    async restore({ tables: wanted, documents }) {
      const { tables } = cloud.state() as unknown as { tables: Tables };
      for (const name of new Set([...Object.keys(tables), ...Object.keys(wanted)])) {
        if (name === 'ports') continue;
        const table = cloud.world.table<unknown>(name);
        for (const key of Object.keys(table)) delete table[key];
        for (const [key, value] of Object.entries(structuredClone(wanted[name] ?? {}))) put(table, key, value);
      }
      for (const collection of collectionsSaved) {
        const standing = await store.query({ collection });
        if (standing.length > 0)
          await store.commit(standing.map(({ id }) => ({ kind: 'delete', collection, id }) as const));
      }
      await store.commit(
        documents.map(({ collection, id, data }) => ({ kind: 'set', collection, id, data: { ...data } }) as const),
      );
      queue.splice(0);
      revive();
    },
    async close() {
      for (const remote of remotes) await remote.close();
      await cloud.close();
      for (const [name, value] of before) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    },
  };
  return lab;
}
