import { randomUUID } from 'node:crypto';
import { createFirestoreStore } from '../../functions/store/firestore.js';
import { type Emulator, emulatorMissing, startEmulator } from '../../local/emulators.js';
import { storeConformance } from './conformance.js';

describe('the Firestore store, on the emulator', () => {
  let emulator: Emulator | undefined;
  before(async function () {
    this.timeout(90_000);
    const missing = emulatorMissing('firestore');
    // CI has the emulator: a skip there would be a gap that nobody sees.
    if (missing !== undefined && process.env['CI'] !== 'true') this.skip();
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
});
