/**
 * The function `bootstraps` on real HTTP with a few steps of the test's own: they run at once, in this process, and stand
 * where the test stops them. Every reply is held against the route table.
 */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { http } from '@google-cloud/functions-framework';
import { getTestServer } from '@google-cloud/functions-framework/testing';
import { expect } from 'chai';
import * as z from 'zod';
import type { Cloud } from '../../functions/cloud/index.js';
import { readConfig } from '../../functions/config.js';
import { type Context, createContext } from '../../functions/context.js';
import { runMessage } from '../../functions/engine/run/run.js';
import { type AnyStep, again, defineStep, done } from '../../functions/engine/step.js';
import { createLog } from '../../functions/host/log.js';
import { createBootstrapsFunction } from '../../functions/http/bootstraps/bootstraps.js';
import { type StreamTimes, streamTimes } from '../../functions/http/bootstraps/event-stream.js';
import { takeFrameworkServers } from '../../functions/http/framework-server.js';
import { answer } from '../../functions/preflight/answer.js';
import { CheckRequest } from '../../functions/preflight/wire.js';
import { ageIdentity } from '../../functions/steps/config/age-identity.js';
import { datacenters } from '../../functions/steps/topology.js';
import type { Store } from '../../functions/store/store.js';
import { createClock } from '../../local/functions/clock.js';
import { createMemoryStore } from '../../local/functions/memory-store.js';
import { problemRoutes, type Route } from '../../shared/api.js';
import type { GivenOptions } from '../../shared/bootstrap/options.js';
import type { BootstrapRequest } from '../../shared/bootstrap/request.js';
import { bootstrapRoutes } from '../../shared/bootstrap/routes.js';
import type { ProblemBody } from '../../shared/problems.js';
import type { Issuer } from './issuer.js';

const routes: readonly Route[] = Object.values({ ...bootstrapRoutes, ...problemRoutes });

/** What the test does to the steps while they run. */
export interface World {
  /** While true, the project is not made. */
  closed: boolean;
  /** What making the project throws. */
  fault: Error | undefined;
  note: string;
}

function makeSteps(world: World): readonly AnyStep[] {
  const project = defineStep({
    name: 'project',
    title: 'Project',
    lane: 'cloud',
    needs: {},
    describe: ({ projectName }) => [`project ${projectName}`],
    output: z.object({ projectId: z.string(), projectNumber: z.string() }),
    async observe({ bootstrap, files }) {
      const made = await files.read('made');
      return made === undefined ? undefined : { projectId: bootstrap.projectId, projectNumber: '123' };
    },
    async run({ files, secrets }) {
      await secrets.caller();
      if (world.closed) return again(2, world.note);
      if (world.fault !== undefined) throw world.fault;
      await files.write('made', 'yes');
      return done;
    },
    goes: 'project',
  });
  const config = defineStep({
    name: 'config',
    title: 'Install config',
    lane: 'cloud',
    needs: { project, ageIdentity },
    each: datacenters,
    describe: (_, key) => [`config of ${key}`],
    output: z.object({ file: z.string(), secretsFile: z.string() }),
    async observe({ key, files }) {
      const [file, secretsFile] = [`config-${key}`, `secrets-${key}`];
      return (await files.read(file)) === undefined ? undefined : { file, secretsFile };
    },
    async run({ key, files }) {
      await files.write(`secrets-${key}`, `sops: of ${key}\n`);
      await files.write(`config-${key}`, `datacenter: ${key}\n`);
      return done;
    },
    goes: 'nothing',
  });
  return [project, ageIdentity, config] as unknown as readonly AnyStep[];
}

/** Secret Manager in a map; all else of the cloud is not called. */
function makeCloud(): { cloud: Cloud; secrets: Map<string, string[]> } {
  const secrets = new Map<string, string[]>();
  const cloud: unknown = {
    secretManager: {
      find: async (id: string) => (secrets.has(id) ? '1' : undefined),
      write: async (id: string, payload: string) => {
        const versions = [...(secrets.get(id) ?? []), payload];
        secrets.set(id, versions);
        return String(versions.length);
      },
      read: async (id: string, version: string) => secrets.get(id)?.[Number(version) - 1],
      remove: async (id: string) => void secrets.delete(id),
      versions: async (id: string) => (secrets.get(id) ?? []).map((_, index) => String(index + 1)),
      destroy: async (id: string, version: string) => void secrets.get(id)?.splice(Number(version) - 1, 1, ''),
    },
    billing: { account: async () => ({ open: true }), linked: async () => 1, mayLink: async () => true },
    places: {
      zonesOf: async (_: string, region: string) => ['a', 'b', 'c'].map((zone) => `${region}-${zone}`),
      hasMachineType: async () => true,
    },
    projects: { mayCreateIn: async () => true, held: async (_: string, wanted: readonly string[]) => wanted },
    orgPolicy: { effective: async () => ({}) },
    dns: { zone: async () => undefined },
    reportingTo: () => cloud,
  };
  return { cloud: cloud as Cloud, secrets };
}

/** Of the shape of the product's defaults: operators only, nothing allowed. */
const environment = (issuer: Issuer, more: Readonly<Record<string, string>>): Record<string, string> => ({
  PLINTH_PROJECT: 'plinth-test',
  PLINTH_DEPLOYMENT: 'test',
  PLINTH_MACHINE_ACCESS: 'direct',
  PLINTH_SSH_SOURCE_RANGES: '127.0.0.0/8',
  PLINTH_ISSUER: issuer.url,
  PLINTH_ENDPOINTS: `issuer-keys=${issuer.jwksUrl}`,
  PLINTH_AUDIENCES: issuer.audience,
  PLINTH_OPERATORS: 'ops@example.com',
  PLINTH_BOOTSTRAPPERS: 'bob@example.com,example.com',
  PLINTH_BILLING_ACCOUNTS: '*',
  PLINTH_PARENTS: 'folders/100',
  PLINTH_LIVING_PER_OWNER: '50',
  PLINTH_LIVING_IN_ALL: '100',
  PLINTH_CHANGES_PER_MINUTE: '0',
  ...more,
});

export interface Asked {
  /** E-mail; its ending is its domain too. `null`: no token. */
  readonly as?: string | null;
  /** Of another account with that e-mail. */
  readonly subject?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export interface BootstrapsServer {
  readonly origin: string;
  readonly world: World;
  readonly context: Context;
  readonly secrets: Map<string, string[]>;
  /** Log lines, and whatever was published. */
  readonly logged: string[];
  /** How many documents are watched now. */
  watched(): number;
  fetch(method: string, path: string, asked?: Asked): Promise<Response>;
  /** The body of a reply of this status, checked against the route table. */
  json<T = Record<string, unknown>>(status: number, method: string, path: string, asked?: Asked): Promise<T>;
  problem(status: number, method: string, path: string, asked?: Asked): Promise<ProblemBody>;
  /** Resolves when nothing runs any more. */
  settle(): Promise<void>;
  close(): void;
}

export const sshPublicKey = `ssh-ed25519 ${Buffer.alloc(51, 1).toString('base64')} alice`;

export const makeRequest = (
  projectName: string,
  options: GivenOptions = {},
  more: Partial<BootstrapRequest> = {},
): BootstrapRequest => ({
  options: {
    projectName,
    billingAccount: '012345-6789AB-CDEF01',
    baseDomain: 'example.com',
    forge1AppClientId: 'client-1',
    forge1AppClientSecret: 'planted-client-secret',
    ...options,
  },
  sshPublicKey,
  ...more,
});

let servers = 0;

export async function createBootstrapsServer(
  issuer: Issuer,
  {
    env = {},
    times = {},
    memory = createMemoryStore(),
  }: {
    env?: Readonly<Record<string, string>>;
    times?: Partial<StreamTimes>;
    /** Of another process, for several that share one. */
    memory?: Store;
  } = {},
): Promise<BootstrapsServer> {
  const world: World = { closed: false, fault: undefined, note: 'waits for the operation' };
  const steps = makeSteps(world);
  const { cloud, secrets } = makeCloud();
  const logged: string[] = [];
  const running = new Set<Promise<unknown>>();
  let watched = 0;
  const context = createContext(readConfig(environment(issuer, env)), {
    cloud,
    clock: createClock(0.005),
    log: createLog({ write: (line) => logged.push(line) }),
    store: {
      ...memory,
      watch(collection, id, onChange, onError) {
        const unwatch = memory.watch(collection, id, onChange, onError);
        watched += 1;
        return () => {
          watched -= 1;
          unwatch();
        };
      },
    },
    askCheck: (body) => answer(context, CheckRequest.parse(body)),
    publisher: {
      async publish(_, messages) {
        for (const message of messages) {
          logged.push(JSON.stringify(message));
          const work = runMessage(context, steps, message, { deadlineAt: new Date(Date.now() + 60_000) });
          const run: Promise<unknown> = work
            .catch((error: unknown) => logged.push(String(error)))
            .finally(() => running.delete(run));
          running.add(run);
        }
      },
      close: async () => undefined,
    },
  });

  takeFrameworkServers();
  servers += 1;
  const name = `bootstraps-under-test-${servers}`;
  http(name, createBootstrapsFunction(context, steps, { ...streamTimes, progressSeconds: 0.02, ...times }));
  const server: Server = getTestServer(name);
  // Nothing that is just on its way is lost with an idle connection.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const tokens = new Map<string, Promise<string>>();
  const tokenOf = (email: string, subject?: string): Promise<string> => {
    const account = `${email} ${subject}`;
    const claims = { hd: email.split('@')[1], ...(subject !== undefined && { sub: subject }) };
    const token = tokens.get(account) ?? issuer.token(email, { claims });
    tokens.set(account, token);
    return token;
  };
  const request: BootstrapsServer['fetch'] = async (
    method,
    path,
    { as = 'alice@example.com', subject, body, headers, signal } = {},
  ) =>
    fetch(origin + path, {
      method,
      headers: {
        ...(as === null ? {} : { authorization: `Bearer ${await tokenOf(as, subject)}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    });

  /** The route that a path is served by. */
  const routeOf = (method: string, path: string): Route => {
    const pathname = path.split('?')[0] as string;
    const found = routes.find(
      (route) =>
        route.method === method && new RegExp(`^${route.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(pathname),
    );
    if (found === undefined) throw new Error(`no route for ${method} ${path}`);
    return found;
  };

  return {
    origin,
    world,
    context,
    secrets,
    logged,
    watched: () => watched,
    fetch: request,
    async json<T>(status: number, method: string, path: string, asked?: Asked): Promise<T> {
      const reply = await request(method, path, asked);
      const text = await reply.text();
      expect(reply.status, text).to.equal(status);
      const described = routeOf(method, path).replies[status];
      expect(reply.headers.get('content-type')).to.contain(described?.type);
      return described?.schema.parse(JSON.parse(text)) as T;
    },
    async problem(status, method, path, asked) {
      const reply = await request(method, path, asked);
      const text = await reply.text();
      expect(reply.status, text).to.equal(status);
      expect(reply.headers.get('content-type')).to.equal('application/problem+json');
      return JSON.parse(text) as ProblemBody;
    },
    async settle() {
      while (running.size > 0) await Promise.all(running);
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
