/** Bundles the command line over what tsc compiled, so that it starts in the time of one file, and makes it executable. Part of `npm run build`. */
import { chmodSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const outdir = join('dist', 'cli');
rmSync(join(outdir, 'chunks'), { recursive: true, force: true });
await build({
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
  // CommonJS inside, which does not go into an ES module; both are loaded on first use.
  external: ['google-auth-library', 'yaml'],
  logLevel: 'warning',
});
chmodSync(join(outdir, 'main.js'), 0o755);
