/** Describes the organization API for its OpenAPI document. */
import { healthRoutes } from '../../../shared/api.js';
import { organizationRoutes } from '../../../shared/organization/routes.js';
import type { ApiDescription } from '../openapi/openapi.js';

export const organizationsApi: ApiDescription = {
  title: 'plinth organizations',
  description:
    'Organizations, their members, their teams, and the migration of a standalone team into an organization. Every member of a team in an organization is a member of that organization, at every moment. What the caller may not see answers 404, as if it were not there. Lists are arrays, whole; with `limit` they come in pages.',
  tags: {
    Organizations: 'Organizations, who belongs to them, their teams, and the record of what was done',
    Invitations: 'Who may join an organization by their own acceptance',
    Teams: 'Teams, standalone or in an organization, and their members',
    Migration: 'The move of a standalone team into an organization: what it would do, and doing it',
    Service: 'What the service says of itself',
  },
  routes: { ...organizationRoutes, ...healthRoutes },
};
