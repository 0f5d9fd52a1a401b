/**
 * Makes the command line one Linux amd64 executable, dist/bin/plinth-linux-amd64, and lays it out as a release, with its
 * checksum, in dist/release (`npm run build:binary`).
 * The same sources give the same bytes, so that anybody can verify a release; V8's code cache, which would save 45 ms a start,
 * differs from build to build and is left out.
 */
import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { build } from 'esbuild';
import { releaseFile, releaseFolder, releasePath, releaseSum } from '../../shared/release.js';
import { sha256 } from '../../shared/sha256.js';
import { noticesFile, thirdPartyNotices } from '../third-party-notices.js';
import { withoutAddons } from './function-bundle.js';
import { nodeForLinux } from './node-for-linux.js';

const folder = join('dist', 'bin');
const work = mkdtempSync(join(tmpdir(), 'plinth-binary-'));
try {
  const { metafile } = await build({
    entryPoints: [join('cli', 'main.ts')],
    outfile: join(work, 'plinth.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node26',
    minifySyntax: true,
    minifyWhitespace: true,
    plugins: [withoutAddons],
    // What is CommonJS inside asks for Node's own modules with require.
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(process.execPath);",
    },
    metafile: true,
    logLevel: 'warning',
  });
  const node = nodeForLinux('embedded');
  const notices = thirdPartyNotices(metafile, [
    { title: 'Node.js, and what is part of it', text: readFileSync(join(dirname(node), '..', 'LICENSE'), 'utf8') },
  ]);
  writeFileSync(join(work, noticesFile), notices);
  writeFileSync(
    join(work, 'sea.json'),
    JSON.stringify({
      // Relative: the path goes into the executable.
      main: 'plinth.mjs',
      mainFormat: 'module',
      output: 'plinth',
      disableExperimentalSEAWarning: true,
      useCodeCache: false,
      // Whoever is handed the executable alone has them, too.
      assets: { [noticesFile]: noticesFile },
      // Neither NODE_OPTIONS nor flags of Node's own are for whoever runs plinth.
      execArgvExtension: 'none',
    }),
  );
  // Made by the very program that is embedded: the two must be of one version.
  execFileSync(node, ['--build-sea', 'sea.json'], {
    cwd: work,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const bytes = readFileSync(join(work, 'plinth'));
  const hash = sha256(bytes);
  mkdirSync(folder, { recursive: true });
  // Through a rename: somebody may be running the one that stands.
  const fresh = join(folder, '.plinth.new');
  writeFileSync(fresh, bytes, { mode: 0o755 });
  renameSync(fresh, join(folder, releaseFile));
  const noticesBeside = `${releaseFile}.${noticesFile}`;
  writeFileSync(join(folder, noticesBeside), notices);
  // As it is to lie beneath PLINTH_RELEASES_URL.
  const release = join('dist', 'release');
  const path = releasePath(hash);
  // First: it shall name no file that is gone.
  rmSync(join(release, releaseSum), { force: true });
  rmSync(join(release, releaseFolder), { recursive: true, force: true });
  mkdirSync(dirname(join(release, path)), { recursive: true });
  linkSync(join(folder, releaseFile), join(release, path));
  writeFileSync(join(dirname(join(release, path)), noticesBeside), notices);
  writeFileSync(join(release, releaseSum), `${hash}  ${path}\n`);
  // Where the caller asks for it: what it was made of.
  const [inputsFile] = process.argv.slice(2);
  if (inputsFile !== undefined) writeFileSync(inputsFile, JSON.stringify(Object.keys(metafile.inputs)));
  console.log(`${resolve(folder, releaseFile)}\n${hash}  ${Math.round(bytes.length / 1e6)} MB`);
} finally {
  rmSync(work, { recursive: true, force: true });
}
