/**
 * The whole of plinth on one machine: what stands for Google, and the functions. `npm run local`, the demo, the tests and
 * the benches all make it with this one call.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createKeyMaker } from '../../functions/host/keys.js';
import type { Store } from '../../functions/store/store.js';
import { collections } from '../../shared/names.js';
import { type FunctionsHalf, startFunctionsHalf } from '../functions/half.js';
import type { BundleOptions } from '../functions/processes.js';
import type { TierName } from '../machines/index.js';
import { type CloudHalf, startCloudHalf } from './cloud-half.js';
import { type FunctionEnvironment, local } from './deployment.js';
import { type CloudRecord, openStateFolder } from './state-folder.js';
import { createTestKeys } from './test-keys.js';

export interface StackOptions {
  /** Default memory: nothing is kept. `emulator`: Google's Firestore and Pub/Sub emulators. */
  readonly store?: 'memory' | 'emulator';
  /** How long the cloud takes: 1 is realistic, 0 (default) at once. */
  readonly timeFactor?: number;
  /** Of all chance in the simulated cloud and the deliveries. Default 1. */
  readonly seed?: number;
  /** Of the functions' origin; 0 (default) is any. */
  readonly port?: number;
  /** Default both. */
  readonly half?: 'both' | 'cloud' | 'functions';
  /** Where the halves find each other and themselves again. Default: a folder that goes with the stack. */
  readonly state?: string | undefined;
  /** `test` (default): from a pool, as RSA takes seconds. `real`: made anew. */
  readonly keys?: 'test' | 'real';
  /** Share of messages that are delivered twice, 0 to 1. */
  readonly duplicates?: number;
  /** Share of messages that overtake others, 0 to 1. */
  readonly reordering?: number;
  /** How many messages of a lane may be worked on at once; by default many. Only with the store `memory`. */
  readonly concurrency?: number;
  /** Gets the warnings before a project's time is over; default: nobody. */
  readonly webhookUrl?: string;
  /** More settings of every function; these win. */
  readonly settings?: FunctionEnvironment;
  /** Which machines answer SSH for VMs, where this computer can hold them; `none` (default): VMs are but entries. */
  readonly machines?: TierName | 'none';
  /** What the functions are given for the store: the same one, watched. */
  readonly wrapStore?: (store: Store) => Store;
  /** What is deployed of the functions, each in a process of its own; default: the sources, in this one. Only with the store `emulator`. */
  readonly bundles?: BundleOptions;
  /** Gets each line of the functions' logs; by default they are kept in `logs`. */
  readonly onLog?: (line: string) => void;
  /** Gets what did not work, or is worth knowing; by default it is kept in `notes`. */
  readonly onNote?: (note: string) => void;
}

export interface Stack {
  /** Origin of the functions; in the cloud half: where they were last, or nothing. */
  readonly url: string;
  readonly record: CloudRecord;
  /** Only where that half runs in this process. */
  readonly cloudHalf?: CloudHalf;
  readonly functionsHalf?: FunctionsHalf;
  readonly logs: readonly string[];
  readonly notes: readonly string[];
  /** The Workspace domain is what follows the @. */
  tokens(email: string): Promise<Tokens>;
  /** Resolves when no function is at work and nothing is left to do; both halves must run here. */
  settle(timeoutSeconds?: number): Promise<void>;
  close(): Promise<void>;
}

export interface Tokens {
  /** For plinth's API. */
  readonly idToken: string;
  /** For the simulated cloud. */
  readonly accessToken: string;
}

/** A working day: whoever tries things out locally shall not be asked to fetch tokens. */
const tokenLifeSeconds = 12 * 3600;

/** Asks the issuer, wherever it runs. */
export async function askForTokens({ frontUrl }: Pick<CloudRecord, 'frontUrl'>, email: string): Promise<Tokens> {
  const reply = await fetch(`${frontUrl}/_local/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      email,
      audience: local.oauthClient,
      hd: email.slice(email.lastIndexOf('@') + 1),
      lifeSeconds: tokenLifeSeconds,
    }),
  });
  if (!reply.ok) throw new Error(`The token issuer answered ${reply.status}.`);
  return (await reply.json()) as Tokens;
}

export async function createStack(options: StackOptions = {}): Promise<Stack> {
  const { store = 'memory', timeFactor = 0, seed = 1, port = 0, half = 'both', keys = 'test' } = options;
  if (half !== 'both' && store === 'memory') {
    throw new Error(
      'Halves that can be killed and started again need a store that outlives them: --only goes with --store emulator.',
    );
  }
  if (half !== 'both' && options.state === undefined) {
    throw new Error('Two halves find each other through a folder: give both the same --state.');
  }
  if (options.bundles !== undefined && store === 'memory') {
    throw new Error('Functions in processes of their own share no memory: bundles go with --store emulator.');
  }
  const logs: string[] = [];
  const notes: string[] = [];
  const onLog = options.onLog ?? ((line: string) => void logs.push(line));
  const onNote = options.onNote ?? ((note: string) => void notes.push(note));
  const folder = openStateFolder(options.state ?? mkdtempSync(join(tmpdir(), 'plinth-local-')));

  let cloudHalf: CloudHalf | undefined;
  let functionsHalf: FunctionsHalf | undefined;
  const close = async (): Promise<void> => {
    // First nobody calls, then nobody answers.
    await cloudHalf?.scheduledCalls.close();
    await functionsHalf?.close();
    await cloudHalf?.close();
    if (options.state === undefined) folder.remove();
  };

  try {
    if (half !== 'functions') {
      const { duplicates, reordering, concurrency, machines = 'none' } = options;
      const keep = options.state !== undefined;
      const chance = { seed, duplicates, reordering };
      cloudHalf = await startCloudHalf(folder, { store, timeFactor, keep, concurrency, machines, ...chance, onNote });
    }
    const record = cloudHalf?.record ?? (await folder.awaitCloud());
    if (half !== 'cloud') {
      functionsHalf = await startFunctionsHalf(folder, record, {
        port,
        keys: keys === 'real' ? createKeyMaker() : createTestKeys(),
        webhookUrl: options.webhookUrl,
        settings: options.settings,
        wrapStore: options.wrapStore,
        bundles: options.bundles,
        onLog,
      });
      await cloudHalf?.lookForFunctions();
      if (record.sshProxyUrl !== undefined && folder.readFunctions()?.releasesUrl === undefined) {
        onNote('No release of plinth is built, so bootstraps leave the steps on machines out: npm run build:binary');
      }
    }
    return {
      url: functionsHalf?.origin ?? folder.readFunctions()?.origin ?? '',
      record,
      ...(cloudHalf === undefined ? {} : { cloudHalf }),
      ...(functionsHalf === undefined ? {} : { functionsHalf }),
      logs,
      notes,
      tokens: (email) => askForTokens(record, email),
      settle: (timeoutSeconds = 60) => settle(cloudHalf, functionsHalf, timeoutSeconds),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** An instance that may run has a lease, from the moment it is ready to its end: no lease, nothing to do. */
async function settle(
  cloudHalf: CloudHalf | undefined,
  functionsHalf: FunctionsHalf | undefined,
  timeoutSeconds: number,
): Promise<void> {
  if (cloudHalf === undefined || functionsHalf === undefined) throw new Error('Only a whole stack can settle.');
  const { store } = functionsHalf;
  const leases = async (): Promise<number> => {
    const found = await Promise.all(
      ['ready', 'running'].map((state) =>
        store.query({ collection: collections.leases, where: [['state', '==', state]], limit: 1 }),
      ),
    );
    return found.flat().length;
  };
  const until = Date.now() + timeoutSeconds * 1000;
  while (cloudHalf.pending() > 0 || functionsHalf.underWay() > 0 || (await leases()) > 0) {
    if (Date.now() > until) {
      throw new Error(
        `Not settled after ${timeoutSeconds} s: ${cloudHalf.pending()} messages, ${functionsHalf.underWay()} functions at work, leases: ${await leases()}`,
      );
    }
    await sleep(10);
  }
}
