/** More seeds than a change is held up for: some hours of them, and all seeds of the plays that a change plays once. */
import { expect } from 'chai';
import { seed } from '../support/search.js';
import { bootstraps, installs, playBootstraps } from './bootstraps.js';
import { hunt, inWords } from './hunt.js';
import { installRaces, races } from './meetings.js';
import { organizations } from './organizations.js';
import { playsWith } from './quick-plays.js';

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

  for (const are of ['ABORTED', 'RESOURCE_EXHAUSTED'] as const) {
    it(`bootstraps lose nothing to ${are} of a slow store, and take a tenth longer at most`, async function () {
      this.timeout(600_000);
      const usual = await playsWith();
      const { seconds, faults } = await playsWith([{ kind: 'quick writes', are }]);
      expect([...usual.faults, ...faults]).to.deep.equal([]);
      expect(seconds / usual.seconds).to.be.within(1.001, 1.1);
    });
  }

  for (const [what, items, seeds] of [...races, ...installRaces]) {
    it(`${what}, by ${seeds.length} seeds`, async function () {
      this.timeout(600_000);
      for (const each of seeds) {
        const { faults } = await playBootstraps(each, items);
        expect(faults).to.deep.equal([]);
      }
    });
  }
});
