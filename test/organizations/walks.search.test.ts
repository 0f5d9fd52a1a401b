/** Nobody gains a right that nobody gave them: walks at random through the API, for a short time. */
import fc from 'fast-check';
import { createIssuer, type Issuer } from '../http/issuer.js';
import { bySeed, searchFor, searchMs } from '../support/search.js';
import { createWalks, settings, type Walks, walk } from './walks.js';

describe('people at random in the API of organizations', () => {
  let issuer: Issuer;
  let walks: Walks;
  before(async () => {
    issuer = await createIssuer();
    walks = await createWalks(issuer, 'http');
  });
  after(() => {
    walks.close();
    issuer.close();
  });

  it(`gain no right that nobody gave them, by any setting of creators and consent ${bySeed}`, async function () {
    this.timeout(searchMs + 240_000);
    const anySetting = fc.constantFrom(...settings);
    await searchFor(
      fc.asyncProperty(anySetting, walk, async (setting, steps) => void (await walks.play(setting, steps))),
    );
  });
});
