/**
 * Google's cloud as a process sees it: plinth's own files for its services, over the simulated cloud's handlers, without
 * sockets. Each call waits for its turn, and may fail or kill the process, before or after its effect.
 */
import type { AuthClient } from 'google-auth-library';
import { type Cloud, createCloud } from '../../functions/cloud/index.js';
import type { NameServers } from '../../functions/cloud/name-servers.js';
import type { Send } from '../../functions/cloud/rest.js';
import type { Config } from '../../functions/config.js';
import type { DirectCloud } from '../../local/cloud/direct.js';
import type { ApiReply } from '../../local/cloud/kernel/kernel.js';
import { type Method, surfaceOf } from '../../local/cloud/kernel/surface.js';
import { answerOf } from '../../local/cloud/name-servers/authority.js';
import { resolve } from '../../local/cloud/name-servers/resolver.js';
import { type Disturb, inTurns } from './process-store.js';
import type { Process } from './scheduler.js';

/** Where functions find an API. */
export const endpointOf = (api: string): string => `https://${api}.simulated.example`;

interface Options {
  readonly config: Config;
  readonly direct: DirectCloud;
  readonly process: Process;
  readonly disturb: Disturb;
  readonly seconds: () => number;
  /** Until a write of a policy has its effect. */
  readonly policySeconds: () => number;
}

interface Asked {
  readonly host: string;
  readonly httpMethod: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: string;
}

type Ask = (asked: Asked) => Promise<ApiReply>;

/** As both fetch and Google's client have it in the end: a TypeError of fetch would be taken for a request that nobody can write. */
const brokenOff = (): Error => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });

const askerOf =
  ({ config, direct, process, disturb, seconds, policySeconds }: Options): Ask =>
  ({ host, ...asked }) =>
    inTurns(
      process,
      disturb(process, `${asked.httpMethod} ${host}`),
      () => direct.answer(host, { ...asked, authorization: `Bearer ${config.serviceAccount}` }),
      { seconds, before: asked.path.endsWith(':setIamPolicy') ? policySeconds : seconds, fault: brokenOff },
    );

const textIn = (reply: ApiReply): string => (reply.kind === 'json' ? JSON.stringify(reply.body) : '');

function statusOf(reply: ApiReply): number {
  if (reply.kind === 'drop') throw brokenOff();
  if (reply.kind === 'json') return reply.status;
  return reply.kind === 'empty' ? 204 : 404;
}

const senderOf =
  (ask: Ask): Send =>
  async (url, { method = 'GET', body }) => {
    const reply = await ask({
      host: url.hostname.split('.')[0] ?? '',
      httpMethod: method,
      path: url.pathname,
      query: url.searchParams,
      body: typeof body === 'string' ? body : '',
    });
    return { status: statusOf(reply), headers: new Headers(), text: async () => textIn(reply) } as Response;
  };

type Request = Readonly<Record<string, unknown>>;

/** Where Google's client keeps the body of a refusal. */
const refusalBody = Symbol.for('google-gax.rawHttpResponsePayload');

/** In the form of Google's client of Compute Engine. */
async function compute(ask: Ask, { path, httpMethod, parameters = {} }: Method, request: Request): Promise<Request> {
  const { base } = surfaceOf('compute.v1');
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(request[name])));
  const query = new URLSearchParams(
    Object.entries(request)
      .filter(([name, value]) => parameters[name]?.location === 'query' && value !== undefined)
      .map(([name, value]): [string, string] => [name, String(value)]),
  );
  const resource = Object.entries(request).find(([name]) => name.endsWith('Resource'))?.[1];
  const body = resource === undefined ? '' : JSON.stringify(resource);
  const reply = await ask({ host: 'compute', httpMethod, path: `${base}${filled}`, query, body });
  const status = statusOf(reply);
  if (status > 299) {
    const text = textIn(reply);
    throw Object.assign(new Error(text), { httpStatusCode: status, [refusalBody]: text });
  }
  return reply.kind === 'json' ? reply.body : {};
}

function computeClient(ask: Ask, name: string) {
  const methodOf = (verb: string): Method => {
    const method = surfaceOf('compute.v1').methods.get(`compute.${name}.${verb}`);
    if (method === undefined) throw new TypeError(`compute has no ${name}.${verb}`);
    return method;
  };
  const itemsOf = ({ items }: Request): readonly unknown[] => (Array.isArray(items) ? items : []);
  return new Proxy({} as Record<string, never>, {
    get(_, verb) {
      if (typeof verb !== 'string' || verb === 'then') return undefined;
      if (verb.endsWith('Async')) {
        return async function* (request: Request) {
          yield* itemsOf(await compute(ask, methodOf(verb.slice(0, -'Async'.length)), request));
        };
      }
      return async (request: Request) => {
        const method = methodOf(verb);
        const answer = await compute(ask, method, request);
        if (verb === 'list') return [itemsOf(answer)];
        return [method.httpMethod === 'GET' || verb === 'wait' ? answer : { latestResponse: answer }];
      };
    },
  });
}

const dotted = (name: string): string => `${name.toLowerCase().replace(/\.$/, '')}.`;

/** As a resolver would have told, at once. */
const nameServersOf = ({ world }: DirectCloud, process: Process): NameServers => ({
  async delegatedTo(domain) {
    await process.turn();
    const { answers } = resolve(world, { name: dotted(domain), type: 'NS' });
    return answers
      .filter(({ type }) => type === 'NS')
      .map(({ data }) => dotted(data))
      .sort();
  },
  async refer(domain, servers) {
    await process.turn();
    return servers.some((server) => {
      const reply = answerOf(world, dotted(server), { name: `plinth-seen.${dotted(domain)}`, type: 'A' });
      return reply.rcode === 'NOERROR' && reply.answers.length === 0;
    });
  },
});

/** Nobody looks at Cloud Scheduler's jobs here. */
const noJobs: Cloud['scheduler'] = {
  status: async () => undefined,
  pause: () => Promise.reject(new Error('no job is here')),
  resume: () => Promise.reject(new Error('no job is here')),
  run: () => Promise.reject(new Error('no job is here')),
};

export function cloudOf(options: Options): Cloud {
  const { config, direct, process } = options;
  const ask = askerOf(options);
  const nameServers = nameServersOf(direct, process);
  const swapped = (cloud: Cloud): Cloud => ({
    ...cloud,
    nameServers,
    scheduler: noJobs,
    reportingTo: (onCall, reason) => swapped(cloud.reportingTo(onCall, reason)),
  });
  return swapped(
    createCloud({
      config,
      clock: process.clock,
      credentials: { getRequestHeaders: async () => new Headers() } as unknown as AuthClient,
      send: senderOf(ask),
      computeClients: async (name) => computeClient(ask, name),
    }),
  );
}
