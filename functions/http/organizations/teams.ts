/** Handles the routes of teams and their migration. */

import { organizationRoutes as routes } from '../../../shared/organization/routes.js';
import type { Detached, MigrationReply, Team } from '../../../shared/organization/team.js';
import type { Context } from '../../context.js';
import { detachTeam } from '../../organizations/detachment.js';
import type { Added } from '../../organizations/members.js';
import { migrateTeam, previewMigration } from '../../organizations/migration.js';
import { addTeamMember, listTeamMembers, removeTeamMember } from '../../organizations/team-members.js';
import { createTeam, getTeam, listTeams } from '../../organizations/teams.js';
import type { KeepingHandlers } from '../idempotency.js';
import type { AnswerInPages } from '../paging.js';
import type { Answer } from '../reply.js';

type TeamRoutes = Pick<
  typeof routes,
  | 'createTeam'
  | 'listTeams'
  | 'getTeam'
  | 'listTeamMembers'
  | 'addTeamMember'
  | 'removeTeamMember'
  | 'previewMigration'
  | 'migrateTeam'
  | 'detachTeam'
>;

export const addedAnswer = ({ member, added }: Added): Answer => ({ status: added ? 201 : 200, body: member });
const createdAnswer = (team: Team): Answer => ({
  status: 201,
  headers: { location: `/teams/${team.teamId}` },
  body: team,
});
const detachedAnswer = (reply: Detached): Answer => ({ status: 200, body: reply });
const migratedAnswer = (reply: MigrationReply): Answer => ({ status: 200, body: reply });

export const teamHandlers = (context: Context, answerInPages: AnswerInPages): KeepingHandlers<TeamRoutes> => ({
  createTeam: async ({ caller, body }, keep) =>
    createdAnswer(await createTeam(context, caller, body, (team) => keep(createdAnswer(team)))),

  listTeams: (call) => answerInPages(routes.listTeams, call, (page) => listTeams(context, call.caller, page)),

  getTeam: async ({ caller, params }) => ({ status: 200, body: await getTeam(context, caller, params.teamId) }),

  listTeamMembers: (call) =>
    answerInPages(routes.listTeamMembers, call, (page) =>
      listTeamMembers(context, call.caller, call.params.teamId, page),
    ),

  addTeamMember: async ({ caller, params, body }, keep) =>
    addedAnswer(await addTeamMember(context, caller, params.teamId, body, (result) => keep(addedAnswer(result)))),

  async removeTeamMember({ caller, params: { teamId, email } }) {
    await removeTeamMember(context, caller, teamId, email);
    return { status: 204 };
  },

  async previewMigration({ caller, params: { teamId }, query: { organizationId } }) {
    const { preview, tag } = await previewMigration(context, caller, teamId, organizationId);
    return { status: 200, headers: { etag: tag }, body: preview };
  },

  async migrateTeam({ caller, params: { teamId }, headers, body }, keep) {
    const asked = { ...body, teamId, ifMatch: headers['if-match'] };
    return migratedAnswer(await migrateTeam(context, caller, asked, (reply) => keep(migratedAnswer(reply))));
  },

  detachTeam: async ({ caller, params: { teamId } }, keep) =>
    detachedAnswer(await detachTeam(context, caller, teamId, (reply) => keep(detachedAnswer(reply)))),
});
