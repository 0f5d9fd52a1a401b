/** `plinth org members|add-member|set-role|remove-member`: who belongs to an organization. */
import * as z from 'zod';
import { shellWord } from '../../shared/command-words.js';
import { Problem } from '../../shared/problems.js';
import { advised } from '../frame/advised.js';
import { type CommandContext, defineCommand } from '../frame/command.js';
import { confirm, unasked } from '../frame/confirm.js';
import { printable } from '../frame/output.js';
import { organizationIdOf, readInput } from '../organizations/input.js';
import { addedText, memberTable, roleText } from '../organizations/member-text.js';

export const orgMembers = defineCommand({
  description: ['Lists the members of an organization, and their roles.'],
  examples: ['plinth org members acme'],

  async run(call) {
    const { organization } = readInput(call, ['organization']);
    const client = await call.connectOrganizations();
    const members = await client.members(await organizationIdOf(client, organization));
    return { data: { members }, show: (style) => memberTable(members, style) };
  },
});

export const orgAddMember = defineCommand({
  description: [
    'Adds a member to an organization. For admins of the organization. A member who already has that role stays as they are. To change a role, use “org set-role”.',
  ],
  flags: { role: 'admin or member. (default: member)' },
  examples: ['plinth org add-member acme bob@example.com', 'plinth org add-member acme carol@example.com --role admin'],

  async run(call) {
    const { organization, email, role } = readInput(call, ['organization', 'email'], ['role']);
    const client = await call.connectOrganizations();
    const { member, added } = await client.addMember(await organizationIdOf(client, organization), email, role);
    return { data: { member, added }, show: () => addedText(member, added, 'the organization') };
  },
});

export const orgSetRole = defineCommand({
  description: [
    'Changes the role of a member of an organization. For admins of the organization. The last admin stays one.',
  ],
  examples: ['plinth org set-role acme bob@example.com admin'],

  async run(call) {
    const { organization, email, role } = readInput(call, ['organization', 'email', 'role']);
    const client = await call.connectOrganizations();
    const member = await client.setRole(await organizationIdOf(client, organization), email, role);
    return { data: { member }, show: () => `${roleText(member)} of the organization.` };
  },
});

export const orgRemoveMember = defineCommand({
  description: [
    'Removes a member from an organization. For its admins, and for yourself to leave. It refuses a member of one of its teams, unless --force removes them from those teams too. The last admin stays.',
  ],
  flags: {
    force: "Also remove them from the organization's teams, which are shown first.",
    why: 'Why, in your own words. The events and the webhook tell it.',
    yes: 'Do not ask before --force. Needed where there is no terminal to ask on.',
  },
  examples: [
    'plinth org remove-member acme bob@example.com',
    'plinth org remove-member acme bob@example.com --force --why "left the company"',
  ],

  async run(call) {
    const [force, yes] = [call.has('force'), call.has('yes')];
    const { organization, email, why } = readInput(
      call,
      ['organization', 'email'],
      ['why'],
      force ? unasked(call, '--force') : [],
    );
    const client = await call.connectOrganizations();
    const organizationId = await organizationIdOf(client, organization);
    try {
      await client.removeMember(organizationId, email, { force: force && yes, why });
    } catch (error) {
      const teams = teamsIn(error);
      if (teams === undefined) throw error;
      const command = `plinth org remove-member ${shellWord(organization)} ${shellWord(email)} --force`;
      if (!force) throw advised(error as Problem, `Remove them from the teams too: ${command}`);
      await agree(call, email, teams);
      await client.removeMember(organizationId, email, { force, why });
    }
    return {
      data: { removed: email },
      show: () => `${email} is no longer a member of the organization${force ? ' or its teams' : ''}.`,
    };
  },
});

const HoldingTeams = z.array(z.object({ teamId: z.int(), name: z.string() }));
type HoldingTeams = z.infer<typeof HoldingTeams>;

/** The teams that a refusal names. */
const teamsIn = (error: unknown): HoldingTeams | undefined =>
  error instanceof Problem ? HoldingTeams.safeParse(error.members?.['teams']).data : undefined;

async function agree(call: CommandContext, email: string, teams: HoldingTeams): Promise<void> {
  call.output.say(`${email} is a member of`);
  for (const { teamId, name } of teams) call.output.say(`  ${printable(name)} (${teamId})`);
  const which = teams.length === 1 ? 'this team' : `these ${teams.length} teams`;
  if (await confirm(`Remove ${email} from ${which} and from the organization?`, call)) return;
  throw new Problem('bad-input', `${email} is not removed; nothing has changed.`);
}
