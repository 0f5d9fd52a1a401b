/** The API and its model, on Firestore's emulator. */
import fc from 'fast-check';
import { createIssuer, type Issuer } from '../http/issuer.js';
import { needFirestoreEmulator, openEmulatedStore } from '../support/emulators.js';
import { bySeed, seed } from '../support/search.js';
import { compareWithModel, modes } from './against-model.js';

describe('the organization API on Firestore and its model', () => {
  let issuer: Issuer;
  let host: string;
  before(async function () {
    host = await needFirestoreEmulator(this);
    issuer = await createIssuer();
  });
  after(() => issuer?.close());

  for (const mode of modes) {
    it(`agree on every reply and on what stands, ${mode.title} ${bySeed}`, async function () {
      this.timeout(240_000);
      await compareWithModel(
        issuer,
        () => openEmulatedStore(host).store,
        mode,
        (property) => fc.assert(property, { seed, numRuns: 3, endOnFailure: true }),
      );
    });
  }
});
