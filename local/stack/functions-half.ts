/**
 * The half of a local stack that is plinth itself: every function, each with its own identity and settings. It may be killed
 * and restarted in the same folder.
 */
import { type Config, readConfig } from '../../functions/config.js';
import { type Context, createContext } from '../../functions/context.js';
import type { KeyMaker } from '../../functions/host/keys.js';
import { createLog } from '../../functions/host/log.js';
import { createFirestoreStore } from '../../functions/store/firestore.js';
import type { Store } from '../../functions/store/store.js';
import { type FunctionName, functionNames } from '../../shared/names.js';
import { createClock } from '../functions/clock.js';
import { createMemoryStore } from '../functions/memory-store.js';
import { type BundleOptions, type FunctionProcesses, startFunctionProcesses } from '../functions/processes.js';
import { type FunctionServer, startFunctionServer } from '../functions/server.js';
import { environmentOf, type FunctionEnvironment, local, withSettings } from './deployment.js';
import { createFrontEnd } from './front-end.js';
import type { CloudRecord, StateFolder } from './state-folder.js';

export interface FunctionsHalfOptions {
  /** 0 means any free port, preferably the one in the folder. */
  readonly port: number;
  readonly keys: KeyMaker;
  /** The URL that receives the warnings before a project's time is over. */
  readonly webhookUrl?: string | undefined;
  /** Extra settings for every function. They override the defaults. */
  readonly settings?: FunctionEnvironment | undefined;
  /** Wraps the store that the functions get. */
  readonly wrapStore?: ((store: Store) => Store) | undefined;
  /** Bundles to serve, each in its own process, instead of the sources in this one. */
  readonly bundles?: BundleOptions | undefined;
  /** Called with each line of the functions' logs. */
  readonly onLog: (line: string) => void;
}

export interface FunctionsHalf {
  readonly origin: string;
  /** The store that all functions share. */
  readonly store: Store;
  contextOf(name: FunctionName): Context;
  underWay(): number;
  /** Set only if bundles are served. */
  readonly processes?: FunctionProcesses;
  close(): Promise<void>;
}

/** Variables for Google's client libraries. On Google's machines they need none. */
const clientVariables = ({ metadataHost }: CloudRecord): Readonly<Record<string, string>> => ({
  GCE_METADATA_HOST: metadataHost,
  METADATA_SERVER_DETECTION: 'assume-present',
  GOOGLE_CLOUD_PROJECT: local.project,
  // Set as on Cloud Run. Otherwise the metadata server has three seconds to answer, which a busy machine may exceed.
  K_SERVICE: 'plinth-local',
});

function pointClientsAt(record: CloudRecord): () => void {
  const wanted = clientVariables(record);
  const before = Object.keys(wanted).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, wanted);
  return () => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
}

let running = false;

/** The environment of each function: the addresses of the cloud, and of the functions themselves. */
function environmentIn(
  record: CloudRecord,
  { webhookUrl, settings }: FunctionsHalfOptions,
  name: FunctionName,
  origin: string,
): FunctionEnvironment {
  const emulatorHost = (emulator: string) => record.emulators.find((each) => each.name === emulator)?.host;
  return withSettings(
    environmentOf(name, {
      origin,
      endpoints: record.endpoints,
      issuerUrl: record.issuerUrl,
      forge1Url: record.forge1Url,
      forge1RegistryUrl: record.forge1RegistryUrl,
      artifactRegistryDockerUrl: record.artifactRegistryDockerUrl,
      k0sReleasesUrl: record.k0sReleasesUrl,
      dnsResolver: record.dns.resolver,
      sshProxyUrl: record.sshProxyUrl,
      machineAccess: record.machineAccess,
      loadBalancers: record.loadBalancers,
      iapTunnelUrl: record.iapTunnelUrl,
      webhookUrl,
      releases: record.release,
      firestoreHost: emulatorHost('firestore'),
      pubsubHost: emulatorHost('pubsub'),
    }),
    settings,
  );
}

/** The contexts of all functions, each made on first use. They share one store. */
function createContexts(
  record: CloudRecord,
  { keys, wrapStore = (store) => store, onLog }: FunctionsHalfOptions,
  environmentAt: (name: FunctionName) => FunctionEnvironment,
) {
  const log = createLog({ write: onLog });
  const contexts = new Map<FunctionName, Context>();
  const memory = record.store === 'memory' ? createMemoryStore() : undefined;
  let shared: Store | undefined;
  const storeOf = (config: Config): Store => {
    shared ??= wrapStore(memory ?? createFirestoreStore(config));
    return shared;
  };
  return {
    contextOf(name: FunctionName): Context {
      const known = contexts.get(name);
      if (known !== undefined) return known;
      const config = readConfig(environmentAt(name));
      // Each function has its own clock, as each runs on its own machine.
      const clock = createClock(record.timeFactor);
      const context = createContext(config, { clock, log, keys, store: storeOf(config), service: name });
      contexts.set(name, context);
      return context;
    },
    async close(): Promise<void> {
      await Promise.all(
        [...contexts.values()].flatMap(({ publisher, remote, osLogin }) => [
          publisher.close(),
          remote.close(),
          osLogin.close(),
        ]),
      );
      await shared?.close();
    },
  };
}

export async function startFunctionsHalf(
  folder: StateFolder,
  record: CloudRecord,
  options: FunctionsHalfOptions,
): Promise<FunctionsHalf> {
  if (running) throw new Error('This process serves the functions already; a second stack needs a process of its own.');
  running = true;
  const { port, bundles, onLog } = options;
  const restore = pointClientsAt(record);
  let server: FunctionServer | undefined;
  let processes: FunctionProcesses | undefined;

  const environmentAt = (name: FunctionName, origin: string) => environmentIn(record, options, name, origin);
  const contexts = createContexts(record, options, (name) => {
    if (server === undefined) throw new Error('The functions are not served yet.');
    return environmentAt(name, server.origin);
  });
  const { contextOf } = contexts;
  const stop = async (): Promise<void> => {
    await server?.close();
    await contexts.close();
    restore();
    running = false;
  };

  try {
    const remembered = folder.readFunctions();
    const wanted = port === 0 && remembered !== undefined ? Number(new URL(remembered.origin).port) : port;
    const exactly = port !== 0;
    const admit = createFrontEnd(record.issuerUrl);
    if (bundles === undefined) {
      server = await startFunctionServer(contextOf, wanted, exactly, admit);
    } else {
      const machine = clientVariables(record);
      const parts = { bundles, environmentOf: environmentAt, machine, port: wanted, exactly, admit, onLog };
      server = processes = await startFunctionProcesses(parts);
    }
    folder.writeFunctions({ schema: 1, pid: process.pid, origin: server.origin });
    return {
      origin: server.origin,
      store: contextOf(functionNames.bootstraps).store,
      contextOf,
      underWay: server.underWay,
      ...(processes === undefined ? {} : { processes }),
      close: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
