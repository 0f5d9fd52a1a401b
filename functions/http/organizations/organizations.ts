/** The organization API: one small operation for each route, on top of functions/organizations. */
import { descriptionRoutes, healthRoutes, problemRoutes } from '../../../shared/api.js';
import { consoleRoutes } from '../../../shared/console/routes.js';
import type { Organization } from '../../../shared/organization/organization.js';
import { organizationRoutes as routes } from '../../../shared/organization/routes.js';
import type { Context } from '../../context.js';
import { createVerifier } from '../../identity/auth.js';
import { setOrganizationCeilings } from '../../organizations/ceilings.js';
import { listEvents } from '../../organizations/events/events.js';
import { addOrganizationMembers } from '../../organizations/members/many-members.js';
import {
  addOrganizationMember,
  listOrganizationMembers,
  setOrganizationMemberRole,
} from '../../organizations/members/members.js';
import { removeOrganizationMember } from '../../organizations/members/removal.js';
import { deleteOrganization, renameOrganization, restoreOrganization } from '../../organizations/organization-life.js';
import { createOrganization, getOrganization, listOrganizations } from '../../organizations/organizations.js';
import { listOrganizationTeams } from '../../organizations/teams/teams.js';
import { consoleHandlers } from '../console/console.js';
import { healthHandlers } from '../health.js';
import { documentHandlers } from '../openapi/description.js';
import { problemHandlers } from '../openapi/problem-pages.js';
import { outsideDomain } from '../outside-domain.js';
import { type AnswerInPages, createPages } from '../paging.js';
import type { Answer } from '../reply.js';
import { createRouter, type HttpFunction } from '../router.js';
import { invitationOperations } from './invitations.js';
import { added, handlersOf, itself, nothing, type Operations, ok, operation } from './operations.js';
import { filterOf, keptOf, moveOperations, teamOperations, timesOf } from './teams.js';

export const createOrganizationsFunction = (context: Context): HttpFunction => {
  const answerInPages = createPages(context);
  const { authenticate } = createVerifier(context);
  const serve = createRouter({
    context,
    routes: { ...routes, ...descriptionRoutes, ...healthRoutes, ...problemRoutes, ...consoleRoutes },
    handlers: {
      ...handlersOf(context, routes, {
        ...organizationOperations(context, answerInPages),
        ...invitationOperations(context, answerInPages),
        ...moveOperations(context, answerInPages),
        ...teamOperations(context, answerInPages),
      }),
      ...documentHandlers(async () => (await import('./api.js')).organizationsApi),
      ...healthHandlers(context),
      ...problemHandlers,
      ...consoleHandlers(context, authenticate),
    },
    authenticate,
  });
  return outsideDomain(serve);
};

type OrganizationRoutes = Omit<
  typeof routes,
  | keyof ReturnType<typeof teamOperations>
  | keyof ReturnType<typeof moveOperations>
  | keyof ReturnType<typeof invitationOperations>
>;

const created = (organization: Organization): Answer => ({
  status: 201,
  headers: { location: `/organizations/${organization.id}` },
  body: organization,
});

const organizationOperations = (context: Context, answerInPages: AnswerInPages): Operations<OrganizationRoutes> => ({
  createOrganization: operation(created, (request, { caller, body }) => createOrganization(request, caller, body.name)),

  listOrganizations: operation(itself, (_, call) =>
    answerInPages(routes.listOrganizations, { ...call, kept: keptOf(call.query) }, (page) =>
      listOrganizations(context, call.caller, call.query.deleted, page),
    ),
  ),

  getOrganization: operation(ok, (request, { caller, params: { organizationId } }) =>
    getOrganization(request, caller, organizationId),
  ),

  renameOrganization: operation(ok, (request, { caller, params: { organizationId }, body: { name } }) =>
    renameOrganization(request, caller, organizationId, name),
  ),

  setOrganizationCeilings: operation(ok, (request, { caller, params: { organizationId }, body }) =>
    setOrganizationCeilings(request, caller, organizationId, body),
  ),

  deleteOrganization: operation(ok, (request, { caller, params: { organizationId } }) =>
    deleteOrganization(request, caller, organizationId),
  ),

  restoreOrganization: operation(ok, (request, { caller, params: { organizationId } }) =>
    restoreOrganization(request, caller, organizationId),
  ),

  listOrganizationMembers: operation(itself, (_, call) =>
    answerInPages(routes.listOrganizationMembers, call, (page) =>
      listOrganizationMembers(context, call.caller, call.params.organizationId, page),
    ),
  ),

  addOrganizationMember: operation(added, (request, { caller, params: { organizationId }, body }) =>
    addOrganizationMember(request, caller, organizationId, body),
  ),

  addOrganizationMembers: operation(ok, (request, { caller, params: { organizationId }, body: { members } }) =>
    addOrganizationMembers(request, caller, organizationId, members),
  ),

  setOrganizationMemberRole: operation(ok, (request, { caller, params: { organizationId, email }, body: { role } }) =>
    setOrganizationMemberRole(request, caller, organizationId, { email, role }),
  ),

  removeOrganizationMember: operation(nothing, (request, { caller, params: { organizationId, email }, query }) =>
    removeOrganizationMember(request, caller, { organizationId, email, why: query.why }, query.force),
  ),

  listOrganizationTeams: operation(itself, (_, call) =>
    answerInPages(routes.listOrganizationTeams, call, (page) =>
      listOrganizationTeams(context, call.caller, call.params.organizationId, page),
    ),
  ),

  listOrganizationEvents: operation(itself, (_, call) => {
    const filter = timesOf(context, call.query);
    return answerInPages(routes.listOrganizationEvents, { ...call, kept: filterOf(filter) }, (page) =>
      listEvents(context, call.caller, call.params.organizationId, page, filter),
    );
  }),
});
