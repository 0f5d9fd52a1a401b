/** What is in the bundles: as much as the function uses, and within its budget. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { functionGrants } from '../../local/stack/deployment.js';
import { functionNames } from '../../shared/names.js';
import { bundleFunction, type FunctionBundle } from '../../tools/bundle/function-bundle.js';
import { startFramework } from '../support/framework.js';
import { until } from '../support/halves.js';

type Name = keyof typeof functionNames;

/** KiB of code. Raise one only for what is worth its part of every cold start. */
const budgets: Readonly<Record<Name, number>> = {
  bootstraps: 3575,
  api: 2200,
  runCloudStep: 3890,
  runHostStep: 4325,
  sweep: 2110,
  cleanup: 3260,
  check: 2300,
};

const clients = ['@google-cloud/compute', '@google-cloud/scheduler', '@google-cloud/pubsub'];

const packageOf = (input: string): string | undefined => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[1];

describe('the bundle of a function', function () {
  this.timeout(300_000);
  // Within the project, where the framework is found.
  mkdirSync('dist', { recursive: true });
  const folder = mkdtempSync(join('dist', 'bundles-test-'));
  const bundles = new Map<Name, FunctionBundle>();
  before(async () => {
    for (const [name, functionName] of Object.entries(functionNames)) {
      bundles.set(name as Name, await bundleFunction(name as Name, functionName, { into: folder }));
    }
  });
  after(() => rmSync(folder, { recursive: true, force: true }));
  const bundle = (name: Name): FunctionBundle => bundles.get(name) as FunctionBundle;
  /** What is really in the code, by packages and files of ours. */
  const held = (name: Name): { packages: Set<string>; files: Set<string> } => {
    const inputs = Object.values(bundle(name).metafile.outputs).flatMap((output) =>
      Object.entries(output.inputs).flatMap(([input, { bytesInOutput }]) => (bytesInOutput > 0 ? [input] : [])),
    );
    return {
      packages: new Set(inputs.flatMap((input) => packageOf(input) ?? [])),
      files: new Set(inputs.filter((input) => packageOf(input) === undefined)),
    };
  };

  for (const [name, budget] of Object.entries(budgets) as [Name, number][]) {
    it(`of ${functionNames[name]} keeps to its ${budget} KiB`, () => {
      expect(Math.round(bundle(name).bytes / 1024)).to.be.at.most(budget);
    });
  }

  it('holds the clients that it calls, and no others', () => {
    const found = Object.fromEntries(
      (Object.keys(functionNames) as Name[]).map((name) => [
        name,
        clients.filter((client) => held(name).packages.has(client)),
      ]),
    );
    const [compute, scheduler, pubsub] = clients;
    expect(found).to.deep.equal({
      bootstraps: [scheduler, pubsub],
      api: [],
      runCloudStep: [compute, pubsub],
      runHostStep: [compute, pubsub],
      sweep: [pubsub],
      cleanup: [scheduler, pubsub],
      check: [],
    });
  });

  it("holds of Pub/Sub's package the generated client that publishes, and no more", () => {
    for (const name of Object.keys(functionNames) as Name[]) {
      const { outputs } = bundle(name).metafile;
      const files = Object.values(outputs).flatMap(({ inputs }) =>
        Object.entries(inputs).flatMap(([input, { bytesInOutput }]) => {
          const [, file] = /node_modules\/(@google-cloud\/pubsub(?:-api)?\/.*)/.exec(input) ?? [];
          return file === undefined || bytesInOutput === 0 ? [] : [file];
        }),
      );
      const expected = [
        '@google-cloud/pubsub/build/src/index.js',
        '@google-cloud/pubsub-api/package.json',
        '@google-cloud/pubsub-api/build/protos/protos.json',
        '@google-cloud/pubsub-api/build/src/v1/publisher_client.js',
        '@google-cloud/pubsub-api/build/src/v1/publisher_client_config.json',
      ];
      expect(files, name).to.have.members(held(name).packages.has('@google-cloud/pubsub') ? expected : []);
    }
  });

  it('holds the client of what its roles let it call', () => {
    const byRole: Readonly<Record<string, RegExp>> = {
      '@google-cloud/scheduler': /\/plinthSchedule(Run)?$/,
      '@google-cloud/pubsub': /^roles\/pubsub\.publisher$/,
    };
    for (const [client, role] of Object.entries(byRole)) {
      const may = functionGrants.filter((grant) => role.test(grant.role)).map(({ name }) => name);
      const has = Object.entries(functionNames).filter(([name]) => held(name as Name).packages.has(client));
      expect(
        has.map(([, functionName]) => functionName),
        client,
      ).to.have.members(may);
    }
  });

  it('holds no other function', () => {
    const own = (name: Name) =>
      [...held(name).files].filter((file) =>
        /^functions\/(http|events|steps)\/(?!topology|settings|cloud\/outputs)/.test(file),
      );
    expect(own('api').filter((file) => /steps|events|bootstraps/.test(file))).to.deep.equal([]);
    expect(own('sweep').filter((file) => /steps|organizations/.test(file))).to.deep.equal([]);
    expect(own('runCloudStep').filter((file) => /organizations|cleanup|http\/bootstraps/.test(file))).to.deep.equal([]);
  });

  it('loads nothing of OpenTelemetry by itself', () => {
    for (const name of Object.keys(functionNames) as Name[]) {
      const { outputs } = bundle(name).metafile;
      // What starts with the process, and what is loaded with its first request, but for the exporter.
      const exporter = Object.keys(outputs).filter((file) =>
        Object.keys(outputs[file]?.inputs ?? {}).some((input) => input.includes('@opentelemetry/sdk-trace')),
      );
      expect(exporter, name).to.have.length.above(0);
      const importers = Object.entries(outputs).flatMap(([file, { imports }]) =>
        imports.filter(({ path }) => exporter.includes(path)).map(({ kind }) => ({ file, kind })),
      );
      expect(importers.filter(({ kind }) => kind !== 'dynamic-import')).to.deep.equal([]);
      expect(importers, name).to.have.length(1);
    }
  });

  it('loads with its first request no library that only some steps work with', () => {
    const lazy = ['yaml', 'node-forge', 'age-encryption', 'ssh2', ...clients];
    for (const name of Object.keys(functionNames) as Name[]) {
      const { outputs } = bundle(name).metafile;
      /** What is loaded with a file, as it imports it without further ado. */
      const closure = (file: string, seen = new Set<string>()): Set<string> => {
        if (seen.has(file)) return seen;
        seen.add(file);
        for (const { path, kind } of outputs[file]?.imports ?? []) {
          if (kind === 'import-statement' && path in outputs) closure(path, seen);
        }
        return seen;
      };
      const heads = Object.keys(outputs).filter((file) =>
        /(index|chunks\/(bootstraps|steps|organizations|run-step|sweep|cleanup|check)-\w+)\.mjs$/.test(file),
      );
      expect(heads, name).to.have.length.above(1);
      const loaded = heads
        .flatMap((head) => [...closure(head)])
        .flatMap((file) => Object.keys(outputs[file]?.inputs ?? {}));
      const packages = new Set(loaded.map(packageOf));
      expect(
        lazy.filter((each) => packages.has(each)),
        name,
      ).to.deep.equal([]);
    }
  });

  it('logs errors by the files that they come from', async () => {
    const framework = await startFramework({}, functionNames.api, bundle('api').folder);
    try {
      await fetch(framework.url);
      const line = await until('a line of the error', () =>
        framework.logged().find(({ severity }) => severity === 'CRITICAL'),
      );
      const stack = String(line['stack_trace']);
      const [, file = '', number] = /^ +at readValues \((\S+\.ts):(\d+):\d+\)$/m.exec(stack) ?? expect.fail(stack);
      expect(file).to.equal('functions/config.ts');
      expect(readFileSync(file, 'utf8').split('\n')[Number(number) - 1]).to.include('new Problem(');
    } finally {
      framework.process.kill('SIGKILL');
    }
  });

  it('has source maps of what is ours, and of no more', () => {
    for (const name of Object.keys(functionNames) as Name[]) {
      for (const [file, { inputs }] of Object.entries(bundle(name).metafile.outputs)) {
        if (!file.endsWith('.mjs')) continue;
        const ours = Object.keys(inputs).some((input) => packageOf(input) === undefined && input.endsWith('.ts'));
        const map = `${file}.map`;
        expect(existsSync(map), map).to.equal(ours);
        const { sources } = (ours ? JSON.parse(readFileSync(map, 'utf8')) : { sources: [] }) as { sources: string[] };
        const named = sources
          .filter((source) => /^[^:]+\.ts$/.test(source) && !source.includes('node_modules/'))
          .map((source) => join(dirname(map), source));
        expect(named.filter((source) => !existsSync(source))).to.deep.equal([]);
      }
    }
  });

  it('tells whose work is in it: each package with its licence and its text, and no other', () => {
    for (const name of Object.keys(functionNames) as Name[]) {
      const notices = readFileSync(join(bundle(name).folder, 'THIRD_PARTY_NOTICES'), 'utf8');
      const told = [...notices.matchAll(/^((?:@[\w.-]+\/)?[\w.-]+) \d+\.\S+ \| \S.* \| /gm)].map(
        ([, each = '']) => each,
      );
      // Two versions of one package are two entries.
      expect([...new Set(told)], name).to.have.members([...held(name).packages]);
      for (const section of notices.split(/^={80}$/m).slice(1)) {
        expect(section, 'a text to hand on')
          .to.match(/copyright|public domain|license/i)
          .and.have.length.above(500);
      }
    }
  });

  it('is not made with a package that may not be handed on, or of which nobody knows whether it may', async () => {
    const scratch = mkdtempSync(join(tmpdir(), 'plinth-licences-'));
    const planted = join(scratch, 'node_modules', 'planted');
    mkdirSync(planted, { recursive: true });
    writeFileSync(join(planted, 'index.js'), 'globalThis.planted = 1;\n');
    const made = (manifest: object, text?: string) => {
      writeFileSync(join(planted, 'package.json'), JSON.stringify({ name: 'planted', version: '1.0.0', ...manifest }));
      if (text !== undefined) writeFileSync(join(planted, 'LICENSE'), text);
      const entry = (own: string) => `import ${JSON.stringify(join(planted, 'index.js'))}; ${own}`;
      return bundleFunction('api', 'api', { into: join(folder, 'planted'), entry }).then(
        () => 'made',
        (error: Error) => error.message,
      );
    };
    try {
      expect(await made({ license: 'GPL-3.0-only' })).to.include('planted 1.0.0 has the licence GPL-3.0-only');
      expect(await made({})).to.include('planted 1.0.0 has the licence that nobody knows');
      expect(await made({ license: 'MIT' })).to.include('planted 1.0.0 has no text of its licence, MIT');
      expect(await made({ license: '(GPL-2.0 OR MIT)' }, 'Copyright of the planted')).to.equal('made');
      const notices = readFileSync(join(folder, 'planted', 'api', 'THIRD_PARTY_NOTICES'), 'utf8');
      expect(notices).to.include('planted 1.0.0').and.include('Copyright of the planted');
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
  });

  it('leaves the functions framework to the deployment, in the version that is locked here', () => {
    const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'));
    const { packages } = read('package-lock.json');
    const framework = '@google-cloud/functions-framework';
    const manifest = read(join(bundle('api').folder, 'package.json'));
    expect(manifest).to.deep.include({
      main: 'index.mjs',
      dependencies: { [framework]: packages[`node_modules/${framework}`].version },
    });
    const lock = read(join(bundle('api').folder, 'package-lock.json'));
    expect(lock.packages['node_modules/express']).to.deep.equal(packages['node_modules/express']);
    expect(held('api').packages.has(framework)).to.equal(false);
  });
});
