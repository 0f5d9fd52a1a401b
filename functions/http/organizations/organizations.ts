/** The organization API: one small handler for each route, on top of functions/organizations. */
import { descriptionRoutes, healthRoutes, problemRoutes } from '../../../shared/api.js';
import { consoleRoutes } from '../../../shared/console/routes.js';
import type { Organization } from '../../../shared/organization/organization.js';
import { organizationRoutes as routes } from '../../../shared/organization/routes.js';
import type { Context } from '../../context.js';
import { createVerifier } from '../../identity/auth.js';
import { setOrganizationCeilings } from '../../organizations/ceilings.js';
import { listEvents } from '../../organizations/events.js';
import { addOrganizationMembers } from '../../organizations/many-members.js';
import {
  addOrganizationMember,
  listOrganizationMembers,
  setOrganizationMemberRole,
} from '../../organizations/members.js';
import { deleteOrganization, renameOrganization, restoreOrganization } from '../../organizations/organization-life.js';
import { createOrganization, getOrganization, listOrganizations } from '../../organizations/organizations.js';
import { refusing } from '../../organizations/refusal.js';
import { removeOrganizationMember } from '../../organizations/removal.js';
import { listOrganizationTeams } from '../../organizations/teams.js';
import { consoleHandlers } from '../console/console.js';
import { healthHandlers } from '../health.js';
import { type KeepingHandlers, withIdempotency } from '../idempotency.js';
import { documentHandlers } from '../openapi/description.js';
import { problemHandlers } from '../openapi/problem-pages.js';
import { outsideDomain } from '../outside-domain.js';
import { type AnswerInPages, createPages } from '../paging.js';
import { withRateLimit } from '../rate-limit.js';
import type { Answer } from '../reply.js';
import { type Call, createRouter, type HttpFunction } from '../router.js';
import { invitationHandlers } from './invitations.js';
import { moveHandlers } from './moves.js';
import { addedAnswer, filterOf, keptOf, okAnswer, teamHandlers, timesOf } from './teams.js';

export const createOrganizationsFunction = (context: Context): HttpFunction => {
  const answerInPages = createPages(context);
  const { authenticate } = createVerifier(context);
  const serve = createRouter({
    context,
    routes: { ...routes, ...descriptionRoutes, ...healthRoutes, ...problemRoutes, ...consoleRoutes },
    handlers: {
      ...withIdempotency(
        context,
        routes,
        withRateLimit(
          context,
          routes,
          refusingOthers(context, {
            ...organizationHandlers(context, answerInPages),
            ...invitationHandlers(context, answerInPages),
            ...moveHandlers(context, answerInPages),
            ...teamHandlers(context, answerInPages),
          }),
        ),
      ),
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
  | keyof ReturnType<typeof teamHandlers>
  | keyof ReturnType<typeof moveHandlers>
  | keyof ReturnType<typeof invitationHandlers>
>;

const createdAnswer = (organization: Organization): Answer => ({
  status: 201,
  headers: { location: `/organizations/${organization.id}` },
  body: organization,
});

/** Refuses another account with a member's e-mail, outside of the transaction that `NotTheirs` aborted. */
function refusingOthers(context: Context, handlers: KeepingHandlers<typeof routes>): KeepingHandlers<typeof routes> {
  const wrapped = Object.entries(handlers).map(([operation, handler]) => [
    operation,
    (call: Call<(typeof routes)['getTeam']>, keep: never): Promise<Answer> =>
      refusing(
        context,
        call.caller,
        (async () => (handler as KeepingHandlers<typeof routes>['getTeam'])(call, keep))(),
      ),
  ]);
  return Object.fromEntries(wrapped) as KeepingHandlers<typeof routes>;
}

const organizationHandlers = (context: Context, answerInPages: AnswerInPages): KeepingHandlers<OrganizationRoutes> => ({
  createOrganization: async ({ caller, body }, keep) =>
    createdAnswer(await createOrganization(context, caller, body.name, (made) => keep(createdAnswer(made)))),

  listOrganizations: (call) =>
    answerInPages(routes.listOrganizations, { ...call, kept: keptOf(call.query) }, (page) =>
      listOrganizations(context, call.caller, call.query.deleted, page),
    ),

  getOrganization: async ({ caller, params }) => ({
    status: 200,
    body: await getOrganization(context, caller, params.organizationId),
  }),

  renameOrganization: async ({ caller, params: { organizationId }, body: { name } }) => ({
    status: 200,
    body: await renameOrganization(context, caller, organizationId, name),
  }),

  setOrganizationCeilings: async ({ caller, params: { organizationId }, body }) => ({
    status: 200,
    body: await setOrganizationCeilings(context, caller, organizationId, body),
  }),

  deleteOrganization: async ({ caller, params }) => ({
    status: 200,
    body: await deleteOrganization(context, caller, params.organizationId),
  }),

  restoreOrganization: async ({ caller, params }, keep) =>
    okAnswer(await restoreOrganization(context, caller, params.organizationId, (restored) => keep(okAnswer(restored)))),

  listOrganizationMembers: (call) =>
    answerInPages(routes.listOrganizationMembers, call, (page) =>
      listOrganizationMembers(context, call.caller, call.params.organizationId, page),
    ),

  addOrganizationMember: async ({ caller, params, body }, keep) =>
    addedAnswer(
      await addOrganizationMember(context, caller, params.organizationId, body, (result) => keep(addedAnswer(result))),
    ),

  addOrganizationMembers: async ({ caller, params: { organizationId }, body: { members } }, keep) =>
    okAnswer(
      await addOrganizationMembers(context, caller, organizationId, members, (result) => keep(okAnswer(result))),
    ),

  setOrganizationMemberRole: async ({ caller, params: { organizationId, email }, body: { role } }) => ({
    status: 200,
    body: await setOrganizationMemberRole(context, caller, organizationId, { email, role }),
  }),

  async removeOrganizationMember({ caller, params: { organizationId, email }, query: { force, why } }) {
    await removeOrganizationMember(context, caller, { organizationId, email, why }, force);
    return { status: 204 };
  },

  listOrganizationTeams: (call) =>
    answerInPages(routes.listOrganizationTeams, call, (page) =>
      listOrganizationTeams(context, call.caller, call.params.organizationId, page),
    ),

  ...recordHandlers(context, answerInPages),
});

const recordHandlers = (
  context: Context,
  answerInPages: AnswerInPages,
): KeepingHandlers<Pick<OrganizationRoutes, 'listOrganizationEvents'>> => ({
  listOrganizationEvents: (call) => {
    const filter = timesOf(context, call.query);
    return answerInPages(routes.listOrganizationEvents, { ...call, kept: filterOf(filter) }, (page) =>
      listEvents(context, call.caller, call.params.organizationId, page, filter),
    );
  },
});
