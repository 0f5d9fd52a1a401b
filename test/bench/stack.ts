/** Bootstraps over HTTP, as the command line begins them, and waited for at the store. Packages and Google's emulators if wanted. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Plan } from '../../functions/engine/plan.js';
import { liftBootstrap, read } from '../../functions/engine/record/documents.js';
import { planOfRecord } from '../../functions/engine/record/plan-of-record.js';
import type { AnyStep } from '../../functions/engine/step.js';
import type { Store } from '../../functions/store/store.js';
import { emulatorMissing } from '../../local/emulators/emulators.js';
import { makePackage } from '../../local/packages/make-package.js';
import { local, people } from '../../local/stack/deployment.js';
import { publishPackage } from '../../local/stack/publish-package.js';
import { createStack, type Stack, type StackOptions } from '../../local/stack/stack.js';
import type { GivenOptions } from '../../shared/bootstrap/options.js';
import { collections, functionNames } from '../../shared/names.js';
import { countStore, type StoreCounts } from '../support/counting-store.js';
import { part, type Row } from './figures.js';

export interface Bench {
  readonly stack: Stack;
  /** Of all functions together, since the start. */
  readonly counts: StoreCounts;
  /** Messages that were published, since the start. */
  messages(): number;
  /** Begins one, and waits for the answer alone. */
  begin(name: string, options?: GivenOptions): Promise<Begun>;
  /** Begins one and waits for its end; throws if it does not succeed. */
  bootstrap(name: string, options?: GivenOptions): Promise<Bootstrapped>;
  close(): Promise<void>;
}

interface Begun {
  readonly id: string;
  readonly projectId: string;
  /** From the request to its answer. */
  readonly milliseconds: number;
}

export interface Bootstrapped {
  readonly id: string;
  readonly projectId: string;
  /** From the request to the end, as it stands in the store. */
  readonly milliseconds: number;
  readonly instances: number;
}

export const sshPublicKey =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBvzZpkM1mOAq0YPoqJz8b4Zr1d1yG2Q0eN6q1S0b2Xy alice@example.com';

export const optionsOf = (name: string): GivenOptions => ({
  projectName: name,
  billingAccount: local.billingAccount,
  baseDomain: `${name}.example.com`,
  registryUser: 'bench',
  forge1AppClientId: 'bench-client',
  forge1AppClientSecret: 'bench-client-secret',
});

export async function createBench(options: StackOptions): Promise<Bench> {
  let store: Store | undefined;
  let counts: StoreCounts | undefined;
  const stack = await createStack({
    ...options,
    wrapStore: (own) => {
      const counted = countStore(own);
      ({ counts } = counted);
      store = own;
      return counted.store;
    },
  });
  try {
    if (store === undefined || counts === undefined) throw new Error('The functions have no store.');
    return await benchOf(stack, store, counts);
  } catch (error) {
    await stack.close();
    throw error;
  }
}

async function benchOf(stack: Stack, own: Store, counts: StoreCounts): Promise<Bench> {
  // It would read now and then what nobody asked for.
  await stack.cloudHalf?.scheduledCalls.close();
  const published = countMessages(stack);
  const { idToken } = await stack.tokens(people.alice);

  /** Reads past the counters. */
  const ended = (id: string): Promise<{ readonly state: string; readonly instances: object; readonly data: object }> =>
    new Promise((resolve, reject) => {
      const stop = own.watch(
        collections.bootstraps,
        id,
        (document) => {
          const { state, instances } = (document?.data ?? {}) as { state?: string; instances?: object };
          if (state === undefined || !['succeeded', 'failed', 'cancelled'].includes(state)) return;
          // Not from within its own first call.
          setImmediate(() => stop());
          resolve({ state, instances: instances ?? {}, data: document?.data ?? {} });
        },
        reject,
      );
    });

  const bench: Bench = {
    stack,
    counts,
    messages: published,
    async begin(name, more = {}) {
      const begun = performance.now();
      const reply = await fetch(`${stack.url}/bootstraps`, {
        method: 'POST',
        headers: { authorization: `Bearer ${idToken}`, 'content-type': 'application/json' },
        body: JSON.stringify({ options: { ...optionsOf(name), ...more }, sshPublicKey }),
      });
      const text = await reply.text();
      if (reply.status !== 201) throw new Error(`POST /bootstraps → ${reply.status} ${text}`);
      const { id, projectId } = (JSON.parse(text) as { bootstrap: { id: string; projectId: string } }).bootstrap;
      return { id, projectId, milliseconds: performance.now() - begun };
    },
    async bootstrap(name, more) {
      const begun = performance.now();
      const { id, projectId } = await bench.begin(name, more);
      const { state, instances, data } = await ended(id);
      const milliseconds = performance.now() - begun;
      if (state !== 'succeeded')
        throw new Error(`${name} ${state}: ${JSON.stringify(data)}\n${stack.notes.join('\n')}`);
      return { id, projectId, milliseconds, instances: Object.keys(instances).length };
    },
    close: () => stack.close(),
  };
  return bench;
}

/** Each function publishes by its own context. */
function countMessages({ functionsHalf }: Stack): () => number {
  let count = 0;
  for (const name of Object.values(functionNames)) {
    const publisher = functionsHalf?.contextOf(name).publisher;
    if (publisher === undefined) throw new Error('The functions run elsewhere.');
    const publish = publisher.publish.bind(publisher);
    const counting: typeof publisher.publish = (lane, messages, attributes) => {
      count += messages.length;
      return publish(lane, messages, attributes);
    };
    Object.assign(publisher, { publish: counting });
  }
  return () => count;
}

/** Loads what is loaded on first use, and lets the engine's code become warm. */
export async function warmUp(bench: Bench, times = 2): Promise<void> {
  for (let i = 0; i < times; i++) await bench.bootstrap(`warm-up-${i}`);
  await bench.stack.settle();
  await sleep(100);
}

/** What these steps are to do for a bootstrap, by its record; the functions must run here. */
export async function planOfBootstrap({ stack }: Bench, id: string, steps: readonly AnyStep[]): Promise<Plan> {
  if (stack.functionsHalf === undefined) throw new Error('The functions must run here.');
  const record = read(await stack.functionsHalf.store.get(collections.bootstraps, id), liftBootstrap);
  if (record === undefined) throw new Error(`There is no bootstrap ${id}.`);
  return planOfRecord(steps, record.data);
}

export interface PackagedBench extends Bench {
  /** What a bootstrap is given to install the package. No PostgreSQL is on these machines: the service that needs it is left out. */
  readonly install: GivenOptions;
}

/** Throws where this computer holds no machines. */
export async function createPackagedBench(options: StackOptions): Promise<PackagedBench> {
  const bench = await createBench({ ...options, machines: 'embedded' });
  const folder = mkdtempSync(join(tmpdir(), 'plinth-bench-package-'));
  try {
    const { cloudHalf, record, notes } = bench.stack;
    const lacks = notes.find((note) => note.startsWith('No '));
    if (cloudHalf === undefined || record.sshProxyUrl === undefined || lacks !== undefined) {
      throw new Error(lacks ?? 'No simulated VM answers SSH here.');
    }
    const made = await makePackage(folder);
    await publishPackage(cloudHalf.cloud, made);
    return { ...bench, install: { installVersion: made.version, installSkipSteps: ['postgres', 'platform'] } };
  } catch (error) {
    await bench.close();
    throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What this machine lacks. Undefined: nothing. */
export const emulatorsMissing = (): string | undefined => emulatorMissing('firestore') ?? emulatorMissing('pubsub');

/** A part that needs them if this is its store. */
export async function* onEmulators(
  name: string,
  store: 'memory' | 'emulator' | undefined,
  measure: () => Promise<readonly Row[]>,
): AsyncGenerator<Row> {
  const why = store === 'emulator' ? emulatorsMissing() : undefined;
  if (why === undefined) yield* part(name, measure);
  else yield { name, why, kind: 'left out' };
}
