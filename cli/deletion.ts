/** Asks before something is deleted, and says how to take it back. */
import { restorableDays } from '../shared/organization/organization.js';
import { type Fault, Problem } from '../shared/problems.js';
import type { Call } from './frame/command.js';
import { canAsk, confirm } from './frame/confirm.js';
import { printable } from './frame/output.js';

/** The fault where nobody can be asked and no --yes was given. */
export const unasked = (call: Call): readonly Fault[] =>
  call.has('yes') || canAsk(call.io)
    ? []
    : [{ path: '--yes', message: 'is needed here, as there is no terminal to ask on' }];

export async function agreeToDelete(call: Call, what: string): Promise<void> {
  if (call.has('yes') || (await confirm(`Delete ${printable(what)}?`, call))) return;
  throw new Problem('bad-input', `${what} is not deleted; nothing has changed.`);
}

export const deletedText = (what: string, command: string): string =>
  `${printable(what)} is deleted. Within ${restorableDays} days, this takes it back: ${command}`;
