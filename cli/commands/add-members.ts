/** `plinth org add-members` and `plinth team add-members`: up to 500 people from a file, all or none. */
import type { AddedMembers } from '../../shared/organization/organization.js';
import { defineCommand } from '../frame/command.js';
import { printable } from '../frame/output.js';
import { organizationIdOf, readInput } from '../organizations/input.js';
import { readPeople } from '../organizations/people-file.js';

const flags = {
  role: 'admin or member. (default: member)',
  file: 'File of e-mail addresses, one a line. (required)',
};

const shown = ({ added, unchanged }: AddedMembers, of: string): string =>
  [
    `${added.length} added to ${of}: ${added.map(({ email }) => printable(email)).join(', ') || 'nobody'}`,
    ...(unchanged.length === 0 ? [] : [`${unchanged.length} were members already.`]),
  ].join('\n');

export const orgAddMembers = defineCommand({
  description: [
    'Adds the people of a file to an organization, all or none. For admins of the organization. A refusal names everybody who speaks against it.',
  ],
  flags,
  examples: ['plinth org add-members acme --file people.txt'],

  async run(call) {
    const { faults, emails } = readPeople(call);
    const { organization, role = 'member' } = readInput(call, ['organization'], ['role'], faults);
    const client = await call.connectOrganizations();
    const asked = emails.map((email) => ({ email, role }));
    const result = await client.addMembers(await organizationIdOf(client, organization), asked);
    return { data: { ...result }, show: () => shown(result, 'the organization') };
  },
});

export const teamAddMembers = defineCommand({
  description: [
    'Adds the people of a file to a team, all or none. For admins of the team or of its organization. A refusal names everybody who speaks against it.',
  ],
  flags,
  examples: ['plinth team add-members 42 --file people.txt'],

  async run(call) {
    const { faults, emails } = readPeople(call);
    const { teamId, role = 'member' } = readInput(call, ['teamId'], ['role'], faults);
    const client = await call.connectOrganizations();
    const result = await client.addTeamMembers(
      teamId,
      emails.map((email) => ({ email, role })),
    );
    return { data: { ...result }, show: () => shown(result, `team ${teamId}`) };
  },
});
