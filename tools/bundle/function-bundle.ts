/** One function as one small bundle: what it imports and no more, the functions framework aside, which Google runs it with. */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';
import type { functionNames } from '../../shared/names.js';
import { version } from '../../shared/version.js';
import { noticesFile, thirdPartyNotices } from '../third-party-notices.js';
import { frameworkLock } from './framework-lock.js';
import { lean } from './lean-clients.js';

type DeployableName = keyof typeof functionNames;

/** Clients that only some functions call. In the others' bundles their place is taken by an error that says so. */
const callers: Readonly<Record<string, readonly DeployableName[]>> = {
  '@google-cloud/compute': ['runCloudStep', 'runHostStep'],
  '@google-cloud/scheduler': ['bootstraps', 'cleanup'],
  ssh2: ['runHostStep'],
  '@google-cloud/pubsub': ['bootstraps', 'runCloudStep', 'runHostStep', 'sweep', 'cleanup'],
};

const withoutUncalled = (name: DeployableName): Plugin => ({
  name: 'without clients that the function does not call',
  setup({ onResolve, onLoad }) {
    for (const [client, functions] of Object.entries(callers)) {
      if (functions.includes(name)) continue;
      onResolve({ filter: new RegExp(`^${client}(/|$)`) }, () => ({ path: client, namespace: 'uncalled' }));
    }
    onLoad({ filter: /.*/, namespace: 'uncalled' }, ({ path }) => ({
      contents: `module.exports = {}; throw new Error('The bundle of ${name} leaves out ${path}: see tools/bundle/function-bundle.ts.');`,
    }));
  },
});

/**
 * functions/index.ts with one deployable left in it: what the others import on first use would come along with them, as
 * esbuild follows every import() that it has read.
 */
const oneDeployable = (name: DeployableName): Plugin => ({
  name: 'one deployable',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]functions[\\/]index\.ts$/ }, async ({ path }) => {
      const { outputFiles } = await build({
        stdin: { contents: `export { ${name}, register } from './index.ts';`, resolveDir: dirname(path) },
        bundle: true,
        format: 'esm',
        platform: 'node',
        // So that a stack names lines of the file, not of what is left of it.
        sourcemap: 'inline',
        outdir: dirname(path),
        write: false,
        plugins: [
          {
            name: 'this file alone',
            setup: (inner) =>
              inner.onResolve({ filter: /./ }, ({ path: to }) =>
                to === './index.ts' ? { path } : { path: to, external: true, sideEffects: false },
              ),
          },
        ],
      });
      return { contents: outputFiles[0]?.text ?? '', resolveDir: dirname(path) };
    });
  },
});

/**
 * What is CommonJS and imported on first use would come with its default export alone; Node gives all its names, and so does
 * this: the names are those that Node finds.
 */
const namedOnFirstUse: Plugin = {
  name: 'names of CommonJS packages that are imported on first use',
  setup({ onResolve, onLoad, resolve: resolved }) {
    onResolve({ filter: /^(@google-cloud\/|google-auth-library|node-forge|ssh2|yaml)/ }, async (found) => {
      if (found.kind !== 'dynamic-import' || found.pluginData === namedOnFirstUse) return undefined;
      const { path, errors } = await resolved(found.path, {
        kind: 'import-statement',
        resolveDir: found.resolveDir,
        pluginData: namedOnFirstUse,
      });
      return errors.length > 0 ? { errors } : { path, namespace: 'named' };
    });
    onLoad({ filter: /.*/, namespace: 'named' }, async ({ path }) => {
      const names = Object.keys(await import(path)).filter(
        (each) => /^[A-Za-z_$][\w$]*$/.test(each) && each !== 'default',
      );
      const from = JSON.stringify(path);
      return {
        contents: `export { ${names.join(', ')} } from ${from}; export { default } from ${from};`,
        resolveDir: dirname(path),
      };
    });
  },
};

/** Zod speaks fifty languages; plinth speaks one. */
const oneLanguage: Plugin = {
  name: 'one language of zod',
  setup({ onLoad }) {
    onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    }));
  },
};

/** ssh2 tries two addons in C and does without them: a bundle has none, as it would have to be built for its machine. */
export const withoutAddons: Plugin = {
  name: 'without native addons',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\.node$|^cpu-features$/ }, ({ path }) => ({ path, namespace: 'addon' }));
    onLoad({ filter: /.*/, namespace: 'addon' }, ({ path }) => ({
      contents: `throw new Error(${JSON.stringify(`${path} is left out of the bundle`)});`,
    }));
  },
};

const isOurs = (input: string): boolean => input.endsWith('.ts') && !input.includes('node_modules/');

export interface FunctionBundle {
  readonly folder: string;
  /** Of the code, without the source maps. */
  readonly bytes: number;
  readonly metafile: Metafile;
}

interface BundleChoices {
  readonly into: string;
  /** Of the executable that was built of the same sources, if one was. */
  readonly releaseSha256?: string | undefined;
  /** What is served in place of the function, or besides: the bench compares. */
  readonly entry?: ((own: string) => string) | undefined;
  /** Google's clients with all their parts, as they are published: the bench compares. */
  readonly wholeClients?: boolean | undefined;
}

export async function bundleFunction(
  name: DeployableName,
  functionName: string,
  { into, releaseSha256, entry = (own) => own, wholeClients = false }: BundleChoices,
): Promise<FunctionBundle> {
  const folder = join(into, functionName);
  rmSync(folder, { recursive: true, force: true });
  const { metafile } = await build({
    stdin: {
      contents: entry(
        `import { ${name} } from './functions/index.js'; import { serve } from './functions/serve.js'; serve([${name}]);`,
      ),
      resolveDir: resolve('.'),
      sourcefile: 'entry.js',
    },
    outdir: folder,
    entryNames: 'index',
    // What is loaded on first use stays in files of its own.
    chunkNames: 'chunks/[name]-[hash]',
    outExtension: { '.js': '.mjs' },
    splitting: true,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node22',
    // Names stay as they are: a stack of Google's clients can be read without a source map.
    minifySyntax: true,
    minifyWhitespace: true,
    // Not linked: functions/host/own-sources.ts alone reads them.
    sourcemap: 'external',
    sourcesContent: false,
    legalComments: 'none',
    metafile: true,
    // The framework finds what was registered in a table of its own module: there must be one of it.
    external: ['@google-cloud/functions-framework'],
    plugins: [
      oneDeployable(name),
      withoutUncalled(name),
      ...(wholeClients ? [] : lean),
      namedOnFirstUse,
      oneLanguage,
      withoutAddons,
    ],
    define: releaseSha256 === undefined ? {} : { PLINTH_RELEASE_SHA256: JSON.stringify(releaseSha256) },
    // What is CommonJS inside asks for Node's own modules with require, and for its folder.
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url), __dirname = import.meta.dirname;",
    },
    logLevel: 'warning',
  });
  for (const [file, { inputs }] of Object.entries(metafile.outputs)) {
    if (!file.endsWith('.map') && !Object.keys(inputs).some(isOurs)) rmSync(`${file}.map`, { force: true });
  }
  mkdirSync(folder, { recursive: true });
  if (name === 'api') cpSync(join('dist', 'console'), join(folder, 'console'), { recursive: true });
  const { engines } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly engines: object };
  writeFileSync(join(folder, noticesFile), thirdPartyNotices(metafile));
  const { dependencies, lock } = frameworkLock(`plinth-${functionName}`);
  const manifest = {
    name: `plinth-${functionName}`,
    version,
    private: true,
    type: 'module',
    main: 'index.mjs',
    engines,
    dependencies,
  };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  writeFileSync(join(folder, 'package-lock.json'), `${JSON.stringify(lock, null, 2)}\n`);
  const bytes = Object.entries(metafile.outputs).reduce(
    (sum, [file, output]) => (basename(file).endsWith('.map') ? sum : sum + output.bytes),
    0,
  );
  return { folder, bytes, metafile };
}
