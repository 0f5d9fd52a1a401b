/** Settings of the store. */
import { hostPort, ifSet, optional, type Rows, setting, text, type Values } from '../setting.js';

export const storeSettings = {
  PLINTH_FIRESTORE_DATABASE: setting(text, 'Id of the Firestore database.', '(default)'),
  FIRESTORE_EMULATOR_HOST: optional(hostPort, "host:port of Firestore's emulator, in its place."),
} satisfies Rows;

export interface StoreConfig {
  readonly firestore: { readonly database: string; readonly emulatorHost?: string };
}

export const readStore = (read: Values<typeof storeSettings>): StoreConfig => ({
  firestore: {
    database: read.PLINTH_FIRESTORE_DATABASE,
    ...ifSet('emulatorHost', read.FIRESTORE_EMULATOR_HOST),
  },
});
