/**
 * Lays the npm package out in dist/package and has npm pack it (`npm run pack`; what follows is for `npm pack`). It holds the
 * command line alone: the project's package.json names what functions and tests need too, which nobody who only calls plinth
 * wants to install.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleCli } from './cli-bundle.js';

const folder = join('dist', 'package');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const { imported } = await bundleCli(join(folder, 'dist', 'cli'));
const { name, version, description, license, type, engines, bin, files, dependencies } = JSON.parse(
  readFileSync('package.json', 'utf8'),
) as Record<string, unknown> & { readonly dependencies: Readonly<Record<string, string>> };
const manifest = {
  ...{ name, version, description, license, type, engines, bin, files },
  dependencies: Object.fromEntries(imported.map((each) => [each, dependencies[each]])),
};
writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
for (const file of ['README.md', 'CHANGELOG.md']) cpSync(file, join(folder, file));

const args = process.argv.slice(2);
const { status } = spawnSync('npm', ['pack', `./${folder}`, ...args], { stdio: 'inherit' });
process.exitCode = status ?? 1;
