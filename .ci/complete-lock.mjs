/**
 * Names the binaries of all platforms in package-lock.json. A registry that mirrors only some platforms leaves the others'
 * optional packages out of the lock, and `npm ci` then refuses it. What is added is never fetched on a platform it is not for.
 * Run by `npm run lock`, after a dependency has changed.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const file = 'package-lock.json';
const lock = JSON.parse(readFileSync(file, 'utf8'));
const systems = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'win32'];
const cpus = ['arm64', 'arm', 'x64', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'wasm32'];

/** From a name such as `@biomejs/cli-linux-arm64-musl`. */
function platformOf(name) {
  const words = name.replace(/^.*\//, '').split(/[-.]/);
  const os = systems.find((system) => words.includes(system));
  const cpu = cpus.find((each) => words.includes(each) || words.includes(`${each}eabi`));
  const libc = words.some((word) => word.startsWith('musl'))
    ? 'musl'
    : words.some((word) => word.startsWith('gnu'))
      ? 'glibc'
      : undefined;
  if (os === undefined && cpu !== 'wasm32') return undefined;
  return { ...(os && { os: [os] }), ...(cpu && { cpu: [cpu] }), ...(os === 'linux' && libc && { libc: [libc] }) };
}

/** A package is looked for beside whoever wants it, then in each folder above. */
const standsFor = (path, name) =>
  path
    .split('/node_modules/')
    .some((_, i, parts) => lock.packages[`${parts.slice(0, i + 1).join('/node_modules/')}/node_modules/${name}`]) ||
  lock.packages[`node_modules/${name}`] !== undefined;

const added = [];
for (const [path, { optionalDependencies = {}, dev }] of Object.entries(lock.packages)) {
  if (path === '') continue;
  for (const [name, version] of Object.entries(optionalDependencies)) {
    if (standsFor(path, name)) continue;
    const platform = platformOf(name);
    if (platform === undefined || !/^\d/.test(version))
      throw new Error(`${name}@${version}, wanted by ${path}: for which platform?`);
    lock.packages[`node_modules/${name}`] = { version, ...platform, ...(dev && { dev }), optional: true };
    added.push(name);
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
process.stdout.write(`${added.length} optional packages of other platforms named\n`);
