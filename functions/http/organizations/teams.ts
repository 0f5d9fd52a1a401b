/** The routes of teams, and of all that moves them. */
import { timeOf } from '../../../shared/bootstrap/duration.js';
import { organizationRoutes as routes } from '../../../shared/organization/routes.js';
import type { Team } from '../../../shared/organization/team.js';
import type { Context } from '../../context.js';
import { setTeamCeilings } from '../../organizations/ceilings.js';
import { type EventFilter, listTeamEvents } from '../../organizations/events/events.js';
import { addTeamMembers } from '../../organizations/members/many-members.js';
import { detachTeam } from '../../organizations/moves/detachment.js';
import { migrateTeam, previewMigration } from '../../organizations/moves/migration.js';
import {
  acceptTransfer,
  listTransfers,
  type Proposed,
  proposeTransfer,
  refuseTransfer,
} from '../../organizations/moves/transfers.js';
import { previewUndo, undoMigration } from '../../organizations/moves/undo.js';
import { deleteTeam, renameTeam, restoreTeam } from '../../organizations/teams/life.js';
import {
  addTeamMember,
  listTeamMembers,
  removeTeamMember,
  setTeamMemberRole,
} from '../../organizations/teams/members.js';
import { createTeam, getTeam, listTeams } from '../../organizations/teams/teams.js';
import type { AnswerInPages } from '../paging.js';
import type { Answer } from '../reply.js';
import { added, itself, nothing, type Operations, ok, operation, preview } from './operations.js';

type TeamRoutes = Pick<
  typeof routes,
  | 'createTeam'
  | 'listTeams'
  | 'getTeam'
  | 'renameTeam'
  | 'setTeamCeilings'
  | 'deleteTeam'
  | 'restoreTeam'
  | 'addTeamMembers'
  | 'setTeamMemberRole'
  | 'listTeamMembers'
  | 'listTeamEvents'
  | 'addTeamMember'
  | 'removeTeamMember'
  | 'previewMigration'
  | 'migrateTeam'
  | 'detachTeam'
>;

type MoveRoutes = Pick<
  typeof routes,
  'proposeTransfer' | 'listTransfers' | 'acceptTransfer' | 'refuseTransfer' | 'previewUndo' | 'undoMigration'
>;

const created = (team: Team): Answer => ({ status: 201, headers: { location: `/teams/${team.teamId}` }, body: team });
const proposed = (result: Proposed): Answer =>
  'moved' in result ? ok(result.moved) : { status: 201, body: result.pending };

/** Durations become times once, so that all pages and all calls after a link have the same bounds. */
export const timesOf = <T extends Pick<EventFilter, 'since' | 'until'>>({ clock }: Context, given: T): T => {
  const [since, until] = [given.since, given.until].map((text) => text && timeOf(text, 'ago', clock.now()));
  return { ...given, since, until };
};
/** The filters that were given, which the link to the next page repeats. */
export const filterOf = ({ actor, action, member, teamId, since, until }: EventFilter): Record<string, string> =>
  Object.fromEntries(
    Object.entries({ actor, action, member, teamId, since, until }).flatMap(([name, each]) =>
      each === undefined ? [] : [[name, String(each)] as const],
    ),
  );
/** What the link to the next page repeats. */
export const keptOf = ({ deleted }: { readonly deleted: boolean }): Record<string, string> =>
  deleted ? { deleted: 'true' } : {};

export const teamOperations = (context: Context, answerInPages: AnswerInPages): Operations<TeamRoutes> => ({
  createTeam: operation(created, (request, { caller, body }) => createTeam(request, caller, body)),

  listTeams: operation(itself, (_, call) =>
    answerInPages(routes.listTeams, { ...call, kept: keptOf(call.query) }, (page) =>
      listTeams(context, call.caller, call.query.deleted, page),
    ),
  ),

  getTeam: operation(ok, (request, { caller, params }) => getTeam(request, caller, params.teamId)),

  renameTeam: operation(ok, (request, { caller, params: { teamId }, body: { name } }) =>
    renameTeam(request, caller, teamId, name),
  ),

  setTeamCeilings: operation(ok, (request, { caller, params: { teamId }, body }) =>
    setTeamCeilings(request, caller, teamId, body),
  ),

  deleteTeam: operation(ok, (request, { caller, params: { teamId } }) => deleteTeam(request, caller, teamId)),

  restoreTeam: operation(ok, (request, { caller, params: { teamId } }) => restoreTeam(request, caller, teamId)),

  addTeamMembers: operation(ok, (request, { caller, params: { teamId }, body: { members } }) =>
    addTeamMembers(request, caller, teamId, members),
  ),

  setTeamMemberRole: operation(ok, (request, { caller, params: { teamId, email }, body: { role } }) =>
    setTeamMemberRole(request, caller, teamId, { email, role }),
  ),

  listTeamMembers: operation(itself, (_, call) =>
    answerInPages(routes.listTeamMembers, call, (page) =>
      listTeamMembers(context, call.caller, call.params.teamId, page),
    ),
  ),

  listTeamEvents: operation(itself, (_, call) => {
    const filter = timesOf(context, call.query);
    return answerInPages(routes.listTeamEvents, { ...call, kept: filterOf(filter) }, (page) =>
      listTeamEvents(context, call.caller, call.params.teamId, page, filter),
    );
  }),

  addTeamMember: operation(added, (request, { caller, params: { teamId }, body }) =>
    addTeamMember(request, caller, teamId, body),
  ),

  removeTeamMember: operation(nothing, (request, { caller, params: { teamId, email }, query: { why } }) =>
    removeTeamMember(request, caller, teamId, { email, why }),
  ),

  previewMigration: operation(preview, (request, { caller, params: { teamId }, query: { organizationId } }) =>
    previewMigration(request, caller, teamId, organizationId),
  ),

  migrateTeam: operation(ok, (request, { caller, params: { teamId }, headers, body }) =>
    migrateTeam(request, caller, { ...body, teamId, ifMatch: headers['if-match'] }),
  ),

  detachTeam: operation(ok, (request, { caller, params: { teamId } }) => detachTeam(request, caller, teamId)),
});

export const moveOperations = (context: Context, answerInPages: AnswerInPages): Operations<MoveRoutes> => ({
  proposeTransfer: operation(proposed, (request, { caller, params: { teamId }, body }) =>
    proposeTransfer(request, caller, { teamId, ...body }),
  ),

  listTransfers: operation(itself, (_, call) =>
    answerInPages(routes.listTransfers, call, (page) => listTransfers(context, call.caller, call.params.teamId, page)),
  ),

  acceptTransfer: operation(ok, (request, { caller, params }) => acceptTransfer(request, caller, params)),

  refuseTransfer: operation(nothing, (request, { caller, params }) => refuseTransfer(request, caller, params)),

  previewUndo: operation(preview, (request, { caller, params }) => previewUndo(request, caller, params)),

  undoMigration: operation(ok, (request, { caller, params, headers }) =>
    undoMigration(request, caller, { ...params, ifMatch: headers['if-match'] }),
  ),
});
