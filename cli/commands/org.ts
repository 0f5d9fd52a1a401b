/** `plinth org list|create|teams|events`: organizations, and what is in them. */
import { defineCommand } from '../frame/command.js';
import type { ShownEvent } from '../service/organization-client.js';

export const orgList = defineCommand({
  words: 'org list',
  summary: 'List the organizations that you belong to',
  description: ['Lists the organizations that you belong to, and your role in each.'],
  flags: { deleted: 'List those that were deleted and can be restored, instead of the living ones.' },
  examples: ['plinth org list', 'plinth org list --deleted'],

  async run(call) {
    const deleted = call.has('deleted');
    const client = await call.connectOrganizations();
    const [organizations, { listing, time }] = await Promise.all([
      client.organizations(deleted),
      import('../frame/table.js'),
    ]);
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
  words: 'org create',
  takes: ['name'],
  summary: 'Make an organization, with you as its first admin',
  description: [
    'Makes an organization. You are its first admin. Who may make organizations is a setting of the deployment.',
  ],
  examples: ['plinth org create acme'],

  async run(call) {
    const { readInput } = await import('../organization-input.js');
    const { name } = readInput(call, ['name']);
    const client = await call.connectOrganizations();
    const [organization, { printable }] = await Promise.all([
      client.createOrganization(name),
      import('../frame/output.js'),
    ]);
    return {
      data: { organization },
      show: () => `Organization ${printable(organization.name)} is made: ${organization.id}`,
    };
  },
});

export const orgTeams = defineCommand({
  words: 'org teams',
  takes: ['organization'],
  summary: 'List the teams of an organization',
  description: ['Lists the teams of an organization, migrated ones included, and your role in each.'],
  examples: ['plinth org teams acme'],

  async run(call) {
    const { organizationIdOf, readInput } = await import('../organization-input.js');
    const { organization } = readInput(call, ['organization']);
    const client = await call.connectOrganizations();
    const teams = await client.organizationTeams(await organizationIdOf(client, organization));
    const { listing, time } = await import('../frame/table.js');
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

const usualLimit = 50;

export const orgEvents = defineCommand({
  words: 'org events',
  takes: ['organization'],
  summary: 'Show who did what in an organization, newest first',
  description: ['Shows who did what in an organization, and when, newest first. For admins of the organization.'],
  flags: { limit: `At most so many events. (default: ${usualLimit})` },
  examples: ['plinth org events acme', 'plinth org events acme --limit 1000 --json'],

  async run(call) {
    const { organizationIdOf, readInput } = await import('../organization-input.js');
    const limit = call.number('limit') ?? usualLimit;
    const faults = limit >= 1 ? [] : [{ path: '--limit', message: `must be at least 1, not ${limit}` }];
    const { organization } = readInput(call, ['organization'], [], faults);
    const client = await call.connectOrganizations();
    const { events, more } = await client.events(await organizationIdOf(client, organization), limit);
    const { listing, time } = await import('../frame/table.js');
    if (more) call.output.say(`There are older ones: --limit ${limit * 10} shows more.`);
    return {
      data: { events, more },
      show: (style) =>
        events.length === 0
          ? 'Nothing has happened yet.'
          : listing(
              ['WHEN', 'WHO', 'WHAT', 'ABOUT', 'CHANGE'],
              events.map((event) => [time(event.at), event.actor, event.action, about(event), change(event)]),
              style,
            ),
    };
  },
});

const about = ({ teamId, email }: ShownEvent): string =>
  [...(email === undefined ? [] : [email]), ...(teamId === undefined ? [] : [`team ${teamId}`])].join(', ') || '-';

const change = ({ before, after }: ShownEvent): string => {
  const [from, to] = [brief(before), brief(after)];
  return from === to ? to : `${from} → ${to}`;
};

/** A short form. `--json` prints the whole state. */
function brief(state: unknown): string {
  if (typeof state !== 'object' || state === null) return '-';
  const { team, ...rest } = state as Readonly<Record<string, unknown>>;
  const { role, name, members, organizationId } = { ...(team as object | undefined), ...rest };
  const parts = [
    ...(typeof name === 'string' ? [name] : []),
    ...(organizationId === null ? ['standalone'] : []),
    ...(typeof role === 'string' ? [role] : []),
    ...(Array.isArray(members) ? [`${members.length} ${members.length === 1 ? 'member' : 'members'}`] : []),
  ];
  return parts.join(', ') || '-';
}
