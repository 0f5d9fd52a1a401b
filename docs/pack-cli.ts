/**
 * The command line as an npm package: `npm run pack:cli [folder]` leaves plinth-<version>.tgz there (dist/release). Its
 * package.json is of its own: the project's names what functions need too, which nobody who only calls plinth wants to install.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { bundleCli } from './cli-bundle.js';

const into = resolve(process.argv[2] ?? join('dist', 'release'));
mkdirSync(into, { recursive: true });
const folder = mkdtempSync(join(tmpdir(), 'plinth-pack-'));
try {
  const imported = await bundleCli(folder);
  const { name, version, description, license, type, engines, dependencies } = JSON.parse(
    readFileSync('package.json', 'utf8'),
  ) as Record<string, unknown> & { readonly dependencies: Readonly<Record<string, string>> };
  const manifest = {
    ...{ name, version, description, license, type, engines },
    bin: { plinth: 'main.js' },
    files: ['main.js', 'chunks', 'CHANGELOG.md'],
    dependencies: Object.fromEntries(imported.map((each) => [each, dependencies[each]])),
  };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  copyFileSync('CHANGELOG.md', join(folder, 'CHANGELOG.md'));
  const [packed] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--pack-destination', into], { cwd: folder, encoding: 'utf8' }),
  ) as { readonly filename: string }[];
  process.stdout.write(`${join(into, packed?.filename ?? '')}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
