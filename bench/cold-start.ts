/**
 * From nothing to the first answer of each function, each in a process of its own: its bundle, its sources, and beside them the
 * functions framework's bare hello world. An answer is one that has read the store; Google's emulators hold it.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundleFunction } from '../docs/function-bundle.js';
import { functionUrl, invokers } from '../local/deployment.js';
import { createStack, type Stack } from '../local/stack.js';
import { type FunctionName, functionNames } from '../shared/names.js';
import { type Figure, type Measurement, median } from './figures.js';

const rounds = 7;
const names = Object.entries(functionNames) as [keyof typeof functionNames, FunctionName][];
const lanes: readonly FunctionName[] = [functionNames.runCloudStep, functionNames.runHostStep];
const paths: Partial<Record<FunctionName, string>> = {
  [functionNames.api]: '/organizations',
  [functionNames.bootstraps]: '/bootstraps',
};

const variants = ['hello', 'bundle', 'sources'] as const;
type Variant = (typeof variants)[number];

/** What the framework is to load, as files beside each other: `<variant>/<function>/index.mjs`. */
async function lay(folder: string): Promise<void> {
  const sources = pathToFileURL(join(import.meta.dirname, '..', 'functions', 'main.js')).href;
  for (const [key, name] of names) {
    await bundleFunction(key, name, { into: join(folder, 'bundle') });
    const register = lanes.includes(name) ? 'cloudEvent' : 'http';
    const answer = lanes.includes(name) ? '() => undefined' : "(_, response) => response.send('hello')";
    const others: Readonly<Record<string, string>> = {
      sources: `import ${JSON.stringify(sources)};`,
      hello: `import { ${register} } from '@google-cloud/functions-framework'; ${register}('${name}', ${answer});`,
    };
    for (const [variant, text] of Object.entries(others)) {
      mkdirSync(join(folder, variant, name), { recursive: true });
      writeFileSync(join(folder, variant, name, 'index.mjs'), text);
      writeFileSync(join(folder, variant, name, 'package.json'), '{"type":"module","main":"index.mjs"}');
    }
  }
}

/** A request that the function answers well; a lane gets a message of a bootstrap that there is not. */
async function requestOf(stack: Stack, name: FunctionName): Promise<() => Promise<Response>> {
  const base = functionUrl(stack.url, name);
  const path = paths[name];
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  if (path !== undefined) {
    const { idToken } = await stack.tokens('alice@example.com');
    return () => fetch(`${base}${path}`, { headers: bearer(idToken) });
  }
  if (lanes.includes(name)) {
    const message = { schema: 1, bootstrapId: 'b-nobody', instance: 'project', generation: 1 };
    const data = Buffer.from(JSON.stringify(message)).toString('base64');
    const headers = {
      'content-type': 'application/json',
      'ce-id': '1',
      'ce-source': '//pubsub.googleapis.com/topics/t',
      'ce-specversion': '1.0',
      'ce-type': 'google.cloud.pubsub.topic.v1.messagePublished',
    };
    return () =>
      fetch(base, { method: 'POST', headers, body: JSON.stringify({ message: { data }, subscription: 's' }) });
  }
  const token = await stack.cloudHalf?.cloud.identity.idToken({ email: invokers.scheduler, audience: base });
  return () => fetch(base, { method: 'POST', headers: bearer(token ?? '') });
}

const residentMegabytes = (pid: number | undefined): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1000;

interface Taken {
  readonly ms: number;
  readonly megabytes: number;
}

/** All variants by turns, so that a busy moment of the machine hits them alike. */
async function measureAll(
  folder: string,
  say: (text: string) => void,
): Promise<(v: Variant, n: FunctionName) => Taken> {
  const current = join(folder, 'current');
  const taken = new Map<string, Taken[]>();
  const stack = await createStack({ store: 'emulator', bundles: { folder: current } });
  try {
    const processes = stack.functionsHalf?.processes;
    if (processes === undefined) throw new Error('No bundles are served.');
    for (const [, name] of names) {
      const ask = await requestOf(stack, name);
      for (let n = 0; n < rounds * variants.length; n += 1) {
        const variant = variants[n % variants.length] as Variant;
        await processes.end(name, 'SIGKILL');
        rmSync(current, { force: true });
        symlinkSync(variant, current);
        const begun = performance.now();
        const reply = await ask();
        const ms = performance.now() - begun;
        if (!reply.ok) throw new Error(`${name} (${variant}) answered ${reply.status}: ${await reply.text()}`);
        const key = `${variant} ${name}`;
        const megabytes = residentMegabytes(await processes.pidOf(name));
        taken.set(key, [...(taken.get(key) ?? []), { ms, megabytes }]);
      }
      await processes.end(name, 'SIGKILL');
      say(name);
    }
  } finally {
    await stack.close();
  }
  return (variant, name) => {
    const all = taken.get(`${variant} ${name}`) ?? [];
    return { ms: median(all.map(({ ms }) => ms)), megabytes: median(all.map(({ megabytes }) => megabytes)) };
  };
}

export const coldStart: Measurement = {
  name: 'cold-start',
  title: 'Cold start of each function',
  async measure(say) {
    mkdirSync('dist', { recursive: true });
    // Within the project, where the framework is found.
    const folder = mkdtempSync(join('dist', 'cold-start-'));
    try {
      await lay(folder);
      const at = await measureAll(folder, say);
      return names.flatMap(([, name]): Figure[] => {
        const [bundle, sources, hello] = [at('bundle', name), at('sources', name), at('hello', name)];
        return [
          {
            name: `${name}: first answer`,
            value: bundle.ms,
            unit: 'ms',
            baseline: { name: 'hello world', value: hello.ms, unit: 'ms' },
          },
          {
            name: `${name}: first answer, again`,
            value: bundle.ms,
            unit: 'ms',
            baseline: { name: 'its sources', value: sources.ms, unit: 'ms' },
          },
          {
            name: `${name}: memory`,
            value: bundle.megabytes,
            unit: 'MB',
            baseline: { name: 'its sources', value: sources.megabytes, unit: 'MB' },
          },
        ];
      });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
