/**
 * The whole of plinth on one machine: the stand-ins for Google, and the functions. `npm run local`, the demo, the tests and
 * the benches all make it with this one call.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createKeyMaker, type KeyMaker } from '../../functions/host/keys.js';
import type { Store } from '../../functions/store/store.js';
import { collections } from '../../shared/names.js';
import type { BundleOptions } from '../functions/processes.js';
import type { Tier } from '../machines/tier.js';
import { type CloudHalf, startCloudHalf } from './cloud-half.js';
import { type FunctionEnvironment, local } from './deployment.js';
import { type FunctionsHalf, startFunctionsHalf } from './functions-half.js';
import { type CloudRecord, openStateFolder } from './state-folder.js';
import { createTestKeys } from './test-keys.js';
import type { WorldChoice } from './world-option.js';

export interface StackOptions extends WorldChoice {
  /** `memory` (default) keeps nothing. `emulator` uses Google's Firestore and Pub/Sub emulators. */
  readonly store?: 'memory' | 'emulator';
  /** Speed of the cloud: 1 is realistic, 0 (default) means no delays. */
  readonly timeFactor?: number;
  /** Seeds everything random in the simulated cloud and the deliveries. Default 1. */
  readonly seed?: number;
  /** Port of the functions' origin. 0 (default) means any free one. */
  readonly port?: number;
  /** Port of the name servers and of the resolver. 0 (default) means any free one. */
  readonly dnsPort?: number;
  /** Default: both. */
  readonly half?: 'both' | 'cloud' | 'functions';
  /** The folder where the halves find each other, also after a restart. Default: a folder that is removed with the stack. */
  readonly state?: string | undefined;
  /** `test` (default) takes keys from a pool, because RSA takes seconds. `real` makes new ones. Or whatever makes them. */
  readonly keys?: 'test' | 'real' | KeyMaker;
  /** Share of messages that are delivered twice, 0 to 1. */
  readonly duplicates?: number;
  /** Share of messages that overtake others, 0 to 1. */
  readonly reordering?: number;
  /** The URL that receives the warnings before a project's time is over. Default: none. */
  readonly webhookUrl?: string;
  /** Extra settings for every function. They override the defaults. */
  readonly settings?: FunctionEnvironment;
  /** The machines that answer SSH for VMs, if this computer can hold them. With `none` (default) VMs are only entries. */
  readonly machines?: 'embedded' | Tier | 'none';
  /** Wraps the store that the functions get. It must be the same store, only observed. */
  readonly wrapStore?: (store: Store) => Store;
  /**
   * Bundles of the functions, each served in its own process. Default: the sources, in this process. Only for the store
   * `emulator`.
   */
  readonly bundles?: BundleOptions;
  /** Called with each line of the functions' logs. By default they go to `logs`. */
  readonly onLog?: (line: string) => void;
  /** Called with what failed or is worth knowing. By default it goes to `notes`. */
  readonly onNote?: (note: string) => void;
}

export interface Stack {
  /** Origin of the functions. In the cloud half: their last known origin, or empty. */
  readonly url: string;
  readonly record: CloudRecord;
  /** Set only if that half runs in this process. */
  readonly cloudHalf?: CloudHalf;
  readonly functionsHalf?: FunctionsHalf;
  readonly logs: readonly string[];
  readonly notes: readonly string[];
  /** The text after the @ is the Workspace domain. */
  tokens(email: string): Promise<Tokens>;
  /** Resolves when no function is at work and nothing is left to do. Both halves must run in this process. */
  settle(timeoutSeconds?: number): Promise<void>;
  close(): Promise<void>;
}

export interface Tokens {
  /** For plinth's API. */
  readonly idToken: string;
  /** For the simulated cloud. */
  readonly accessToken: string;
}

/** A working day, so that a person who tries things out need not fetch new tokens. */
const tokenLifeSeconds = 12 * 3600;

/** Asks the issuer, in whichever process it runs. */
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
    // First stop the callers, then the functions that answer them.
    await cloudHalf?.scheduledCalls.close();
    await functionsHalf?.close();
    await cloudHalf?.close();
    if (options.state === undefined) folder.remove();
  };

  try {
    if (half !== 'functions') {
      const { machines = 'none', dnsPort = 0, state } = options;
      const given = { store, timeFactor, seed, machines, dnsPort, keep: state !== undefined, onNote };
      cloudHalf = await startCloudHalf(folder, { ...options, ...given });
    }
    const record = cloudHalf?.record ?? (await folder.awaitCloud());
    if (half !== 'cloud') {
      functionsHalf = await startFunctionsHalf(folder, record, {
        port,
        keys: keys === 'real' ? createKeyMaker() : keys === 'test' ? createTestKeys() : keys,
        webhookUrl: options.webhookUrl,
        settings: options.settings,
        wrapStore: options.wrapStore,
        bundles: options.bundles,
        onLog,
      });
      await cloudHalf?.lookForFunctions();
      if (record.sshProxyUrl !== undefined && record.release === undefined) {
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

/** An instance that may run has a lease from the moment it is ready until its end. No lease means nothing to do. */
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
