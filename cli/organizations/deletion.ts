/** Asks before something is deleted, and says how to take it back. */
import { restorableDays } from '../../shared/organization/organization.js';
import { Problem } from '../../shared/problems.js';
import type { CommandContext } from '../frame/command.js';
import { confirm } from '../frame/confirm.js';
import { printable } from '../frame/output.js';

export async function agreeToDelete(call: CommandContext, what: string): Promise<void> {
  if (call.has('yes') || (await confirm(`Delete ${printable(what)}?`, call))) return;
  throw new Problem('bad-input', `${what} is not deleted; nothing has changed.`);
}

export const deletedText = (what: string, command: string): string =>
  `${printable(what)} is deleted. Within ${restorableDays} days, this takes it back: ${command}`;
