/** What is measured on Google's emulators; without them its rows say so. */
import { emulatorMissing } from '../local/emulators/emulators.js';
import { part, type Row } from './figures.js';

/** What this machine lacks. Undefined: nothing. */
export const emulatorsMissing = (): string | undefined => emulatorMissing('firestore') ?? emulatorMissing('pubsub');

/** A part that needs them if this is its store. */
export async function* onEmulators(
  name: string,
  store: 'memory' | 'emulator' | undefined,
  measure: () => Promise<readonly Row[]>,
): AsyncGenerator<Row> {
  const why = store === 'emulator' ? emulatorsMissing() : undefined;
  if (why === undefined) yield* part(name, measure);
  else yield { name, why, kind: 'left out' };
}
