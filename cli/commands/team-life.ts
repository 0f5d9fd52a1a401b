/** `plinth team rename|set-role|delete|restore`: the life of a team. */

import { defineCommand } from '../frame/command.js';
import { unasked } from '../frame/confirm.js';
import { printable } from '../frame/output.js';
import { agreeToDelete, deletedText } from '../organizations/deletion.js';
import { readInput } from '../organizations/input.js';
import { roleText } from '../organizations/member-text.js';

export const teamRename = defineCommand({
  description: ['Renames a team. For admins of the team or of its organization. Its number stays.'],
  examples: ['plinth team rename 42 platform-europe'],

  async run(call) {
    const { teamId, name } = readInput(call, ['teamId', 'name']);
    const client = await call.connectOrganizations();
    const team = await client.renameTeam(teamId, name);
    return { data: { team }, show: () => `Team ${teamId} is named ${printable(team.name)} now.` };
  },
});

export const teamSetRole = defineCommand({
  description: [
    'Changes the role of a member of a team. For admins of the team or of its organization. The last admin of a standalone team stays one.',
  ],
  examples: ['plinth team set-role 42 bob@example.com admin'],

  async run(call) {
    const { teamId, email, role } = readInput(call, ['teamId', 'email', 'role']);
    const client = await call.connectOrganizations();
    const member = await client.setTeamRole(teamId, email, role);
    return { data: { member }, show: () => `${roleText(member)} of team ${teamId}.` };
  },
});

export const teamDelete = defineCommand({
  description: [
    'Deletes a team. For admins of the team or of its organization. Within 30 days, “team restore” takes it back.',
  ],
  flags: { yes: 'Do not ask first. Needed where there is no terminal to ask on.' },
  examples: ['plinth team delete 42'],

  async run(call) {
    const { teamId } = readInput(call, ['teamId'], [], unasked(call));
    const client = await call.connectOrganizations();
    await agreeToDelete(call, `team ${teamId}`);
    const team = await client.deleteTeam(teamId);
    return {
      data: { deleted: teamId, team },
      show: () => deletedText(`Team ${teamId}`, `plinth team restore ${teamId}`),
    };
  },
});

export const teamRestore = defineCommand({
  description: [
    'Takes back that a team was deleted, within 30 days. For those who were its admins, and for admins of the organization that it was in. Whoever has left that organization meanwhile is no member of the team any more. plinth team list --deleted shows which there are.',
  ],
  examples: ['plinth team restore 42'],

  async run(call) {
    const { teamId } = readInput(call, ['teamId']);
    const client = await call.connectOrganizations();
    const { team, removedMembers } = await client.restoreTeam(teamId);
    return {
      data: { team, removedMembers },
      show: () =>
        [
          `Team ${printable(team.name)} (${teamId}) is there again.`,
          ...(removedMembers.length === 0
            ? []
            : [`No members any more, as they have left the organization: ${removedMembers.map(printable).join(', ')}`]),
        ].join('\n'),
    };
  },
});
