/** Makes dist/bundles/<function>, what is deployed of each function (`npm run build:functions`); says how large each is. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { functionNames } from '../../shared/names.js';
import { releaseSum, sumOfRelease } from '../../shared/release.js';
import { bundleFunction } from './function-bundle.js';

const sum = join('dist', 'release', releaseSum);
const releaseSha256 = existsSync(sum) ? sumOfRelease(readFileSync(sum, 'utf8')) : undefined;
if (releaseSha256 === undefined) {
  console.log(
    'No executable of this version is built (npm run build:binary): machines will need PLINTH_RELEASE_SHA256 or --remote-cli-binary.',
  );
}
for (const [name, functionName] of Object.entries(functionNames)) {
  const { folder, bytes } = await bundleFunction(name as keyof typeof functionNames, functionName, {
    into: join('dist', 'bundles'),
    releaseSha256,
  });
  console.log(
    `${folder.padEnd(32)} ${Math.round(bytes / 1024)
      .toLocaleString('en')
      .padStart(7)} KiB`,
  );
}
