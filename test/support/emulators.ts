/**
 * The Firestore emulator that all tests of one root suite share (of the whole run; with files side by side, of one file):
 * started when the first one asks, ended after the last. Each test takes a project of its own in it, which is the cheapest
 * isolation.
 */
import { randomUUID } from 'node:crypto';
import { createFirestoreStore } from '../../functions/store/firestore.js';
import type { Store } from '../../functions/store/store.js';
import { type Emulator, startEmulator } from '../../local/emulators/emulators.js';

let starting: Promise<Emulator> | undefined;

/** For `before`. */
export async function needFirestoreEmulator(test: Mocha.Context): Promise<string> {
  test.timeout(90_000);
  if (starting === undefined) {
    starting = startEmulator('firestore');
    rootOf(test).afterAll(async () => {
      const ending = starting;
      starting = undefined;
      await (await ending)?.close();
    });
  }
  return (await starting).host;
}

function rootOf({ test }: Mocha.Context): Mocha.Suite {
  let suite = test?.parent;
  while (suite?.parent !== undefined) suite = suite.parent;
  if (suite === undefined) throw new Error('Asked for outside of any suite.');
  return suite;
}

export interface EmulatedStore {
  readonly store: Store;
  readonly project: string;
}

/** Empty, and seen by nobody else. */
export function openEmulatedStore(emulatorHost: string): EmulatedStore {
  const project = `test-${randomUUID().slice(0, 12)}`;
  const firestore = { database: '(default)', emulatorHost };
  return { project, store: createFirestoreStore({ project, serviceAccount: 'default', firestore }) };
}
