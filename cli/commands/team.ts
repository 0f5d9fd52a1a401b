/** `plinth team list|create|members|add-member|remove-member`: teams, standalone ones and those of an organization. */
import { defineCommand } from '../frame/command.js';
import { printable } from '../frame/output.js';
import { listing, time } from '../frame/table.js';
import { organizationIdOf, readInput } from '../organizations/input.js';
import { addedText, memberTable } from '../organizations/member-text.js';

export const teamList = defineCommand({
  description: ['Lists the teams that you belong to, the organization of each, and your role.'],
  flags: { deleted: 'List those that were deleted and can be restored, instead of the living ones.' },
  examples: ['plinth team list', 'plinth team list --deleted'],

  async run(call) {
    const deleted = call.has('deleted');
    const client = await call.connectOrganizations();
    const teams = await client.teams(deleted);
    return {
      data: { teams },
      show: (style) =>
        teams.length === 0
          ? `You belong to no ${deleted ? 'deleted ' : ''}team.`
          : listing(
              ['TEAM', 'NAME', 'ORGANIZATION', 'ROLE', deleted ? 'DELETED' : 'CREATED'],
              teams.map(({ teamId, name, organizationId, role, createdAt, deletedAt = createdAt }) => [
                String(teamId),
                name,
                organizationId ?? '-',
                role ?? '-',
                time(deletedAt),
              ]),
              style,
            ),
    };
  },
});

export const teamCreate = defineCommand({
  description: [
    'Makes a team, standalone or in an organization. You are its first admin. In an organization only its admins may.',
  ],
  flags: { organization: 'Organization that it belongs to, by id or name. Without one it is standalone.' },
  examples: ['plinth team create platform', 'plinth team create platform --organization acme'],

  async run(call) {
    const { name, organization } = readInput(call, ['name'], ['organization']);
    const client = await call.connectOrganizations();
    const id = organization === undefined ? undefined : await organizationIdOf(client, organization);
    const team = await client.createTeam(name, id);
    return { data: { team }, show: () => `Team ${printable(team.name)} is made: ${team.teamId}` };
  },
});

export const teamMembers = defineCommand({
  description: ['Lists the members of a team, and their roles.'],
  examples: ['plinth team members 42'],

  async run(call) {
    const { teamId } = readInput(call, ['teamId']);
    const client = await call.connectOrganizations();
    const members = await client.teamMembers(teamId);
    return { data: { members }, show: (style) => memberTable(members, style) };
  },
});

export const teamAddMember = defineCommand({
  description: [
    'Adds a member to a team: for admins of the team or of its organization. Into a team of an organization come only members of that organization.',
  ],
  flags: { role: 'admin or member. (default: member)' },
  examples: ['plinth team add-member 42 bob@example.com', 'plinth team add-member 42 carol@example.com --role admin'],

  async run(call) {
    const { teamId, email, role } = readInput(call, ['teamId', 'email'], ['role']);
    const client = await call.connectOrganizations();
    const { member, added } = await client.addTeamMember(teamId, email, role);
    return { data: { member, added }, show: () => addedText(member, added, `team ${teamId}`) };
  },
});

export const teamRemoveMember = defineCommand({
  description: [
    'Removes a member from a team. For admins of the team or of its organization, and for yourself to leave. The last admin of a standalone team stays.',
  ],
  flags: { why: 'Why, in your own words. The events and the webhook tell it.' },
  examples: [
    'plinth team remove-member 42 bob@example.com',
    'plinth team remove-member 42 bob@example.com --why "on another project now"',
  ],

  async run(call) {
    const { teamId, email, why } = readInput(call, ['teamId', 'email'], ['why']);
    const client = await call.connectOrganizations();
    await client.removeTeamMember(teamId, email, why);
    return { data: { removed: email }, show: () => `${email} is no member of team ${teamId} any more.` };
  },
});
