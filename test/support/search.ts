/** What all searches by chance share: how long they may take, and a seed that their titles name, by which a failure comes again. */

import fc from 'fast-check';

/** PLINTH_TEST_SECONDS for each search; default 3. */
export const searchMs = Number(process.env['PLINTH_TEST_SECONDS'] ?? 3) * 1000;

export const seed = Number(process.env['PLINTH_TEST_SEED'] ?? Date.now() % 2 ** 31);

/** Of what a property says when it fails; it may show a whole world. */
const saidCharacters = 3000;

/** For the title of a test. */
export const bySeed = `(PLINTH_TEST_SEED=${seed})`;

/**
 * Tries the property once, however long that takes on a slow computer, and then until the time is over. One that fails is made
 * smaller within the same time.
 */
export async function searchFor<T>(
  property: fc.IRawProperty<T>,
  more: fc.Parameters<T> = {},
  forMs = searchMs,
): Promise<void> {
  await fc.assert(property, { seed, ...more, numRuns: 1 });
  await fc.assert(property, {
    seed: seed + 1,
    ...more,
    numRuns: 1_000_000,
    interruptAfterTimeLimit: forMs,
    // That the time was over before there was another one is no fault.
    reporter(details) {
      if (!details.failed || details.counterexample === null) return;
      const { errorInstance: cause } = details;
      const said = cause instanceof Error ? cause.message.slice(0, saidCharacters) : String(cause);
      throw new Error(`${said}\n${fc.defaultReportMessage(details)}`, { cause });
    },
  });
}

/** Whether a round of a search is to begin: `fewest` always, more while time lasts. */
export function createRounds(fewest: number, forMs = searchMs): () => boolean {
  const until = Date.now() + forMs;
  let begun = 0;
  return () => begun++ < fewest || Date.now() < until;
}
