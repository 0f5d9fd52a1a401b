/**
 * From nothing to the first answer of each function, each in a process of its own: its bundle, the functions framework's bare
 * hello world, and that with the store's client alone. An answer is one that has read the store; Google's emulators hold it.
 * All run on the Node that the deployment has: what a start costs differs much from one to the next.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FunctionProcesses } from '../../local/functions/processes.js';
import { functionAccount, functionUrl, invokers } from '../../local/stack/deployment.js';
import { schedulerHeaders } from '../../local/stack/front-end.js';
import { createStack, type Stack } from '../../local/stack/stack.js';
import { type FunctionName, functionNames } from '../../shared/names.js';
import { timeLimit } from '../../shared/time-limit.js';
import { bundleFunction } from '../../tools/bundle/function-bundle.js';
import { nodeForLinux } from '../../tools/bundle/node-for-linux.js';
import { cpuMilliseconds } from './cpu.js';
import { type Figure, type Measurement, median, part, type Row, reasonOf } from './figures.js';
import { emulatorsMissing } from './stack.js';

const usualRounds = 7;
/** Requests that are not measured: the emulators run on Java, and take minutes' worth of them to come to their pace. */
const warmUps = 150;
const names = Object.entries(functionNames) as [keyof typeof functionNames, FunctionName][];
const lanes: readonly FunctionName[] = [functionNames.runCloudStep, functionNames.runHostStep];
const paths: Partial<Record<FunctionName, string>> = {
  [functionNames.api]: '/organizations',
  [functionNames.bootstraps]: '/bootstraps',
};

/** `client…`: hello world that reads one document first, with the client as it is published, or lean as bundles hold it. */
const variants = ['hello', 'client', 'lean client', 'bundle', 'bundle with Compute'] as const;
type Variant = (typeof variants)[number];
const variantsOf = (name: FunctionName) =>
  variants.filter((variant) => variant !== 'bundle with Compute' || lanes.includes(name));

/** From the bundle's entry, which stands at the top. */
const fromTop = (file: string): string => JSON.stringify(`./functions/${file}`);
const readStore = `
  import { createFirestoreStore } from ${fromTop('store/firestore.js')};
  const { PLINTH_PROJECT: project, FIRESTORE_EMULATOR_HOST: emulatorHost } = process.env;
  const store = createFirestoreStore({ project, serviceAccount: 'default', firestore: { database: '(default)', emulatorHost } });
  const first = () => store.get('bootstraps', 'nobody');`;

/** A first call to Compute Engine, as most steps of a lane make, which the cloud refuses. Then what the function does. */
const withCompute = (own: string, name: FunctionName): string => `${own}
  import { http } from '@google-cloud/functions-framework';
  import { getFunction } from '@google-cloud/functions-framework/testing';
  import { readProcessConfig } from ${fromTop('config.js')};
  import { createContext } from ${fromTop('context.js')};
  const own = getFunction('${name}');
  http('${name}', async (request, response) => {
    const { config, cloud } = createContext(readProcessConfig());
    await cloud.compute.network(config.project, 'none').catch((error) => {
      if (error.code !== 'cloud-permission') throw error;
    });
    await own(request, response);
  });`;

/** A function that does what `before` calls `first`, and says hello. */
function hello(name: FunctionName, before = 'const first = () => undefined;'): string {
  const answer = "async (_, response) => { await first(); response.send('hello'); }";
  return `import { http } from '@google-cloud/functions-framework'; ${before} http('${name}', ${answer});`;
}

/** What the framework is to load, as files beside each other: `<variant>/<function>/index.mjs`. */
async function lay(folder: string): Promise<void> {
  for (const [key, name] of names) {
    const bundle = (variant: Variant, entry?: (own: string) => string, wholeClients = false) =>
      bundleFunction(key, name, { into: join(folder, variant), entry, wholeClients });
    await bundle('bundle');
    await bundle('client', () => hello(name, readStore), true);
    await bundle('lean client', () => hello(name, readStore));
    if (lanes.includes(name)) await bundle('bundle with Compute', (own) => withCompute(own, name));
    mkdirSync(join(folder, 'hello', name), { recursive: true });
    writeFileSync(join(folder, 'hello', name, 'index.mjs'), hello(name));
    writeFileSync(join(folder, 'hello', name, 'package.json'), '{"type":"module","main":"index.mjs"}');
  }
}

/** One that hangs is a bad answer. */
const patience = (): AbortSignal => timeLimit(60_000);

/** A request that the function answers well; a lane gets a message of a bootstrap that there is not. */
async function requestOf(stack: Stack, name: FunctionName): Promise<() => Promise<Response>> {
  const base = functionUrl(stack.url, name);
  const path = paths[name];
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  if (path !== undefined) {
    const { idToken } = await stack.tokens('alice@example.com');
    return () => fetch(`${base}${path}`, { headers: bearer(idToken), signal: patience() });
  }
  const { identity } = stack.cloudHalf?.cloud ?? {};
  if (identity === undefined) throw new Error('The cloud must run here.');
  if (lanes.includes(name)) {
    const message = { schema: 1, bootstrapId: 'b-nobody', instance: 'project', generation: 1 };
    const data = Buffer.from(JSON.stringify(message)).toString('base64');
    const headers = {
      'content-type': 'application/json',
      'ce-id': '1',
      'ce-source': '//pubsub.googleapis.com/topics/t',
      'ce-specversion': '1.0',
      'ce-type': 'google.cloud.pubsub.topic.v1.messagePublished',
      'user-agent': 'APIs-Google; (+https://developers.google.com/webmasters/APIs-Google.html)',
      ...bearer(await identity.idToken({ email: invokers.eventarc, audience: base })),
    };
    return () =>
      fetch(base, {
        method: 'POST',
        headers,
        body: JSON.stringify({ message: { data }, subscription: 's' }),
        signal: patience(),
      });
  }
  if (name === functionNames.check) {
    const token = await identity.idToken({ email: functionAccount(functionNames.bootstraps), audience: base });
    const headers = { ...bearer(token), 'content-type': 'application/json' };
    const body = JSON.stringify({ codes: [], owner: '', ownerMember: '', projectId: '', options: {} });
    return () => fetch(base, { method: 'POST', headers, body, signal: patience() });
  }
  const headers = await schedulerHeaders(identity, base);
  return () => fetch(base, { method: 'POST', headers, signal: patience() });
}

const residentMegabytes = (pid: number | undefined): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1000;

interface Taken {
  readonly ms: number;
  readonly cpu: number;
  readonly megabytes: number;
}

interface Served {
  readonly stack: Stack;
  readonly processes: FunctionProcesses;
  /** A link to the variant that is served. */
  readonly current: string;
}

async function warmUp({ stack, processes, current }: Served): Promise<void> {
  symlinkSync('bundle', current);
  for (const name of [functionNames.api, functionNames.bootstraps]) {
    const ask = await requestOf(stack, name);
    for (let i = 0; i < warmUps; i += 1) await (await ask()).text();
    await processes.end(name, 'SIGKILL');
  }
}

/** What a start took, by variant; a variant that never answered well throws why. */
type At = (variant: Variant) => Taken;

/** All variants of a function by turns, so that a busy moment of the machine hits them alike. A bad answer is a row. */
async function* measureFunction(
  { stack, processes, current }: Served,
  name: FunctionName,
  rounds: number,
): AsyncGenerator<Row> {
  const taken = new Map<Variant, Taken[]>(variantsOf(name).map((variant) => [variant, []]));
  const bad = new Map<Variant, string>();
  const ask = await requestOf(stack, name);
  for (let round = 1; round <= rounds; round += 1) {
    for (const [variant, all] of taken) {
      await processes.end(name, 'SIGKILL');
      rmSync(current, { force: true });
      symlinkSync(variant, current);
      try {
        all.push(await firstAnswer(processes, name, ask));
      } catch (error) {
        bad.set(variant, reasonOf(error));
        yield { name: `${name}: ${variant}, round ${round} of ${rounds}`, why: reasonOf(error), kind: 'failed' };
      }
    }
  }
  await processes.end(name, 'SIGKILL');
  const at: At = (variant) => {
    const all = taken.get(variant) ?? [];
    if (all.length === 0) throw new Error(`${variant} never answered well: ${bad.get(variant)}`);
    const middle = (of: keyof Taken) => median(all.map((each) => each[of]));
    return { ms: middle('ms'), cpu: middle('cpu'), megabytes: middle('megabytes') };
  };
  yield* part(name, async () => figuresOf(name, at));
}

async function firstAnswer(
  processes: FunctionProcesses,
  name: FunctionName,
  ask: () => Promise<Response>,
): Promise<Taken> {
  const begun = performance.now();
  const reply = await ask();
  const ms = performance.now() - begun;
  if (!reply.ok) throw new Error(`it answered ${reply.status}: ${(await reply.text()).slice(0, 300)}`);
  const pid = await processes.pidOf(name);
  return { ms, cpu: cpuMilliseconds(pid), megabytes: residentMegabytes(pid) };
}

function figuresOf(name: FunctionName, at: At): Figure[] {
  const [bundle, bare, client] = [at('bundle'), at('hello'), at('client')];
  /** What a start may take: half as much again as hello world, and what the store's client as it is published takes. */
  const allowed = (of: 'ms' | 'cpu') => 1.5 * bare[of] + (client[of] - bare[of]);
  const beside = (what: string, value: number, unit: string, baseline: string, base: number): Figure => ({
    name: `${name}: ${what}`,
    value,
    unit,
    baseline: { name: baseline, value: base, unit },
  });
  return [
    { ...beside('first answer, CPU', bundle.cpu, 'ms', '1.5 × hello world + client', allowed('cpu')), aim: 1 },
    { ...beside('first answer', bundle.ms, 'ms', '1.5 × hello world + client', allowed('ms')), aim: 1 },
    ...(lanes.includes(name) ? figuresWithCompute(name, at) : [besideBundled(name, at)]),
    beside('memory', bundle.megabytes, 'MB', 'hello world', bare.megabytes),
  ];
}

/** What people and schedules wait for takes little more than hello world that reads one document by the client as bundles hold it. */
const besideBundled = (name: FunctionName, at: At): Figure => ({
  name: `${name}: first answer, CPU, over the client as bundled`,
  value: at('bundle').cpu,
  unit: 'ms',
  baseline: { name: 'hello world and the client as bundled', value: at('lean client').cpu, unit: 'ms' },
  aim: 1.3,
});

/** A lane shall have made its first call within a second. */
function figuresWithCompute(name: FunctionName, at: At): Figure[] {
  const { ms, megabytes } = at('bundle with Compute');
  return [
    {
      name: `${name}: with Compute`,
      value: ms,
      unit: 'ms',
      baseline: { name: 'a second', value: 1000, unit: 'ms' },
      aim: 1,
    },
    {
      name: `${name}: with Compute, memory`,
      value: megabytes,
      unit: 'MB',
      baseline: { name: 'without', value: at('bundle').megabytes, unit: 'MB' },
    },
  ];
}

export const coldStart: Measurement = {
  name: 'cold-start',
  title: 'Cold start of each function',
  mostSeconds: 600,
  async *measure(say, rounds = usualRounds) {
    const why = emulatorsMissing();
    if (why !== undefined) {
      yield { name: 'cold start', why, kind: 'left out' };
      return;
    }
    mkdirSync('dist', { recursive: true });
    // Within the project, where the framework is found.
    const folder = mkdtempSync(join('dist', 'cold-start-'));
    const tidy = () => rmSync(folder, { recursive: true, force: true });
    process.once('exit', tidy);
    try {
      await lay(folder);
      say('all bundles are laid out');
      const current = join(folder, 'current');
      const bundles = { folder: current, node: nodeForLinux('functions') };
      const stack = await createStack({ store: 'emulator', bundles });
      try {
        const processes = stack.functionsHalf?.processes;
        if (processes === undefined) throw new Error('No bundles are served.');
        const served: Served = { stack, processes, current };
        await warmUp(served);
        for (const [at, [, name]] of names.entries()) {
          say(`${name}, ${at + 1} of ${names.length}`);
          yield* measureFunction(served, name, rounds);
        }
      } finally {
        await stack.close();
      }
    } finally {
      tidy();
    }
  },
};
