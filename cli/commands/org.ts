/** `plinth org list|create|teams`: organizations, and what is in them. */
import { defineCommand } from '../frame/command.js';
import { printable } from '../frame/output.js';
import { listing, time } from '../frame/table.js';
import { organizationIdOf, readInput } from '../organizations/input.js';

export const orgList = defineCommand({
  description: ['Lists the organizations that you belong to, and your role in each.'],
  flags: { deleted: 'List those that were deleted and can be restored, instead of the living ones.' },
  examples: ['plinth org list', 'plinth org list --deleted'],

  async run(call) {
    const deleted = call.has('deleted');
    const client = await call.connectOrganizations();
    const organizations = await client.organizations(deleted);
    return {
      data: { organizations },
      show: (style) =>
        organizations.length === 0
          ? `You belong to no ${deleted ? 'deleted ' : ''}organization.`
          : listing(
              ['ID', 'NAME', 'ROLE', deleted ? 'DELETED' : 'CREATED'],
              organizations.map(({ id, name, role, createdAt, deletedAt = createdAt }) => [
                ...[id, name, role ?? '-'],
                time(deletedAt),
              ]),
              style,
            ),
    };
  },
});

export const orgCreate = defineCommand({
  description: [
    'Makes an organization. You are its first admin. Who may make organizations is a setting of the deployment.',
  ],
  examples: ['plinth org create acme'],

  async run(call) {
    const { name } = readInput(call, ['name']);
    const client = await call.connectOrganizations();
    const organization = await client.createOrganization(name);
    return {
      data: { organization },
      show: () => `Organization ${printable(organization.name)} is made: ${organization.id}`,
    };
  },
});

export const orgTeams = defineCommand({
  description: ['Lists the teams of an organization, migrated ones included, and your role in each.'],
  examples: ['plinth org teams acme'],

  async run(call) {
    const { organization } = readInput(call, ['organization']);
    const client = await call.connectOrganizations();
    const teams = await client.organizationTeams(await organizationIdOf(client, organization));
    return {
      data: { teams },
      show: (style) =>
        teams.length === 0
          ? 'The organization has no teams.'
          : listing(
              ['TEAM', 'NAME', 'ROLE', 'CREATED'],
              teams.map(({ teamId, name, role, createdAt }) => [String(teamId), name, role ?? '-', time(createdAt)]),
              style,
            ),
    };
  },
});
