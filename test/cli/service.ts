/** A small bootstraps service that speaks the API of shared/bootstrap/routes.ts and does what a test says. For tests of the command line. */

import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import type { BootstrapState, BootstrapView, InstanceState } from '../../shared/bootstrap/bootstrap.js';
import type { BootstrapEvent } from '../../shared/bootstrap/event.js';
import type { Forecast } from '../../shared/bootstrap/forecast.js';
import { sealed } from '../../shared/bootstrap/plan.js';
import { BootstrapRequest } from '../../shared/bootstrap/request.js';
import { encryptSecrets, fieldSecret } from '../../shared/install-config/secrets.js';
import { Problem, type ProblemCode, type ProblemExtras, problemBody } from '../../shared/problems.js';

const at = '2026-01-31T12:00:00.000Z';

/** One that succeeded, with two instances. */
export function makeView(changes: Partial<BootstrapView> = {}): BootstrapView {
  const instance = (id: string, title: string, state: InstanceState = 'done') => ({
    id,
    step: id,
    title,
    state,
    attempt: 0,
  });
  return {
    schema: 1,
    id: 'b-one',
    name: 'demo',
    projectId: 'demo-ab12cd34',
    owner: 'alice@example.com',
    state: 'succeeded',
    generation: 1,
    region: 'europe-west4',
    zone: 'europe-west4-a',
    options: {},
    createdAt: at,
    deadlineAt: new Date(Date.now() + 2 * 3600_000).toISOString(),
    sharedWith: [],
    cost: {
      currency: 'USD',
      pricesAsOf: '2026-01-01',
      perHour: 1.2345,
      soFar: 0.5,
      untilExpiry: 2.47,
      savedBySpot: 0.25,
      savedBySpotUntilExpiry: 1.5,
      unknown: [],
    },
    warnings: [],
    instances: [instance('project', 'Cloud project'), instance('vm:jumpbox', 'VM jumpbox')],
    result: {
      vms: [
        {
          name: 'jumpbox',
          zone: 'europe-west4-a',
          machineType: 'e2-medium',
          internalIp: '10.10.0.2',
          externalIp: '203.0.113.7',
          provisioning: 'spot',
        },
        {
          name: 'k0s-1',
          zone: 'europe-west4-a',
          machineType: 'e2-standard-8',
          internalIp: '10.10.0.3',
          provisioning: 'fallback',
        },
      ],
      addresses: [{ name: 'gateway', address: '203.0.113.8' }],
      dns: {
        project: 'demo-ab12cd34',
        zone: 'tool-testing',
        nameServers: ['ns-1.example.net.'],
        records: [{ name: 'cs.demo.example.com', address: '203.0.113.8' }],
      },
      datacenters: [{ key: 'dc1', id: 1, name: 'dev', ready: true }],
    },
    ...changes,
  };
}

/** When it is told: the run has just begun, however long the tests before it took. */
const told = { enumerable: true, get: () => new Date().toISOString() } as const;
const toldNow = <E extends Omit<BootstrapEvent, 'at'>>(event: E): E & { readonly at: string } =>
  Object.defineProperty(event, 'at', told) as E & { readonly at: string };

export const stateEvent = (state: BootstrapState, generation = 1): BootstrapEvent =>
  toldNow({ schema: 1, type: 'state', state, generation });
export const endedEvent = (instance: string, seconds: number, note?: string): BootstrapEvent =>
  toldNow({ schema: 1, type: 'instance', instance, state: 'done', seconds, ...(note !== undefined && { note }) });
export const progressEvent = (instance: string, note: string, retry?: string): BootstrapEvent =>
  toldNow({
    schema: 1,
    type: 'progress',
    instance,
    note,
    attempt: retry === undefined ? 0 : 1,
    ...(retry !== undefined && { retry }),
  });

export const shortRun: readonly BootstrapEvent[] = [
  stateEvent('running'),
  progressEvent('project', 'waits for the operation'),
  endedEvent('project', 3.2, 'demo-ab12cd34'),
  endedEvent('vm:jumpbox', 41, '10.10.0.2'),
  stateEvent('succeeded'),
];

export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
}

type Answer = (response: ServerResponse, seen: Seen) => void | Promise<void>;

export interface Service {
  readonly url: string;
  readonly seen: Seen[];
  /** What stands; undefined: nothing yet. */
  view: BootstrapView;
  standing: boolean;
  events: readonly BootstrapEvent[];
  /** `hold`: the stream stays open after its events. */
  stream: 'ended' | 'hold';
  /** What the stream tells after the events. */
  foreseen?: Forecast;
  /** Instead of the usual answer, by `METHOD /path`; each once, in order. */
  readonly instead: Map<string, Answer[]>;
  readonly files: { config: string; secrets: string; identity: string };
  request(): BootstrapRequest;
  close(): Promise<void>;
}

export const json = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

export const refuse =
  (code: ProblemCode, detail: string, extras: ProblemExtras = {}): Answer =>
  (response) => {
    const problem = new Problem(code, detail, extras);
    response
      .writeHead(problem.kind.status, { 'content-type': 'application/problem+json' })
      .end(JSON.stringify(problemBody(problem, 'trace-1')));
  };

export const sse = (event: { readonly type: string }, id?: number): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

/** What a dry run answers. */
export const planReply = (cost = makeView().cost) => ({
  instances: [
    { id: 'project', title: 'Cloud project', lane: 'cloud', needs: [], makes: ['project demo-????????'] },
    { id: 'network', title: 'Network', lane: 'cloud', needs: ['project'], makes: ['VPC', 'subnet'] },
  ],
  warnings: [],
  changes: [{ option: '--project-ttl', from: '2h', to: '3h' }],
  plan: sealed({
    schema: 1,
    kind: 'bootstrap',
    name: 'demo',
    bootstrap: 'b-one',
    values: { '--region': 'europe-west4' },
    secrets: [{ name: '--forge1-app-client-secret', action: 'make' }],
    items: [
      { id: 'project', title: 'Cloud project', action: 'keep', what: ['project demo-????????'] },
      { id: 'network', title: 'Network', action: 'make', what: ['VPC', 'subnet'] },
    ],
  }),
  cost,
});

export const removalPlan = sealed({
  schema: 1,
  kind: 'removal',
  name: 'demo',
  bootstrap: 'b-one',
  values: { owner: 'alice@example.com' },
  secrets: [],
  items: [
    {
      id: 'records',
      title: 'DNS records',
      action: 'remove',
      what: ['A record cs.demo.example.com. in the zone z of p'],
    },
    { id: 'project', title: 'Project', action: 'remove', what: ['project demo-ab12cd34', 'billing link'] },
  ],
});

/** Made once: a pair of keys and an encryption for each test would cost more than most of the tests. */
let firstFiles: Promise<Service['files']> | undefined;
const makeFirstFiles = async (): Promise<Service['files']> => {
  const identity = await generateX25519Identity();
  return { config: configOf('b-one', 'demo-ab12cd34'), secrets: await secretsFor(identity, 'first'), identity };
};

export async function createService(): Promise<Service> {
  firstFiles ??= makeFirstFiles();
  const service: Service = {
    url: '',
    seen: [],
    view: makeView(),
    standing: false,
    events: shortRun,
    stream: 'ended',
    instead: new Map(),
    files: { ...(await firstFiles) },
    request: () =>
      BootstrapRequest.parse(
        service.seen.find(
          ({ method, path }) => method === 'POST' && path.startsWith('/bootstraps') && !path.includes('/b-'),
        )?.body,
      ),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  const routes: Record<string, Answer> = {
    'GET /bootstraps': (response) => json(response, 200, service.standing ? [service.view] : []),
    'POST /bootstraps': (response) => {
      const created = !service.standing;
      service.standing = true;
      json(response, created ? 201 : 200, {
        bootstrap: { ...service.view, state: 'running' },
        created,
        changes: [],
        warnings: [],
      });
    },
    'GET /costs': (response, { path }) =>
      json(response, 200, {
        by: path.includes('by=project') ? 'project' : 'month',
        currency: 'USD',
        pricesAsOf: '2026-01-01',
        rows: [
          { key: '2026-10', name: '=1+1, "x"', owner: 'alice@example.com', bootstraps: 2, amount: '12.50' },
          { key: '2026-11', name: 'demo', owner: 'alice@example.com', bootstraps: 1, amount: '0.254321' },
        ],
        total: '12.754321',
        unknown: ['machine type n2-huge'],
        notes: [],
      }),
    'GET /bootstraps/b-one/removal': (response) => json(response, 200, removalPlan),
    'GET /bootstraps/b-one': (response) => json(response, 200, service.view),
    'POST /bootstraps/b-one/cancel': (response) => json(response, 200, { ...service.view, state: 'cancelling' }),
    'GET /bootstraps/b-one/config': (response) =>
      void response.writeHead(200, { 'content-type': 'text/yaml' }).end(service.files.config),
    'GET /bootstraps/b-one/secrets': (response) =>
      void response.writeHead(200, { 'content-type': 'text/yaml' }).end(service.files.secrets),
    'POST /bootstraps/b-one/age-identity': (response) => json(response, 200, { identity: service.files.identity }),
    'GET /bootstraps/b-one/events': (response, { headers }) => {
      const from = Number(headers['last-event-id'] ?? 0);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('retry: 1000\n\n');
      for (const [i, event] of service.events.entries()) {
        if (event.type === 'progress' || event.type === 'call') response.write(sse(event));
        else if (i + 1 > from) response.write(sse(event, i + 1));
      }
      if (service.foreseen !== undefined)
        response.write(sse({ schema: 1, type: 'forecast', ...service.foreseen } as { type: string }));
      if (service.stream === 'hold') return;
      response.end(sse({ schema: 1, type: 'end', reason: 'ended', state: service.view.state } as { type: string }));
    },
  };

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const seen: Seen = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body: text === '' ? undefined : JSON.parse(text),
      };
      service.seen.push(seen);
      const name = `${seen.method} ${seen.path.replace(/\?.*/, '')}`;
      const answer = service.instead.get(name)?.shift() ?? routes[name];
      if (answer === undefined) void refuse('not-found', 'Nothing is served at this path.')(response, seen);
      else void answer(response, seen);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(service, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}

export const configOf = (id: string, projectId: string): string =>
  `version: 1\ndataCenter:\n  id: 1\n  name: dev\nbootstrap:\n  id: ${id}\n  projectId: ${projectId}\n`;

export const secretsFor = async (identity: string, password: string): Promise<string> =>
  encryptSecrets(
    { version: 1, secrets: [fieldSecret('postgresPassword', password)] },
    await identityToRecipient(identity),
    {
      random: (bytes) => randomBytes(bytes),
      now: new Date(),
    },
  );
