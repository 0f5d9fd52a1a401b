/** The world that a function runs in, built in one place, with overrides for tests and `local/`. */
import { type AskCheck, createCheckClient } from './check-client.js';
import { type Cloud, createCloud } from './cloud/index.js';
import type { Config } from './config.js';
import { createTokenSource } from './host/access-token.js';
import { type Clock, realClock } from './host/clock.js';
import type { ConnectionWatch } from './host/connection-watch.js';
import { createKeyMaker, type KeyMaker } from './host/keys.js';
import { createLog, type Log } from './host/log.js';
import { createOsLoginIdentity, type OsLogin } from './host/os-login.js';
import { type Random, realRandom } from './host/random.js';
import { createPublisher, type Publisher } from './publisher.js';
import { createRemote, type Remote, type RemoteSettings } from './remote/remote.js';
import { createFirestoreStore } from './store/firestore.js';
import { withRetries } from './store/retry.js';
import type { Store } from './store/store.js';
import { exporterOf } from './tracing/exporter.js';
import { createTracing, type Tracing } from './tracing/tracing.js';

export type { Clock };

export interface Context {
  readonly config: Config;
  readonly log: Log;
  readonly clock: Clock;
  readonly random: Random;
  readonly store: Store;
  readonly publisher: Publisher;
  readonly cloud: Cloud;
  /** Asks the function `check`. Absent: what it would answer is unknown. */
  readonly askCheck?: AskCheck;
  readonly keys: KeyMaker;
  readonly remote: Remote;
  /** How this process logs in where machines use OS Login. */
  readonly osLogin: OsLogin;
  readonly tracing: Tracing;
  /** Aborted when the process is shutting down. Absent: it ends when all work is done. */
  readonly shutdown?: AbortSignal;
}

/** What steps may use of it. They get no store and no publisher. */
export type StepContext = Pick<
  Context,
  'config' | 'log' | 'clock' | 'random' | 'cloud' | 'keys' | 'remote' | 'osLogin'
>;

const iapOf = (config: Config): RemoteSettings['iap'] => {
  const token = createTokenSource(config);
  return { url: config.iapTunnelUrl, token };
};

const checkClientOf = ({ checkUrl: url, serviceAccount }: Config, connections?: ConnectionWatch) =>
  url === undefined ? undefined : createCheckClient({ url, serviceAccount }, connections);

/** Google's clients are loaded on first use, so an HTTP function never loads what only a lane needs. */
export function createContext(
  config: Config,
  /** `service`: the function's name, for its traces. */
  overrides: Partial<Omit<Context, 'config'>> & {
    readonly service?: string;
    readonly connections?: ConnectionWatch;
  } = {},
): Context {
  const log = overrides.log ?? createLog();
  const clock = overrides.clock ?? realClock;
  const random = overrides.random ?? realRandom;
  const cloud = overrides.cloud ?? createCloud({ config, clock, connections: overrides.connections });
  const keys = overrides.keys ?? createKeyMaker();
  const askCheck = overrides.askCheck ?? checkClientOf(config, overrides.connections);
  return {
    config,
    ...(overrides.shutdown === undefined ? {} : { shutdown: overrides.shutdown }),
    log,
    clock,
    random,
    store: withRetries(overrides.store ?? createFirestoreStore(config), { clock, random }),
    publisher: overrides.publisher ?? createPublisher(config, overrides.connections),
    cloud,
    ...(askCheck === undefined ? {} : { askCheck }),
    keys,
    remote: overrides.remote ?? createRemote({ sshProxy: config.sshProxy, iap: iapOf(config) }),
    osLogin: overrides.osLogin ?? createOsLoginIdentity({ config, cloud, keys, clock }),
    tracing: overrides.tracing ?? createTracing(exporterOf(config, overrides.service ?? 'plinth', log)),
  };
}
