import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createFirestoreStore } from '../../functions/store/firestore.js';
import { Conflict } from '../../functions/store/store.js';
import { type Emulator, startEmulator } from '../../local/emulators/emulators.js';
import { storeConformance } from './conformance.js';

describe('the Firestore store, on the emulator', () => {
  let emulator: Emulator | undefined;
  before(async function () {
    this.timeout(240_000);
    emulator = await startEmulator('firestore');
  });
  after(() => emulator?.close());

  storeConformance(async () =>
    createFirestoreStore({
      // The cheapest isolation: nothing is shared between projects.
      project: `store-${randomUUID().slice(0, 8)}`,
      serviceAccount: 'default',
      firestore: { database: '(default)', emulatorHost: emulator?.host ?? '' },
    }),
  );

  it('takes a transaction that Firestore gave up while it read for a lost race, not for a fault', async () => {
    const store = createFirestoreStore({
      project: `store-${randomUUID().slice(0, 8)}`,
      serviceAccount: 'default',
      firestore: { database: '(default)', emulatorHost: emulator?.host ?? '' },
    });
    // As the client throws it out of a read; so it was seen under load, and no test brings it about at will.
    const gaveUp = Object.assign(new Error('3 INVALID_ARGUMENT: Transaction is invalid or closed.'), { code: 3 });
    const thrown = await store
      .transaction(() => Promise.reject(gaveUp))
      .catch((error: unknown) => error)
      .finally(() => store.close());
    expect(thrown).to.be.instanceOf(Conflict);
  });
});
