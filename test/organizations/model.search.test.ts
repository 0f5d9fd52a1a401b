/** The API and its model, on the store in memory. */
import { createMemoryStore } from '../../local/functions/memory-store.js';
import { createIssuer, type Issuer } from '../http/issuer.js';
import { bySeed, searchFor, searchMs } from '../support/search.js';
import { compareWithModel, modes } from './against-model.js';

describe('the organization API and its model', () => {
  let issuer: Issuer;
  before(async () => {
    issuer = await createIssuer();
  });
  after(() => issuer.close());

  for (const mode of modes) {
    it(`agree on every reply and on what stands, ${mode.title} ${bySeed}`, async function () {
      this.timeout(searchMs + 240_000);
      await compareWithModel(issuer, createMemoryStore, mode, searchFor);
    });
  }
});
