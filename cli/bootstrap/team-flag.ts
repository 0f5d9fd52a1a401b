/** The number of a team in a flag. */
import { TeamIdText } from '../../shared/organization/team-id.js';
import type { Fault } from '../../shared/problems.js';
import type { CommandContext } from '../frame/command.js';
import { refusal } from '../frame/required.js';

type Flagged = Pick<CommandContext, 'word' | 'faults'>;
type Name = 'team' | 'with-team';

/** Undefined: not given, or no number of a team. */
export const teamIn = (call: Pick<CommandContext, 'word'>, name: Name = 'team'): number | undefined =>
  TeamIdText.safeParse(call.word(name)?.text).data;

export function teamFaults(call: Flagged, name: Name = 'team'): Fault[] {
  const word = call.word(name);
  if (word === undefined || teamIn(call, name) !== undefined) return [];
  return [{ path: `--${name}`, message: `must be the number of a team, not ${JSON.stringify(word.text)}` }];
}

/** Undefined: not given. Throws all faults at once. */
export function teamOf(call: Flagged, name: Name = 'team'): number | undefined {
  const faults = [...call.faults, ...teamFaults(call, name)];
  if (faults.length > 0) throw refusal(faults);
  return teamIn(call, name);
}
