/**
 * `npm pack` yields the command line alone. The project's package.json names what functions and tests need too, which nobody
 * who only calls plinth wants to install, and npm packs whatever it says: so another stands in its place while npm packs.
 * Run by npm before it packs, and with `after` once it has; where npm was stopped in between, `node dist/docs/pack.js after`.
 */
import { copyFileSync, existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleCli } from './cli-bundle.js';

const manifest = 'package.json';
const whole = join('dist', 'package.whole.json');

if (process.argv[2] === 'after') renameSync(whole, manifest);
else await before();

async function before(): Promise<void> {
  // npm would notice only after this, and never come to what puts package.json back.
  const into = process.env['npm_config_pack_destination'] ?? '.';
  if (statSync(into, { throwIfNoEntry: false })?.isDirectory() !== true) {
    console.error(`There is no folder ${into} to pack into. Make it first.`);
    process.exit(1);
  }
  // Left by a run that was stopped: what stands now is what was packed then, unless somebody has put back the project's.
  if (existsSync(whole) && !('scripts' in JSON.parse(readFileSync(manifest, 'utf8')))) renameSync(whole, manifest);
  const imported = await bundleCli(join('dist', 'cli'));
  const { name, version, description, license, type, engines, bin, files, dependencies } = JSON.parse(
    readFileSync(manifest, 'utf8'),
  ) as Record<string, unknown> & { readonly dependencies: Readonly<Record<string, string>> };
  const packed = {
    ...{ name, version, description, license, type, engines, bin, files },
    dependencies: Object.fromEntries(imported.map((each) => [each, dependencies[each]])),
  };
  copyFileSync(manifest, whole);
  writeFileSync(manifest, `${JSON.stringify(packed, null, 2)}\n`);
}
