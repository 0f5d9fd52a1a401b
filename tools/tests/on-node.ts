/**
 * Runs the tests on another Node than the one that is installed: `npm run test:node -- 24 [TIER] [options of mocha, or files]`.
 * Without a tier, or files, these are the ones that a Node may change. What tests start runs on it as well, by its name (`node`,
 * `#!/usr/bin/env node`) or by the path of the process.
 */
import { spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nodeForLinux, nodePurposes, nodeVersion } from '../bundle/node-for-linux.js';
import { tiers } from './tiers.js';

const [major, ...given] = process.argv.slice(2);
const args = Object.hasOwn(tiers, given[0] ?? '') ? given : ['runtime', ...given];
const purpose = nodePurposes.find((each) => nodeVersion(each).split('.')[0] === major);
if (purpose === undefined) {
  const known = nodePurposes.map((each) => nodeVersion(each).split('.')[0]).sort();
  console.error(`Tests run on Node ${known.join(', ')}: name one of these, and then what is for mocha.`);
  process.exit(2);
}
const node = nodeForLinux(purpose);
console.log(`On Node ${nodeVersion(purpose)}`);
const child = spawn(node, [fileURLToPath(new URL('main.js', import.meta.url)), ...args], {
  stdio: 'inherit',
  env: {
    ...process.env,
    PATH: `${dirname(node)}:${process.env['PATH'] ?? ''}`,
    PLINTH_TEST_NODE: nodeVersion(purpose),
  },
});
// A terminal sends Ctrl-C to both, and mocha takes a second one for impatience.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => child.kill('SIGTERM'));
child.once('exit', (code) => {
  process.exitCode = code ?? 1;
});
