/** A search by chance passes or fails by what it finds, not by how fast the computer is. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { searchFor } from '../support/search.js';

const soon = 20;

describe('a search by chance', () => {
  it('tries at least once, also where that takes longer than the search may', async () => {
    let tried = 0;
    const slow = fc.asyncProperty(fc.nat(), async () => {
      await sleep(soon * 3);
      tried += 1;
    });
    await searchFor(slow, {}, soon);
    expect(tried).to.be.at.least(1);
  });

  for (const afterMs of [0, soon * 3]) {
    it(`fails with what it found, after ${afterMs} ms`, async () => {
      const faulty = fc.asyncProperty(fc.nat(), async (n) => {
        await sleep(afterMs);
        expect(n).to.equal(-1);
      });
      const error = await searchFor(faulty, {}, soon).catch((thrown: Error) => thrown);
      expect((error as Error).message).to.include('Counterexample');
    });
  }
});
