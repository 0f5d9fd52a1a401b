/** What it costs that a store takes one write a second of a document, as Firestore may: in virtual time, at Google's pace. */
import { playsWith, seeds } from '../simulation/quick-plays.js';
import type { Measurement } from './figures.js';

export const quickWrites: Measurement = {
  name: 'quick-writes',
  title: 'A store that takes one write a second of a document (virtual time)',
  mostSeconds: 300,
  async *measure(say) {
    const usual = await playsWith();
    for (const are of ['ABORTED', 'RESOURCE_EXHAUSTED'] as const) {
      const { seconds, faults } = await playsWith([{ kind: 'quick writes', are }]);
      for (const fault of faults) say(fault);
      yield* [
        {
          name: `a bootstrap where quick writes are ${are}, the mean of ${seeds.length}`,
          value: seconds / seeds.length,
          unit: 's',
          baseline: { name: 'where none is refused', value: usual.seconds / seeds.length, unit: 's' },
          aim: 1.1,
        },
        { name: `where quick writes are ${are}: laws broken`, value: faults.length, unit: '' },
      ];
    }
  },
};
