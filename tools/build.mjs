/**
 * `npm run build`: makes dist of the sources, and nothing where it is made of them already. `node tools/build.mjs binary` makes
 * the executable, too; `release` does without it where it cannot be made. Plain JavaScript, as nothing is compiled before it.
 *
 * tsc writes to a folder of its own, dist-build. What it changed goes from there to dist file by file, by renames: a build
 * that is stopped leaves dist as it was or without its stamp, and what runs from dist never reads half a file.
 */
import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withLock } from './build-lock.mjs';
import { filesIn, fingerprint, isWhole, readStamp, signatures, writeStamp } from './build-stamp.mjs';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

const stage = 'dist-build';
const lock = join(stage, 'lock');
const compileInfo = join(stage, 'tsc.tsbuildinfo');
const bundle = join(stage, 'bundle');
const stamps = {
  /** Of what tsc wrote to the stage. */
  stage: join(stage, 'stamp.json'),
  code: join('dist', '.code.json'),
  binary: join('dist', '.binary.json'),
};
/** Packages as npm installed them, and what the build itself is. What is changed by hand in node_modules is known by the bundles. */
const setup = ['tsconfig.json', 'package.json', 'package-lock.json', join('node_modules', '.package-lock.json')];

const { include, exclude = [] } = JSON.parse(readFileSync('tsconfig.json', 'utf8'));
const roots = () => include;
const isSource = (file) => /\.m?ts$/.test(file) && !exclude.some((folder) => file.startsWith(`${folder}/`));
const sourcesIn = (folders) => folders.flatMap(filesIn).filter(isSource);
/** The page of the console: sources for browsers, which are checked and bundled by themselves. */
const page = () => filesIn('console');
/** What the reference of the APIs is made from. `npm run docs` writes it. */
const documents = () => filesIn(join('docs', 'reference')).filter((file) => file.endsWith('.openapi.json'));
const own = () => [...setup, ...filesIn('tools').filter((file) => file.endsWith('.mjs'))];
const snapshot = () => fingerprint([...sourcesIn(roots()), ...page(), ...documents(), ...own()]);

class Failed extends Error {
  constructor(code) {
    super(`It ended with ${code}.`);
    this.code = code;
  }
}

/** Runs one of our programs, or tsc. */
function run(started, ...args) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { stdio: 'inherit' });
    if (child.pid !== undefined) started(child.pid);
    child.on('error', reject);
    child.on('close', (code) => (code === 0 ? resolve() : reject(new Failed(code ?? 1))));
  });
}

/** What tsc makes of a source. */
function compiled(source) {
  const file = source.replace(/ts$/, 'js');
  return [file, `${file}.map`];
}

/** All that is in dist in the place of sources. */
const standing = () => roots().flatMap((root) => filesIn(join('dist', root)));

function codeIsFresh() {
  const stamp = readStamp(stamps.code);
  return (
    stamp !== undefined &&
    stamp.key === snapshot().content &&
    isWhole(stamp) &&
    standing().every((file) => file in stamp.made)
  );
}

/** Brings the stage up to date. What it held before counts only if it is as tsc left it. */
async function compile(started) {
  const wanted = sourcesIn(roots()).flatMap(compiled);
  const before = readStamp(stamps.stage);
  if (before === undefined || !isWhole(before)) rmSync(compileInfo, { force: true });
  rmSync(stamps.stage, { force: true });
  const tsc = join('node_modules', 'typescript', 'bin', 'tsc');
  await run(started, tsc, '-p', '.', '--outDir', stage, '--incremental', '--tsBuildInfoFile', compileInfo);
  const files = wanted.map((file) => join(stage, file));
  writeStamp(stamps.stage, { key: '', made: signatures([...files, compileInfo]) });
  rmSync(bundle, { recursive: true, force: true });
  const inputs = join(stage, 'bundle-inputs.json');
  await run(started, join(stage, 'tools', 'bundle', 'build-cli.js'), join(bundle, 'cli'), inputs);
  if (page().length > 0) {
    await run(started, tsc, '-p', 'console');
    await run(started, join(stage, 'tools', 'bundle', 'build-console.js'), join(bundle, 'console'));
  }
  return wanted;
}

/** From where to where: the bundle of the command line stands in place of what tsc made of its entry. */
function whatToInstall(wanted) {
  const bundled = filesIn(bundle).map((file) => relative(bundle, file));
  const entry = join('cli', 'main.js');
  return new Map([
    ...wanted.filter((file) => file !== `${entry}.map`).map((file) => [join('dist', file), join(stage, file)]),
    ...bundled.map((file) => [join('dist', file), join(bundle, file)]),
  ]);
}

function install(files) {
  const before = readStamp(stamps.code)?.made ?? {};
  rmSync(stamps.code, { force: true });
  for (const [to, from] of files) {
    if (existsSync(to) && readFileSync(to).equals(readFileSync(from))) continue;
    mkdirSync(dirname(to), { recursive: true });
    const fresh = join(dirname(to), `.${process.pid}.new`);
    copyFileSync(from, fresh);
    renameSync(fresh, to);
  }
  for (const file of [...standing(), ...Object.keys(before)]) {
    if (files.has(file) || !file.startsWith(`dist${sep}`)) continue;
    rmSync(file, { force: true });
    removeEmpty(dirname(file));
  }
}

function removeEmpty(folder) {
  if (folder === 'dist') return;
  try {
    rmdirSync(folder);
  } catch {
    // Something is left in it.
    return;
  }
  removeEmpty(dirname(folder));
}

async function buildCode() {
  if (codeIsFresh()) return;
  await withLock(lock, async ({ held, started }) => {
    for (;;) {
      if (codeIsFresh()) return;
      const before = snapshot();
      const files = whatToInstall(await compile(started));
      // Somebody writes sources while they are compiled: what came out may be of neither state.
      if (snapshot().moment !== before.moment) continue;
      if (!held())
        throw new Error('Another build took the place of this one, which stood still for long. Try it again.');
      install(files);
      const read = JSON.parse(readFileSync(join(stage, 'bundle-inputs.json'), 'utf8'));
      const packages = read.filter((file) => !isSource(file) || file.includes('node_modules'));
      writeStamp(stamps.code, { key: before.content, made: signatures([...files.keys(), ...packages]) });
      return;
    }
  });
}

/** Sources of the executable, and what makes it. */
const binaryKey = (inputs) =>
  fingerprint([...inputs.filter((file) => !file.includes('node_modules')), ...sourcesIn(['tools']), ...own()]).content;

function binaryIsFresh() {
  const stamp = readStamp(stamps.binary);
  return stamp?.inputs !== undefined && stamp.key === binaryKey(stamp.inputs) && isWhole(stamp);
}

/** Gives whether it was made now. */
async function buildBinary() {
  if (binaryIsFresh()) return false;
  return withLock(lock, async ({ started }) => {
    if (binaryIsFresh()) return false;
    rmSync(stamps.binary, { force: true });
    const before = snapshot();
    const list = join(stage, 'binary-inputs.json');
    await run(started, join('dist', 'tools', 'bundle', 'build-binary.js'), list);
    if (snapshot().moment !== before.moment) return true;
    const inputs = JSON.parse(readFileSync(list, 'utf8'));
    const made = [...filesIn(join('dist', 'bin')), ...filesIn(join('dist', 'release'))];
    const packages = inputs.filter((file) => file.includes('node_modules'));
    writeStamp(stamps.binary, { key: binaryKey(inputs), inputs, made: signatures([...made, ...packages]) });
    return true;
  });
}

try {
  const [what] = process.argv.slice(2);
  const isWaiting = process.stderr.isTTY === true && what === 'release' && !(codeIsFresh() && binaryIsFresh());
  if (isWaiting) process.stderr.write('Builds plinth, once: about a minute.\n');
  await buildCode();
  if (what === 'binary' && !(await buildBinary())) process.stdout.write('The executable is up to date.\n');
  if (what === 'release') {
    await buildBinary().catch((error) => {
      if (!(error instanceof Failed)) throw error;
      process.stderr.write('Without the executable of plinth, steps on machines are left out.\n');
    });
  }
} catch (error) {
  if (!(error instanceof Failed)) throw error;
  process.exitCode = error.code;
}
