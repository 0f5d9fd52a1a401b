/**
 * The functions as deployed: each bundle in its own process, served by the functions framework with that function's
 * environment. All share one origin.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { request as ask, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FunctionName, functionNames } from '../../shared/names.js';
import { answers } from '../emulators/emulators.js';
import { listen, listenNear } from '../loopback.js';
import { placeOf } from './places.js';
import { type Admit, admitted, type FunctionServer } from './server.js';

export interface BundleOptions {
  /** The output folder of `npm run build:functions`. */
  readonly folder: string;
  /** Default: the Node that runs this process. */
  readonly node?: string | undefined;
}

interface ProcessParts {
  readonly bundles: BundleOptions;
  readonly environmentOf: (name: FunctionName, origin: string) => Readonly<Record<string, string | undefined>>;
  /** The environment variables that every function has on Google's machines. */
  readonly machine: Readonly<Record<string, string>>;
  readonly port: number;
  readonly exactly: boolean;
  readonly admit: Admit;
  readonly onLog: (line: string) => void;
}

interface Served {
  readonly child: ChildProcess;
  readonly port: number;
}

export interface FunctionProcesses extends FunctionServer {
  /** Process id of the function now. Undefined if no process serves it. */
  pidOf(name: FunctionName): Promise<number | undefined>;
  /**
   * Ends a process as Cloud Run ends an instance: what outlives SIGTERM by ten seconds is killed. Resolves once it is gone.
   * The next request starts the function again.
   */
  end(name: FunctionName, signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

/** Cloud Run kills an instance that has not ended by then. */
const patienceMilliseconds = 10_000;

const framework = createRequire(import.meta.url).resolve('@google-cloud/functions-framework');
const frameworkMain = framework.replace(/index\.js$/, 'main.js');

/** Starts one function in its own process. Resolves once it listens. */
async function start(
  { bundles, machine, environmentOf, onLog }: ProcessParts,
  name: FunctionName,
  origin: string,
): Promise<Served> {
  const free = await listen(() => undefined);
  const { port } = free;
  await free.close();
  const child = spawn(
    bundles.node ?? process.execPath,
    [frameworkMain, `--target=${name}`, `--source=${join(bundles.folder, name)}`, `--port=${port}`],
    {
      env: { PATH: process.env['PATH'], ...machine, ...environmentOf(name, origin) },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  alive.add(child);
  // A child that cannot be started rejects.
  const ended = once(child, 'exit')
    .finally(() => alive.delete(child))
    .then(([code]) => {
      throw new Error(`The function ${name} ended with ${code}.`);
    });
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      if (line.startsWith('{')) onLog(line);
    });
  }
  ended.catch(() => undefined);
  await Promise.race([listening(child, port), ended]);
  return { child, port };
}

/** A deployed function says nothing when it listens. */
async function listening(child: ChildProcess, port: number): Promise<void> {
  while (alive.has(child) && !(await answers(`127.0.0.1:${port}`))) await sleep(5);
}

/** They end with this process, if it ends in order. */
const alive = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});

/** Forwards a request to the process that serves it, and returns the reply. */
function passOn(request: IncomingMessage, response: ServerResponse, path: string, serving: Promise<Served>): void {
  const refuse = () => (response.headersSent ? response.destroy() : response.writeHead(503).end());
  serving.then(({ port }) => {
    const { method, headers } = request;
    // A new connection each time. The framework closes idle ones after five seconds, perhaps just as a client begins to use
    // one.
    const onward = ask({ host: '127.0.0.1', port, method, path, headers, agent: false }, (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers);
      pipeline(reply, response, () => undefined);
    });
    onward.on('error', refuse);
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  }, refuse);
}

export async function startFunctionProcesses(parts: ProcessParts): Promise<FunctionProcesses> {
  const running = new Map<FunctionName, Promise<Served>>();
  let working = 0;
  let closed = false;

  const serve = (name: FunctionName): Promise<Served> => {
    if (closed) return Promise.reject(new Error('The functions are closed.'));
    const known = running.get(name);
    if (known !== undefined) return known;
    const started = start(parts, name, server.url);
    running.set(name, started);
    const forget = () => {
      if (running.get(name) === started) running.delete(name);
    };
    started.then(({ child }) => child.once('exit', forget), forget);
    return started;
  };

  const listener: RequestListener = (request, response) => {
    const { name, url: path, works } = placeOf(request.url ?? '/');
    if (works) {
      working += 1;
      response.once('close', () => {
        working -= 1;
      });
    }
    void admitted(parts.admit, name, request, response, () => passOn(request, response, path, serve(name)));
  };

  const server = await (parts.exactly ? listen : listenNear)(listener, parts.port);
  server.server.requestTimeout = 0;
  const end = async (name: FunctionName, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    const served = await running.get(name)?.catch(() => undefined);
    if (served === undefined || served.child.exitCode !== null) return;
    // Cloud Run sends no more requests to an instance that it has told to end.
    running.delete(name);
    // Not `exit`: at that moment the last output may still be on its way.
    const gone = once(served.child, 'close');
    served.child.kill(signal);
    // Only of SIGTERM can a process make too little.
    const patience = setTimeout(() => {
      parts.onLog(JSON.stringify({ severity: 'ERROR', message: `${name} did not end in time and was killed` }));
      served.child.kill('SIGKILL');
    }, patienceMilliseconds);
    await gone;
    clearTimeout(patience);
  };
  return {
    origin: server.url,
    underWay: () => working,
    pidOf: async (name) => (await running.get(name)?.catch(() => undefined))?.child.pid,
    end,
    async close() {
      closed = true;
      await server.close();
      await Promise.all(Object.values(functionNames).map((name) => end(name, 'SIGKILL')));
    },
  };
}
