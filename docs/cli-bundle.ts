/** The command line as one file and what commands import on first use beside it. Called by build-cli.ts and pack.ts. */
import { chmodSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { openTelemetryAsModules } from './function-bundle.js';

/** CommonJS inside, which does not go into an ES module; all are loaded on first use. */
const external = ['google-auth-library', 'ssh2', 'yaml'];

/** What it imports and does not hold: packages that stand beside it. */
export async function bundleCli(outdir: string): Promise<readonly string[]> {
  rmSync(join(outdir, 'chunks'), { recursive: true, force: true });
  const { metafile } = await build({
    entryPoints: [join('cli', 'main.ts')],
    outdir,
    // What a command imports on first use stays in a file of its own.
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    minifySyntax: true,
    minifyWhitespace: true,
    external,
    plugins: [openTelemetryAsModules],
    metafile: true,
    logLevel: 'warning',
  });
  chmodSync(join(outdir, 'main.js'), 0o755);
  const imported = Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path));
  return external.filter((name) => imported.includes(name));
}
