/** The process of one-after-another.ts. Its argument is JSON: for each run the program and its arguments. It prints each end as JSON. */
import { pathToFileURL } from 'node:url';
import type { Ended, Run } from './one-after-another.js';

const runs = JSON.parse(process.argv[2] ?? '[]') as readonly Run[];
const print = process.stdout.write.bind(process.stdout);
let said = { stdout: '', stderr: '' };
for (const name of ['stdout', 'stderr'] as const) {
  process[name].write = (text: string | Uint8Array): boolean => {
    said[name] += text.toString();
    return true;
  };
}
const ended: Ended[] = [];
for (const [n, [program, args]] of runs.entries()) {
  said = { stdout: '', stderr: '' };
  process.exitCode = undefined;
  process.argv.splice(1, process.argv.length, program, ...args);
  // What it imports stays loaded. It is evaluated anew.
  await import(`${pathToFileURL(program).href}?run=${n}`);
  ended.push({ exitCode: process.exitCode ?? 0, ...said });
}
process.exitCode = 0;
print(JSON.stringify(ended));
