/** `plinth org members|add-member|set-role|remove-member`: who belongs to an organization. */
import { Problem } from '../../shared/problems.js';
import { advised } from '../advised.js';
import { defineCommand } from '../command.js';
import { shellWord } from '../shell-word.js';

export const orgMembers = defineCommand({
  words: 'org members',
  takes: ['organization'],
  summary: 'List the members of an organization',
  description: ['Lists the members of an organization, and their roles.'],
  examples: ['plinth org members acme'],

  async run(call) {
    const { organizationIdOf, readInput } = await import('../organization-input.js');
    const { organization } = readInput(call, ['organization']);
    const client = await call.connectOrganizations();
    const members = await client.members(await organizationIdOf(client, organization));
    const { memberTable } = await import('../membership.js');
    return { data: { members }, show: (style) => memberTable(members, style) };
  },
});

export const orgAddMember = defineCommand({
  words: 'org add-member',
  takes: ['organization', 'email'],
  summary: 'Add a member to an organization',
  description: [
    'Adds a member to an organization. For admins of the organization. One who is a member with that role already stays as they are; a member with another role is refused, see plinth org set-role.',
  ],
  flags: { role: 'admin or member. (default: member)' },
  examples: ['plinth org add-member acme bob@example.com', 'plinth org add-member acme carol@example.com --role admin'],

  async run(call) {
    const { organizationIdOf, readInput } = await import('../organization-input.js');
    const { organization, email, role } = readInput(call, ['organization', 'email'], ['role']);
    const client = await call.connectOrganizations();
    const { member, added } = await client.addMember(await organizationIdOf(client, organization), email, role);
    const { addedText } = await import('../membership.js');
    return { data: { member, added }, show: () => addedText(member, added, 'the organization') };
  },
});

export const orgSetRole = defineCommand({
  words: 'org set-role',
  takes: ['organization', 'email', 'role'],
  summary: 'Change the role of a member of an organization',
  description: [
    'Changes the role of a member of an organization. For admins of the organization. The last admin stays one.',
  ],
  examples: ['plinth org set-role acme bob@example.com admin'],

  async run(call) {
    const { organizationIdOf, readInput } = await import('../organization-input.js');
    const { organization, email, role } = readInput(call, ['organization', 'email', 'role']);
    const client = await call.connectOrganizations();
    const member = await client.setRole(await organizationIdOf(client, organization), email, role);
    const { roleText } = await import('../membership.js');
    return { data: { member }, show: () => `${roleText(member)} of the organization.` };
  },
});

export const orgRemoveMember = defineCommand({
  words: 'org remove-member',
  takes: ['organization', 'email'],
  summary: 'Remove a member from an organization',
  description: [
    'Removes a member from an organization: for its admins, and for oneself to leave. A member of one of its teams is refused, unless --force removes them from those teams too. The last admin stays.',
  ],
  flags: { force: "Also remove them from the organization's teams." },
  examples: ['plinth org remove-member acme bob@example.com', 'plinth org remove-member acme bob@example.com --force'],

  async run(call) {
    const { organizationIdOf, readInput } = await import('../organization-input.js');
    const { organization, email } = readInput(call, ['organization', 'email']);
    const force = call.has('force');
    const client = await call.connectOrganizations();
    try {
      await client.removeMember(await organizationIdOf(client, organization), email, force);
    } catch (error) {
      throw waysOut(error, `plinth org remove-member ${shellWord(organization)} ${shellWord(email)} --force`);
    }
    return {
      data: { removed: email },
      show: () => `${email} is no member of the organization any more${force ? ', nor of its teams' : ''}.`,
    };
  },
});

/** Of a refusal that names teams. */
function waysOut(error: unknown, force: string): unknown {
  if (!(error instanceof Problem) || error.members?.['teams'] === undefined) return error;
  return advised(error, `Remove them from the teams too: ${force}`);
}
