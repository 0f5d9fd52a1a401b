/**
 * Faults that are known and not corrected yet. Their acts are left out, or what the judge says of them is passed over, so that
 * a seed can find others. To correct one: delete its entry, and see that the tests of this folder pass.
 */
import type { Act } from './plan.js';

interface KnownFault {
  readonly name: string;
  /** Acts that meet it. They are not drawn. */
  readonly acts?: (act: Act) => boolean;
  /** What the judge says where it shows. */
  readonly verdict?: RegExp;
}

export const knownFaults: readonly KnownFault[] = [];

export const isKnown = (act: Act): boolean => knownFaults.some(({ acts }) => acts?.(act) === true);

/** What is left of the judge's verdicts. */
export const unknownAmong = (verdicts: readonly string[]): readonly string[] =>
  verdicts.filter((each) => !knownFaults.some(({ verdict }) => verdict?.test(each) === true));
