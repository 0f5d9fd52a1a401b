/** The simulated cloud alone, in a process of its own: how soon it answers, its memory, and requests a second. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Figure, type Measurement, median } from './figures.js';

/** What `npm run local` and each test wait for. */
const mostSeconds = 0.25;
const mostMebibytes = 75;
const rounds = 5;

/** Prints what the client needs, once the cloud answers. */
const program = `
const begun = performance.now();
const { createSimulatedCloud } = await import(process.argv[1]);
const cloud = await createSimulatedCloud({
  initial: {
    organizations: [{ name: 'organizations/100', displayName: 'example.com' }],
    billingAccounts: [{ name: 'billingAccounts/000000-000000-000000', displayName: 'Billing' }],
    projects: [{
      projectId: 'bench-project',
      parent: 'organizations/100',
      billingAccountName: 'billingAccounts/000000-000000-000000',
      services: ['compute', 'pubsub'].map((name) => name + '.googleapis.com'),
    }],
    bindings: [{ resource: 'organizations/100', role: 'roles/owner', members: ['user:owner@example.com'] }],
  },
});
const { compute, pubsub, cloudresourcemanager } = cloud.endpoints;
const token = cloud.identity.accessToken('owner@example.com');
const seconds = (performance.now() - begun) / 1000;
console.log(JSON.stringify({ seconds, compute, pubsub, cloudresourcemanager, token }));
`;

interface Served {
  readonly endpoints: Readonly<Record<'compute' | 'pubsub' | 'cloudresourcemanager', string>>;
  readonly token: string;
}
interface Started extends Served {
  readonly child: ChildProcess;
  readonly seconds: number;
}

async function start(): Promise<Started> {
  const cloud = fileURLToPath(new URL('../../local/cloud/index.js', import.meta.url));
  const args = ['--input-type=module', '-e', program, cloud];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout })) {
    const { seconds, token, ...endpoints } = JSON.parse(line) as Started & Served['endpoints'];
    return { child, seconds, endpoints, token };
  }
  throw new Error('The simulated cloud ended.');
}

const mebibytes = ({ child }: Started): number =>
  Number(execFileSync('ps', ['-o', 'rss=', '-p', String(child.pid)], { encoding: 'utf8' })) / 1024;

type Ask = (n: number) => readonly [api: keyof Served['endpoints'], line: string, body?: object];

const topics = '/v1/projects/bench-project/topics';
const project = '/v3/projects/bench-project';
const lists = 1000;
/** In this order: the list is of what was inserted. */
const asked: readonly (readonly [name: string, times: number, ask: Ask, atLeast?: number])[] = [
  ['insert', lists, (n) => ['pubsub', `PUT ${topics}/topic-${n}`, {}], 1000],
  ['get', 1000, () => ['compute', 'GET /compute/v1/projects/bench-project/regions/europe-west4']],
  ['list of 1,000', 200, () => ['pubsub', `GET ${topics}?pageSize=${lists}`]],
  [
    'setIamPolicy',
    300,
    (n) => [
      'cloudresourcemanager',
      `POST ${project}:setIamPolicy`,
      {
        policy: {
          bindings: [
            { role: 'roles/owner', members: ['user:owner@example.com'] },
            { role: 'roles/viewer', members: [`user:viewer-${n}@example.com`] },
          ],
        },
      },
    ],
  ],
];

async function send({ endpoints, token }: Served, [api, line, body]: ReturnType<Ask>): Promise<void> {
  const [method = 'GET', path = ''] = line.split(' ');
  const reply = await fetch(endpoints[api] + path, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${line}: ${reply.status} ${text.slice(0, 300)}`);
}

/** The median of ten blocks. */
async function perSecond(cloud: Served, times: number, ask: Ask): Promise<number> {
  const spent: number[] = [];
  const size = times / 10;
  for (let from = 0; from < times; from += size) {
    const begun = performance.now();
    for (let n = from; n < from + size; n += 1) await send(cloud, ask(n));
    spent.push((performance.now() - begun) / 1000 / size);
  }
  return 1 / median(spent);
}

/** A server of Node that reads a body and answers with JSON: what no simulation could beat. */
async function plainServer(): Promise<{ readonly served: Served; close(): void }> {
  const server = createServer((request, response) => {
    request.resume().once('end', () => response.setHeader('content-type', 'application/json').end('{}'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const endpoints = { compute: url, pubsub: url, cloudresourcemanager: url };
  return { served: { endpoints, token: 'none' }, close: () => server.close() };
}

export const simulatedCloud: Measurement = {
  name: 'simulated-cloud',
  title: 'The simulated cloud: its start, its memory, and requests a second',
  mostSeconds: 120,
  async *measure() {
    const starts: number[] = [];
    let cloud = await start();
    const plain = await plainServer();
    try {
      for (let round = 1; round < rounds; round += 1) {
        starts.push(cloud.seconds);
        cloud.child.kill();
        cloud = await start();
      }
      starts.push(cloud.seconds);
      const beside = (name: string, value: number, unit: string, most: number): Figure => ({
        name,
        value,
        unit,
        baseline: { name: 'what it may be', value: most, unit },
        aim: 1,
      });
      yield beside('until it answers', median(starts), 's', mostSeconds);
      yield beside('memory once it answers', mebibytes(cloud), 'MiB', mostMebibytes);
      for (const [name, times, ask, atLeast] of asked) {
        const baseline = { name: 'a plain server', value: await perSecond(plain.served, times, ask), unit: 'a second' };
        const value = await perSecond(cloud, times, ask);
        yield { name: `${name}, one at a time`, value, unit: 'a second', baseline };
        if (atLeast === undefined) continue;
        const aim = { name: 'what it must be', value: atLeast, unit: 'a second' };
        yield { name: `${name}, one at a time, again`, value, unit: 'a second', baseline: aim, atLeast: 1 };
      }
    } finally {
      plain.close();
      cloud.child.kill();
    }
  },
};
