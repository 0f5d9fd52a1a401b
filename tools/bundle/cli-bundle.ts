/** The command line as one file and what commands import on first use beside it. Of the build and of the npm package. */
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { noticesFile, thirdPartyNotices } from '../third-party-notices.js';

/** CommonJS inside, which does not go into an ES module; all are loaded on first use. */
const external = ['google-auth-library', 'https-proxy-agent', 'ssh2', 'ws', 'yaml'];

export interface CliBundle {
  /** What it imports and does not hold: packages that stand beside it. */
  readonly imported: readonly string[];
  /** The files that it was made of. */
  readonly inputs: readonly string[];
}

export async function bundleCli(outdir: string): Promise<CliBundle> {
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
    target: 'node22',
    minifySyntax: true,
    minifyWhitespace: true,
    external,
    metafile: true,
    logLevel: 'warning',
  });
  chmodSync(join(outdir, 'main.js'), 0o755);
  writeFileSync(join(outdir, noticesFile), thirdPartyNotices(metafile));
  const imported = Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path));
  return { imported: external.filter((name) => imported.includes(name)), inputs: Object.keys(metafile.inputs) };
}
