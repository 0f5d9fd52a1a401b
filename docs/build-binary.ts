/**
 * Makes the command line one Linux amd64 executable, dist/release/v<version>/plinth-linux-amd64, with its checksum beside it:
 * as it is to lie beneath PLINTH_RELEASES_URL (`npm run build:binary`).
 * The same sources give the same bytes, so that anybody can verify a release; V8's code cache, which would save 45 ms a start,
 * differs from build to build and is left out.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { releaseFile, releaseFolder, sumsFile } from '../shared/release.js';
import { sha256 } from '../shared/sha256.js';
import { openTelemetryAsModules, withoutAddons } from './function-bundle.js';
import { nodeForLinux } from './node-for-linux.js';

const folder = join('dist', 'release');
const work = mkdtempSync(join(tmpdir(), 'plinth-binary-'));
try {
  await build({
    entryPoints: [join('cli', 'main.ts')],
    outfile: join(work, 'plinth.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node26',
    minifySyntax: true,
    minifyWhitespace: true,
    plugins: [withoutAddons, openTelemetryAsModules],
    // What is CommonJS inside asks for Node's own modules with require.
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(process.execPath);",
    },
    logLevel: 'warning',
  });
  writeFileSync(
    join(work, 'sea.json'),
    JSON.stringify({
      // Relative: the path goes into the executable.
      main: 'plinth.mjs',
      mainFormat: 'module',
      output: 'plinth',
      disableExperimentalSEAWarning: true,
      useCodeCache: false,
      // Neither NODE_OPTIONS nor flags of Node's own are for whoever runs plinth.
      execArgvExtension: 'none',
    }),
  );
  // Made by the very program that is embedded: the two must be of one version.
  execFileSync(nodeForLinux('embedded'), ['--build-sea', 'sea.json'], {
    cwd: work,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const bytes = readFileSync(join(work, 'plinth'));
  const hash = sha256(bytes);
  // Of one version only, and whole when it is there: somebody may be running or serving the one that stands.
  const fresh = join('dist', 'release.new');
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(join(fresh, releaseFolder), { recursive: true });
  writeFileSync(join(fresh, releaseFolder, releaseFile), bytes, { mode: 0o755 });
  writeFileSync(join(fresh, releaseFolder, sumsFile), `${hash}  ${releaseFile}\n`);
  rmSync(folder, { recursive: true, force: true });
  renameSync(fresh, folder);
  console.log(`${resolve(folder, releaseFolder, releaseFile)}\n${hash}  ${Math.round(bytes.length / 1e6)} MB`);
} finally {
  rmSync(work, { recursive: true, force: true });
}
