/** Whether anybody waits for keys: a bootstrap where the cloud is as slow as the real one and keys are made, none taken from a pool. */
import { steps } from '../functions/steps/index.js';
import { createBench } from './bootstrap.js';
import type { Measurement } from './figures.js';
import { drawTimeline } from './timeline.js';

const isSecrets = (id: string): boolean => id.split(':')[0] === 'secrets';

export const keys: Measurement = {
  name: 'keys',
  title: "A bootstrap at the cloud's own pace, with keys that are made (factor 1)",
  mostSeconds: 420,
  async *measure(say) {
    const bench = await createBench({ timeFactor: 1, keys: 'real' });
    try {
      const bootstrapped = await bench.bootstrap('keys');
      const title = "A bootstrap at Google's pace. Red: what decided its end. Grey: ready, and not begun";
      const bars = await drawTimeline(bench, bootstrapped, steps, { name: 'keys', title, say });
      const path = bars.filter(({ isCritical }) => isCritical).map(({ id }) => id);
      say(`the critical path: ${path.join(' → ')}`);
      const secretsAt = Math.max(...bars.filter(({ id }) => isSecrets(id)).map(({ endedAt }) => endedAt));
      // The files need the secrets, and much else that takes longer.
      const filesAt = Math.min(...bars.filter(({ id }) => id.startsWith('config')).map(({ startedAt }) => startedAt));
      yield* [
        {
          name: 'secrets are ready, after the beginning',
          value: secretsAt / 1000,
          unit: 's',
          baseline: { name: 'the files that need them begin', value: filesAt / 1000, unit: 's' },
          aim: 1,
        },
        {
          name: 'instances of "Secrets" on the critical path',
          value: path.filter(isSecrets).length,
          unit: '',
          baseline: { name: 'instances on it', value: path.length, unit: '' },
          aim: 0,
        },
      ];
    } finally {
      await bench.close();
    }
  },
};
