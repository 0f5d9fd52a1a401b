/** Nobody gains a right that nobody gave them: ten thousand walks at random through the operations of the API. */
import { expect } from 'chai';
import fc from 'fast-check';
import { createIssuer, type Issuer } from '../http/issuer.js';
import { bySeed, seed } from '../support/search.js';
import { createWalks, settings, type Walks, walk } from './walks.js';

const numRuns = 10_000;

describe('ten thousand walks of people in the API of organizations', () => {
  let issuer: Issuer;
  let walks: Walks;
  before(async () => {
    issuer = await createIssuer();
    walks = await createWalks(issuer, 'functions');
  });
  after(() => {
    walks.close();
    issuer.close();
  });

  it(`give nobody a right that nobody gave them ${bySeed}`, async function () {
    this.timeout(3_600_000);
    const played = new Map(settings.map((setting) => [setting, 0]));
    let done = 0;
    const anySetting = fc.constantFrom(...settings);
    const property = fc.asyncProperty(anySetting, walk, async (setting, steps) => {
      done += await walks.play(setting, steps);
      played.set(setting, (played.get(setting) ?? 0) + 1);
    });
    await fc.assert(property, { seed, numRuns });
    for (const [setting, count] of played) expect(count, JSON.stringify(setting)).to.be.above(numRuns / 20);
    expect(done, 'calls that changed something').to.be.above(numRuns * 5);
    console.log(`${numRuns} walks, ${done} calls that changed something`);
  });
});
