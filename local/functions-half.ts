/**
 * The half of a local stack that is plinth itself: every function, each with its own identity and settings. It may be killed
 * and started again in the same folder. Started by the stack.
 */
import { type Config, readConfig } from '../functions/config.js';
import { type Context, createContext } from '../functions/context.js';
import type { KeyMaker } from '../functions/keys.js';
import { createLog } from '../functions/log.js';
import { createFirestoreStore } from '../functions/store/firestore.js';
import type { Store } from '../functions/store/store.js';
import { type FunctionName, functionNames } from '../shared/names.js';
import { createClock } from './clock.js';
import { environmentOf, local } from './deployment.js';
import { type FunctionServer, startFunctionServer } from './function-server.js';
import { createMemoryStore } from './memory-store.js';
import type { CloudRecord, StateFolder } from './state-folder.js';

export interface FunctionsHalfOptions {
  /** 0: any that is free, if it can be the one that the folder remembers. */
  readonly port: number;
  readonly keys: KeyMaker;
  /** What the functions are given for the store. */
  readonly wrapStore?: ((store: Store) => Store) | undefined;
  /** Gets each line of the functions' logs. */
  readonly onLog: (line: string) => void;
}

export interface FunctionsHalf {
  readonly origin: string;
  /** The store that all functions share. */
  readonly store: Store;
  contextOf(name: FunctionName): Context;
  underWay(): number;
  close(): Promise<void>;
}

/** What Google's client libraries read; on Google's machines it is all found without. */
function pointClientsAt({ metadataHost }: CloudRecord): () => void {
  const wanted = {
    GCE_METADATA_HOST: metadataHost,
    METADATA_SERVER_DETECTION: 'assume-present',
    GOOGLE_CLOUD_PROJECT: local.project,
    // As on Cloud Run. Elsewhere the metadata server has three seconds to answer, which a busy machine may need.
    K_SERVICE: 'plinth-local',
  };
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

export async function startFunctionsHalf(
  folder: StateFolder,
  record: CloudRecord,
  { port, keys, wrapStore = (store) => store, onLog }: FunctionsHalfOptions,
): Promise<FunctionsHalf> {
  if (running) throw new Error('This process serves the functions already; a second stack needs a process of its own.');
  running = true;
  const restore = pointClientsAt(record);
  const emulatorHost = (name: string) => record.emulators.find((each) => each.name === name)?.host;
  const clock = createClock(record.timeFactor);
  const log = createLog({ write: onLog });
  const contexts = new Map<FunctionName, Context>();
  const memory = record.store === 'memory' ? createMemoryStore() : undefined;
  let shared: Store | undefined;
  let server: FunctionServer | undefined;

  const storeOf = (config: Config): Store => {
    shared ??= wrapStore(memory ?? createFirestoreStore(config));
    return shared;
  };
  const originNow = (): string => {
    if (server === undefined) throw new Error('The functions are not served yet.');
    return server.origin;
  };
  const contextOf = (name: FunctionName): Context => {
    const known = contexts.get(name);
    if (known !== undefined) return known;
    const config = readConfig(
      environmentOf(name, {
        origin: originNow(),
        endpoints: record.endpoints,
        issuerUrl: record.issuerUrl,
        forge1Url: record.forge1Url,
        firestoreHost: emulatorHost('firestore'),
        pubsubHost: emulatorHost('pubsub'),
      }),
    );
    const context = createContext(config, { clock, log, keys, store: storeOf(config) });
    contexts.set(name, context);
    return context;
  };

  const stop = async (): Promise<void> => {
    await server?.close();
    await Promise.all([...contexts.values()].map(({ publisher }) => publisher.close()));
    await shared?.close();
    restore();
    running = false;
  };

  try {
    const remembered = folder.readFunctions();
    const wanted = port === 0 && remembered !== undefined ? Number(new URL(remembered.origin).port) : port;
    server = await startFunctionServer(contextOf, wanted, port !== 0);
    folder.writeFunctions({ schema: 1, pid: process.pid, origin: server.origin });
    return {
      origin: server.origin,
      store: contextOf(functionNames.bootstraps).store,
      contextOf,
      underWay: server.underWay,
      close: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
