/**
 * Bundles the command line, so that it starts in the time of one file, and makes it executable. Part of `npm run build`, which
 * says where to and where it reads what the bundle was made of.
 */
import { writeFileSync } from 'node:fs';
import { bundleCli } from './cli-bundle.js';

const [outdir = '', inputsFile = ''] = process.argv.slice(2);
const { inputs } = await bundleCli(outdir);
writeFileSync(inputsFile, JSON.stringify(inputs));
