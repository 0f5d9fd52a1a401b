/** Options of a test that are right: throws all faults as one problem. */
import type { GivenFlags } from '../../shared/bootstrap/options.js';
import { type CheckedOptions, checkOptions, refusalOf } from '../../shared/bootstrap/rules.js';

export function acceptOptions(
  given: GivenFlags,
  how: { readonly strict?: boolean | undefined } = {},
): Omit<CheckedOptions, 'faults'> {
  const { faults, ...checked } = checkOptions(given, how);
  if (faults.length > 0) throw refusalOf(faults);
  return checked;
}
