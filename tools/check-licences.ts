/** Part of `npm run check`: no package that is needed at run time, in a bundle or beside it, has a licence that we may not hand on. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAllowed, type LicenceTold, licenceOf } from './licence-rule.js';

const [folder = '.'] = process.argv.slice(2);
const read = (file: string): unknown => JSON.parse(readFileSync(join(folder, file), 'utf8'));

const { packages } = read('package-lock.json') as {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly optional?: boolean }>>;
};
const refused = Object.entries(packages).flatMap(([path, { dev, optional }]) => {
  // What is optional is not in every installation, and no bundle takes it.
  if (path === '' || dev || optional) return [];
  const licence = licenceOf(read(join(path, 'package.json')) as LicenceTold);
  return licence !== undefined && isAllowed(licence) ? [] : [`${path}: ${licence ?? 'no licence is told'}`];
});
if (refused.length > 0) {
  console.error(`May not be handed on (tools/licence-rule.ts):\n  ${refused.join('\n  ')}`);
  process.exitCode = 1;
}
