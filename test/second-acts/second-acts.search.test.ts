/** A few second acts hold up a change: what they break, the change has broken. Nights play more. */
import { expect } from 'chai';
import { inWords } from '../simulation/hunt.js';
import { placesOf } from '../simulation/told.js';
import { bySeed, createRounds, seed } from '../support/search.js';
import { createSecondActs } from './second-acts.js';

const secondActs = createSecondActs({ machines: false });

describe('second acts: reruns, recoveries, edits, damaged files and kills, in any order', () => {
  after(() => secondActs.close());

  it(`end well, and change nothing that was not announced ${bySeed}`, async function () {
    this.timeout(1_800_000);
    const goesOn = createRounds(2);
    for (let at = seed; goesOn(); at += 1) {
      const told = await secondActs.play(at, placesOf(secondActs.size(at)));
      if (told.faults.length > 0) expect.fail(inWords(secondActs, { seed: at, without: [], told }));
    }
  });
});
