/** Whole bootstraps with their removal, in one process, seed after seed. Nights play more. */
import { expect } from 'chai';
import { bootstraps } from './bootstraps.js';
import { firstSeed, hunt, inWords } from './hunt.js';

/** Each Node that is supported plays as many. */
const seeds = 30;

describe('whole bootstraps, whoever goes on, dies or fails at every moment', () => {
  it(`come to their end under ${seeds} seeds, and nothing is left (PLINTH_TEST_SEED=${firstSeed})`, async function () {
    this.timeout(900_000);
    const hunted = await hunt(bootstraps, { from: firstSeed, goesOn: (played) => played < seeds });
    if (hunted.found !== undefined) expect.fail(inWords(bootstraps, hunted.found));
  });
});
