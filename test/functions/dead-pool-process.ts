/**
 * A process as of a function, for dead-pool.test.ts: it serves one request at a time, and asks one origin by way of plinth's
 * own REST calls. Its pool of connections sends nothing from the moment that `dead` is asked for.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThroughClient } from 'google-auth-library';
import { createRest } from '../../functions/cloud/rest.js';
import type { Config } from '../../functions/config.js';
import { realClock } from '../../functions/host/clock.js';
import { createConnectionWatch } from '../../functions/host/connection-watch.js';
import { createLog } from '../../functions/host/log.js';
import { onShutdown } from '../../functions/host/shutdown.js';

const [origin = '', youngSeconds = '', answerSeconds = '', callSeconds = ''] = process.argv.slice(2);
let callMs = Number(callSeconds) * 1000;

interface Dispatcher {
  dispatch(options: { readonly origin: string }, handler: unknown): boolean;
}
/** Where Node keeps the pool of `fetch`. */
const pool = Symbol.for('undici.globalDispatcher.1');

function killPool(): void {
  const holder = globalThis as unknown as Record<symbol, Dispatcher>;
  const alive = holder[pool];
  if (alive === undefined) throw new Error('fetch has made no pool yet');
  callMs = 100;
  const dead: Dispatcher = { dispatch: () => true };
  holder[pool] = new Proxy(alive, { get: (target, name) => Reflect.get(name === 'dispatch' ? dead : target, name) });
}

const log = createLog();
onShutdown(log);
const watch = createConnectionWatch({ log, youngSeconds: Number(youngSeconds), answerSeconds: Number(answerSeconds) });
const rest = createRest(
  {
    config: { endpoints: { dns: origin } } as unknown as Config,
    clock: realClock,
    credentials: new PassThroughClient(),
    onCall: undefined,
    connections: watch,
    // As a call that is given up, after less than a minute.
    send: (url, request) => fetch(url, { ...request, signal: AbortSignal.timeout(callMs) }),
  },
  'dns',
);

const server = createServer(async ({ url }, reply) => {
  if (url === '/dead') killPool();
  const answer = url === '/call' ? await rest('GET', '/', { doing: 'ask', as: 'text' }).catch(() => 'no answer') : '';
  reply.end(answer);
}).listen(0, '127.0.0.1', () => {
  process.stdout.write(`port ${(server.address() as AddressInfo).port}\n`);
});
