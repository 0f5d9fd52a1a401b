/**
 * Adds the optional packages of all platforms to package-lock.json. Where a registry mirrors only some platforms, npm leaves
 * the others out of the lock, or without integrity. `npm ci` then refuses the lock, or takes any bytes for them. What is added
 * is never fetched on a platform that it is not for. Run by `npm run lock`, after a dependency has changed.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const file = 'package-lock.json';
const lock = JSON.parse(readFileSync(file, 'utf8'));

/** A package is looked for beside its dependent, then in each folder above. */
const pathOf = (dependent, name) => {
  const parts = dependent.split('/node_modules/');
  return parts
    .map((_, i) => `${parts.slice(0, parts.length - i).join('/node_modules/')}/node_modules/${name}`)
    .find((path) => lock.packages[path] !== undefined);
};

/** What the registry says of a package, in the order that npm writes it. */
function published(name, version) {
  const fields = ['version', 'dist.integrity', 'cpu', 'libc', 'license', 'os', 'engines', 'dependencies'];
  const answer = JSON.parse(
    execFileSync('npm', ['view', '--json', `${name}@${version}`, ...fields], { encoding: 'utf8' }),
  );
  if (!answer['dist.integrity']?.startsWith('sha512-'))
    throw new Error(`${name}@${version} is published without a SHA-512`);
  if (answer.dependencies !== undefined) throw new Error(`${name}@${version} has dependencies, which the lock lacks`);
  return answer;
}

const added = [];
for (const [dependent, { optionalDependencies = {}, dev }] of Object.entries(lock.packages)) {
  if (dependent === '') continue;
  for (const [name, version] of Object.entries(optionalDependencies)) {
    const path = pathOf(dependent, name) ?? `node_modules/${name}`;
    if (lock.packages[path]?.integrity !== undefined) continue;
    if (!/^\d/.test(version)) throw new Error(`${dependent} wants ${name}@${version}: which version is that?`);
    const { 'dist.integrity': integrity, cpu, libc, license, os, engines } = published(name, version);
    const flags = { cpu, ...(dev && { dev }), libc, license, optional: true, os, engines };
    lock.packages[path] = { version, integrity, ...flags };
    added.push(name);
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
process.stdout.write(`${added.length} optional packages of other platforms added\n`);
