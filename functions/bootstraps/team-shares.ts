/** Shares a bootstrap with a team, and takes that back. */
import { Problem } from '../../shared/problems.js';
import type { Context } from '../context.js';
import type { BootstrapRecord, StoredBootstrap } from '../engine/record/documents.js';
import type { AnyStep } from '../engine/step.js';
import { holdWrite, readLivingHolder } from '../organizations/ownership.js';
import { alter } from './alter.js';
import { holdersOf, peopleFields } from './team-people.js';
import { roleSteps } from './team-roles.js';

/** Each is asked at each request for the bootstrap. */
const mostTeams = 5;

const refused = (message: string): Problem =>
  new Problem('bad-input', `team ${message}`, { errors: [{ path: 'team', message }] });

/** If it is shared already, nothing changes. The members are those at the moment of the commit. */
export const shareWithTeam = (
  context: Context,
  steps: readonly AnyStep[],
  id: string,
  actor: string,
  team: number,
): Promise<StoredBootstrap> =>
  alter(context, steps, id, { actor, action: `share with team ${team}`, shownBy: roleSteps }, async (record) => {
    const { sharedTeams = [] } = record;
    if (team === record.team) throw refused('is the one that it belongs to');
    if (sharedTeams.includes(team)) return undefined;
    if (sharedTeams.length >= mostTeams) throw refused(`would be one too many: it is shared with ${mostTeams} teams`);
    await readLivingHolder(context, team);
    return withTeams(context, record, [...sharedTeams, team]);
  });

/** If it is not shared with the team, nothing changes. */
export const unshareWithTeam = (
  context: Context,
  steps: readonly AnyStep[],
  id: string,
  actor: string,
  team: number,
): Promise<StoredBootstrap> =>
  alter(context, steps, id, { actor, action: `unshare with team ${team}`, shownBy: roleSteps }, async (record) => {
    const { sharedTeams = [] } = record;
    if (!sharedTeams.includes(team)) return undefined;
    return withTeams(
      context,
      record,
      sharedTeams.filter((each) => each !== team),
    );
  });

async function withTeams(context: Context, record: BootstrapRecord, teams: number[]) {
  const sharedTeams = teams.length === 0 ? undefined : teams;
  const { sharedTeams: _, ...rest } = record;
  const shared = { ...rest, ...(sharedTeams !== undefined && { sharedTeams }) };
  const holders = await holdersOf(context, shared);
  return {
    fields: { sharedTeams, ...peopleFields(context.config, shared, holders) },
    writes: holders.map((holder) => holdWrite(holder)),
  };
}
