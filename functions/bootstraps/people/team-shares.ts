/** Shares a bootstrap with a team, and takes that back. */
import { Problem } from '../../../shared/problems.js';
import type { Context } from '../../context.js';
import type { BootstrapRecord, StoredBootstrap } from '../../engine/record/documents.js';
import type { AnyStep } from '../../engine/step.js';
import { readLivingHolder } from '../../organizations/ownership.js';
import { alter } from '../alter.js';
import { ofTeams, some } from './team-people.js';
import { roleSteps } from './team-roles.js';

/** Each is asked at each request for the bootstrap. */
const mostTeams = 5;

const refused = (message: string): Problem =>
  new Problem('bad-input', `team ${message}`, { errors: [{ path: 'team', message }] });

type Next = (context: Context, record: BootstrapRecord, team: number) => Promise<number[] | undefined>;

/** `next`: the teams that it is shared with then. Undefined: nothing changes. */
const changing =
  (verb: 'share' | 'unshare', next: Next) =>
  (context: Context, steps: readonly AnyStep[], id: string, actor: string, team: number): Promise<StoredBootstrap> =>
    alter(context, steps, id, { actor, action: `${verb} with team ${team}`, shownBy: roleSteps }, async (record) => {
      const teams = await next(context, record, team);
      if (teams === undefined) return undefined;
      const sharedTeams = some(teams);
      const { fields, writes } = await ofTeams(context, { ...record, sharedTeams });
      return { fields: { sharedTeams, ...fields }, writes };
    });

/** If it is shared already, nothing changes. The members are those at the moment of the commit. */
export const shareWithTeam = changing('share', async (context, { team: own, sharedTeams = [] }, team) => {
  if (team === own) throw refused('is the one that it belongs to');
  if (sharedTeams.includes(team)) return undefined;
  if (sharedTeams.length >= mostTeams) throw refused(`would be one too many: it is shared with ${mostTeams} teams`);
  await readLivingHolder(context, team);
  return [...sharedTeams, team];
});

/** If it is not shared with the team, nothing changes. */
export const unshareWithTeam = changing('unshare', async (_context, { sharedTeams = [] }, team) =>
  sharedTeams.includes(team) ? sharedTeams.filter((each) => each !== team) : undefined,
);
