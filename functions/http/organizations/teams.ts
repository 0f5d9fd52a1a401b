/** Handles the routes of teams and their migration. */

import { timeOf } from '../../../shared/bootstrap/duration.js';
import { organizationRoutes as routes } from '../../../shared/organization/routes.js';
import type { Team } from '../../../shared/organization/team.js';
import type { Context } from '../../context.js';
import { setTeamCeilings } from '../../organizations/ceilings.js';
import { detachTeam } from '../../organizations/detachment.js';
import { type EventFilter, listTeamEvents } from '../../organizations/events.js';
import { addTeamMembers } from '../../organizations/many-members.js';
import type { Added } from '../../organizations/members.js';
import { migrateTeam, previewMigration } from '../../organizations/migration.js';
import { deleteTeam, renameTeam, restoreTeam } from '../../organizations/team-life.js';
import {
  addTeamMember,
  listTeamMembers,
  removeTeamMember,
  setTeamMemberRole,
} from '../../organizations/team-members.js';
import { createTeam, getTeam, listTeams } from '../../organizations/teams.js';
import type { KeepingHandlers } from '../idempotency.js';
import type { AnswerInPages } from '../paging.js';
import type { Answer } from '../reply.js';

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

export const addedAnswer = ({ member, added }: Added): Answer => ({ status: added ? 201 : 200, body: member });
const createdAnswer = (team: Team): Answer => ({
  status: 201,
  headers: { location: `/teams/${team.teamId}` },
  body: team,
});
export const okAnswer = (body: unknown): Answer => ({ status: 200, body });
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

export const teamHandlers = (context: Context, answerInPages: AnswerInPages): KeepingHandlers<TeamRoutes> => ({
  createTeam: async ({ caller, body }, keep) =>
    createdAnswer(await createTeam(context, caller, body, (team) => keep(createdAnswer(team)))),

  listTeams: (call) =>
    answerInPages(routes.listTeams, { ...call, kept: keptOf(call.query) }, (page) =>
      listTeams(context, call.caller, call.query.deleted, page),
    ),

  getTeam: async ({ caller, params }) => ({ status: 200, body: await getTeam(context, caller, params.teamId) }),

  renameTeam: async ({ caller, params: { teamId }, body: { name } }) =>
    okAnswer(await renameTeam(context, caller, teamId, name)),

  setTeamCeilings: async ({ caller, params: { teamId }, body }) =>
    okAnswer(await setTeamCeilings(context, caller, teamId, body)),

  deleteTeam: async ({ caller, params: { teamId } }) => okAnswer(await deleteTeam(context, caller, teamId)),

  restoreTeam: async ({ caller, params: { teamId } }, keep) =>
    okAnswer(await restoreTeam(context, caller, teamId, (reply) => keep(okAnswer(reply)))),

  addTeamMembers: async ({ caller, params: { teamId }, body: { members } }, keep) =>
    okAnswer(await addTeamMembers(context, caller, teamId, members, (result) => keep(okAnswer(result)))),

  setTeamMemberRole: async ({ caller, params: { teamId, email }, body: { role } }) =>
    okAnswer(await setTeamMemberRole(context, caller, teamId, { email, role })),

  listTeamMembers: (call) =>
    answerInPages(routes.listTeamMembers, call, (page) =>
      listTeamMembers(context, call.caller, call.params.teamId, page),
    ),

  listTeamEvents: (call) => {
    const filter = timesOf(context, call.query);
    return answerInPages(routes.listTeamEvents, { ...call, kept: filterOf(filter) }, (page) =>
      listTeamEvents(context, call.caller, call.params.teamId, page, filter),
    );
  },

  addTeamMember: async ({ caller, params, body }, keep) =>
    addedAnswer(await addTeamMember(context, caller, params.teamId, body, (result) => keep(addedAnswer(result)))),

  async removeTeamMember({ caller, params: { teamId, email }, query: { why } }) {
    await removeTeamMember(context, caller, teamId, { email, why });
    return { status: 204 };
  },

  async previewMigration({ caller, params: { teamId }, query: { organizationId } }) {
    const { preview, tag } = await previewMigration(context, caller, teamId, organizationId);
    return { status: 200, headers: { etag: tag }, body: preview };
  },

  async migrateTeam({ caller, params: { teamId }, headers, body }, keep) {
    const asked = { ...body, teamId, ifMatch: headers['if-match'] };
    return okAnswer(await migrateTeam(context, caller, asked, (reply) => keep(okAnswer(reply))));
  },

  detachTeam: async ({ caller, params: { teamId } }, keep) =>
    okAnswer(await detachTeam(context, caller, teamId, (reply) => keep(okAnswer(reply)))),
});
