/** More seeds than a change is held up for: some hours of them. */
import { expect } from 'chai';
import { seed } from '../support/search.js';
import { bootstraps, installs } from './bootstraps.js';
import { hunt, inWords } from './hunt.js';
import { organizations } from './organizations.js';

describe('simulated worlds of a night', () => {
  for (const [simulation, minutes] of [
    [organizations, 15],
    [bootstraps, 45],
    [installs, 45],
  ] as const) {
    it(`${simulation.name}: nothing is wrong for ${minutes} minutes (PLINTH_TEST_SEED=${seed})`, async function () {
      this.timeout((minutes + 10) * 60_000);
      const until = performance.now() + minutes * 60_000;
      const { found, seeds } = await hunt(simulation, { from: seed, goesOn: () => performance.now() < until });
      console.log(`${seeds} seeds of ${simulation.name}`);
      if (found !== undefined) expect.fail(inWords(simulation, found));
    });
  }
});
