/** One refusal of Google's that passes at once is nobody's concern. */
import { Problem } from '../../shared/problems.js';
import type { Context } from '../context.js';

const hiccupSeconds = 0.5;

export interface Pausing {
  readonly context: Pick<Context, 'clock'>;
  readonly signal?: AbortSignal | undefined;
}

/** Asks once more after a moment, where Google did not answer as it should. */
export async function pastHiccup<T>(ask: () => Promise<T>, { context, signal }: Pausing): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'cloud-unavailable') throw error;
    await context.clock.wait(hiccupSeconds, signal);
    return ask();
  }
}
