/** Whole bootstraps with their removal, in one process, seed after seed. Nights play more. */
import { bootstraps } from './bootstraps.js';
import { findsNothing, firstSeed } from './hunt.js';

const seeds = 8;

describe('whole bootstraps, whoever goes on, dies or fails at every moment', () => {
  it(`come to their end under ${seeds} seeds, and nothing is left (PLINTH_TEST_SEED=${firstSeed})`, async function () {
    this.timeout(900_000);
    await findsNothing(bootstraps, (played) => played < seeds);
  });
});
