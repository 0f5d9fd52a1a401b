/** Bundles the command line over what tsc compiled, so that it starts in the time of one file, and makes it executable. Part of `npm run build`. */
import { join } from 'node:path';
import { bundleCli } from './cli-bundle.js';

await bundleCli(join('dist', 'cli'));
