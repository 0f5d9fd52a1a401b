/** More seeds of organizations than a change is held up for. */
import { expect } from 'chai';
import { seed } from '../support/search.js';
import { hunt, inWords } from './hunt.js';
import { organizations } from './organizations.js';

const seeds = 20_000;

describe('organizations, whoever goes on at every moment of a night', () => {
  it(`keep their rules under ${seeds} seeds (PLINTH_TEST_SEED=${seed})`, async function () {
    this.timeout(1_800_000);
    const hunted = await hunt(organizations, { from: seed, goesOn: (played) => played < seeds });
    if (hunted.found !== undefined) expect.fail(inWords(organizations, hunted.found));
  });
});
