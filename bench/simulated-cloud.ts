/**
 * The simulated cloud alone, in a process of its own: how soon it answers, its memory, and requests a second. The baseline is
 * the release that PLINTH_BENCH_BEFORE names by its commit. It is checked out and built beside this one.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { earlierRelease } from './earlier-release.js';
import { type Figure, type Measurement, median } from './figures.js';

/** Prints what the client needs, once the cloud answers. Written for any release of the simulated cloud. */
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
  readonly child: ChildProcess;
  readonly seconds: number;
  readonly endpoints: Readonly<Record<'compute' | 'pubsub' | 'cloudresourcemanager', string>>;
  readonly token: string;
}

async function serve(checkout: string): Promise<Served> {
  const child = spawn(
    process.execPath,
    ['--input-type=module', '-e', program, join(checkout, 'dist/local/cloud/index.js')],
    { cwd: checkout, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  for await (const line of createInterface({ input: child.stdout })) {
    const { seconds, token, ...endpoints } = JSON.parse(line) as Served & Served['endpoints'];
    return { child, seconds, endpoints, token };
  }
  throw new Error(`the simulated cloud of ${checkout} ended`);
}

const mebibytes = ({ child }: Served): number =>
  Number(execFileSync('ps', ['-o', 'rss=', '-p', String(child.pid)], { encoding: 'utf8' })) / 1024;

type Ask = (n: number) => readonly [api: keyof Served['endpoints'], line: string, body?: object];

const topics = '/v1/projects/bench-project/topics';
const project = '/v3/projects/bench-project';
const lists = 1000;
/** In this order: the list is of what was inserted. */
const asked: readonly (readonly [name: string, times: number, ask: Ask])[] = [
  ['insert', lists, (n) => ['pubsub', `PUT ${topics}/topic-${n}`, {}]],
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

/** Seconds of each block, by turns, so that both meet the same machine. */
async function blocks(clouds: readonly Served[], times: number, ask: Ask): Promise<number[][]> {
  const spent = clouds.map((): number[] => []);
  const size = times / 10;
  for (let from = 0; from < times; from += size) {
    for (const [i, cloud] of clouds.entries()) {
      const begun = performance.now();
      for (let n = from; n < from + size; n += 1) await send(cloud, ask(n));
      spent[i]?.push((performance.now() - begun) / 1000 / size);
    }
  }
  return spent;
}

export const simulatedCloud: Measurement = {
  name: 'simulated-cloud',
  title: 'The simulated cloud: its start, and requests a second',
  mostSeconds: 120,
  async *measure() {
    const earlier = earlierRelease();
    const [before, commit] = [earlier?.folder, earlier?.commit];
    const clouds: Served[] = [];
    try {
      const starts: number[][] = [[], []];
      for (let round = 0; round < 5; round += 1) {
        for (const [i, checkout] of [resolve('.'), ...(before === undefined ? [] : [before])].entries()) {
          const cloud = await serve(checkout);
          starts[i]?.push(cloud.seconds);
          if (round === 4) clouds.push(cloud);
          else cloud.child.kill();
        }
      }
      const baseline = (value: number | undefined, unit: string): Pick<Figure, 'baseline'> =>
        value === undefined || Number.isNaN(value) ? {} : { baseline: { name: `of ${commit}`, value, unit } };
      const memory = clouds.map(mebibytes);
      yield* [
        {
          name: 'until it answers',
          value: median(starts[0] ?? []),
          unit: 's',
          ...baseline(median(starts[1] ?? []), 's'),
        },
        { name: 'memory once it answers', value: memory[0] ?? Number.NaN, unit: 'MiB', ...baseline(memory[1], 'MiB') },
      ];
      for (const [name, times, ask] of asked) {
        const [now = [], then = []] = await blocks(clouds, times, ask);
        yield {
          name: `${name}, one at a time`,
          value: 1 / median(now),
          unit: 'a second',
          ...baseline(1 / median(then), 'a second'),
        };
      }
    } finally {
      for (const { child } of clouds) child.kill();
    }
  },
};
