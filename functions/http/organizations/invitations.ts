/** Handles the routes of invitations. */
import { organizationRoutes as routes } from '../../../shared/organization/routes.js';
import type { Context } from '../../context.js';
import {
  acceptInvitation,
  declineInvitation,
  inviteMembers,
  listInvitations,
  listOwnInvitations,
  resendInvitation,
  revokeInvitation,
} from '../../organizations/invitations.js';
import type { KeepingHandlers } from '../idempotency.js';
import type { AnswerInPages } from '../paging.js';
import { addedAnswer, okAnswer } from './teams.js';

type InvitationRoutes = Pick<
  typeof routes,
  | 'inviteMembers'
  | 'listInvitations'
  | 'resendInvitation'
  | 'revokeInvitation'
  | 'listOwnInvitations'
  | 'acceptInvitation'
  | 'declineInvitation'
>;

export const invitationHandlers = (
  context: Context,
  answerInPages: AnswerInPages,
): KeepingHandlers<InvitationRoutes> => ({
  inviteMembers: async ({ caller, params: { organizationId }, body: { members } }, keep) =>
    okAnswer(await inviteMembers(context, caller, organizationId, members, (result) => keep(okAnswer(result)))),

  listInvitations: (call) =>
    answerInPages(routes.listInvitations, call, (page) =>
      listInvitations(context, call.caller, call.params.organizationId, page),
    ),

  resendInvitation: async ({ caller, params: { organizationId, email } }, keep) =>
    okAnswer(await resendInvitation(context, caller, organizationId, email, (result) => keep(okAnswer(result)))),

  async revokeInvitation({ caller, params: { organizationId, email } }) {
    await revokeInvitation(context, caller, organizationId, email);
    return { status: 204 };
  },

  listOwnInvitations: (call) =>
    answerInPages(routes.listOwnInvitations, call, (page) => listOwnInvitations(context, call.caller, page)),

  acceptInvitation: async ({ caller, params: { organizationId } }, keep) =>
    addedAnswer(await acceptInvitation(context, caller, organizationId, (result) => keep(addedAnswer(result)))),

  async declineInvitation({ caller, params: { organizationId } }) {
    await declineInvitation(context, caller, organizationId);
    return { status: 204 };
  },
});
