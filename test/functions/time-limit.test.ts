/** A time limit that is joined with other signals, and that nobody holds. */
import { spawnSync } from 'node:child_process';
import { expect } from 'chai';

/** In a process of its own: in the one of the tests, the garbage collector has all of their heap to look through. */
const program = `
const { timeLimit } = await import(process.argv[1]);
const joined = AbortSignal.any([timeLimit(300), new AbortController().signal]);
joined.addEventListener('abort', () => process.stdout.write('heard'));
for (let turn = 0; turn < 5; turn++) {
  globalThis.gc();
  await new Promise((resolve) => setImmediate(resolve));
}
setTimeout(() => {}, 10_000).unref();
await new Promise((resolve) => setTimeout(resolve, 600));
`;

describe('a time limit', () => {
  it('comes also where it is joined with others, whatever the garbage collector does meanwhile', () => {
    const module = new URL('../../shared/time-limit.js', import.meta.url).href;
    const args = ['--expose-gc', '--input-type=module', '--eval', program, module];
    const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect(stdout, stderr).to.equal('heard');
  });
});
