/** Bootstraps at Google's pace, with a store that takes one write a second of a document: nothing is lost, and little time. */
import { expect } from 'chai';
import { playsWith, seeds } from './quick-plays.js';
import type { Refusal } from './quick-writes.js';

/** Nights and the bench play all. */
const some = seeds.filter((seed) => seed % 3 === 1);

const minutes = (count: number): number => count * 60_000;

describe("bootstraps at Google's pace, where the store takes one write a second of a document", () => {
  let usual: Awaited<ReturnType<typeof playsWith>>;
  before(async function () {
    this.timeout(minutes(10));
    usual = await playsWith([], some);
  });

  for (const are of ['ABORTED', 'RESOURCE_EXHAUSTED'] as const satisfies readonly Refusal[]) {
    it(`lose nothing to ${are}, and take a tenth longer at most`, async () => {
      const { seconds, faults } = await playsWith([{ kind: 'quick writes', are }], some);
      expect([...usual.faults, ...faults]).to.deep.equal([]);
      // Nothing at all would mean that nothing was refused.
      expect(seconds / usual.seconds).to.be.within(1.001, 1.1);
    }).timeout(minutes(10));
  }
});
