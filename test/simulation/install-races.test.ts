/** Plays of installs in which two things meet that hardly ever do, each once. Nights play them under more seeds. */
import { expect } from 'chai';
import { playBootstraps } from './bootstraps.js';
import { installRaces } from './meetings.js';

describe('installs in which things meet', () => {
  for (const [what, items, [seed]] of installRaces) {
    it(what, async () => {
      const { faults } = await playBootstraps(seed, items);
      expect(faults).to.deep.equal([]);
    }).timeout(60_000);
  }
});
