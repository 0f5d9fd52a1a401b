/** A time limit that is joined with other signals, and that nobody holds. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { timeLimit } from '../../shared/time-limit.js';

describe('a time limit', () => {
  it('comes also where it is joined with others, whatever the garbage collector does meanwhile', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const heard = new Promise<void>((resolve) => {
      const joined = AbortSignal.any([timeLimit(300), new AbortController().signal]);
      joined.addEventListener('abort', () => resolve());
    });
    for (let turn = 0; turn < 5; turn++) {
      collect();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await heard;
  });
});
