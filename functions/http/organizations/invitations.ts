/** The routes of invitations. */
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
} from '../../organizations/members/invitations.js';
import type { AnswerInPages } from '../paging.js';
import { added, itself, nothing, type Operations, ok, operation } from './operations.js';

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

export const invitationOperations = (context: Context, answerInPages: AnswerInPages): Operations<InvitationRoutes> => ({
  inviteMembers: operation(ok, (request, { caller, params: { organizationId }, body: { members } }) =>
    inviteMembers(request, caller, organizationId, members),
  ),

  listInvitations: operation(itself, (_, call) =>
    answerInPages(routes.listInvitations, call, (page) =>
      listInvitations(context, call.caller, call.params.organizationId, page),
    ),
  ),

  resendInvitation: operation(ok, (request, { caller, params: { organizationId, email } }) =>
    resendInvitation(request, caller, organizationId, email),
  ),

  revokeInvitation: operation(nothing, (request, { caller, params: { organizationId, email } }) =>
    revokeInvitation(request, caller, organizationId, email),
  ),

  listOwnInvitations: operation(itself, (_, call) =>
    answerInPages(routes.listOwnInvitations, call, (page) => listOwnInvitations(context, call.caller, page)),
  ),

  acceptInvitation: operation(added, (request, { caller, params: { organizationId } }) =>
    acceptInvitation(request, caller, organizationId),
  ),

  declineInvitation: operation(nothing, (request, { caller, params: { organizationId } }) =>
    declineInvitation(request, caller, organizationId),
  ),
});
