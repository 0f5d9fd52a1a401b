/** Whether Google's emulators are here; without them the figures that need them are left out, and it is said. */
import { emulatorMissing } from '../local/emulators/emulators.js';

export const emulatorsMissing = (): string | undefined => emulatorMissing('firestore') ?? emulatorMissing('pubsub');
