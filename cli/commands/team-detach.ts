/** `plinth team detach`: takes a team out of its organization. For operators. */
import { Problem } from '../../shared/problems.js';
import { defineCommand } from '../frame/command.js';
import { confirm, unasked } from '../frame/confirm.js';
import { printable } from '../frame/output.js';
import { readInput } from '../organizations/input.js';

export const teamDetach = defineCommand({
  description: [
    'Takes a team out of its organization. For operators of the deployment, when a team was migrated by mistake. The team gets back the members and roles that it had before. A team that was made in the organization keeps its present members.',
  ],
  flags: { yes: 'Do not ask first. Needed where there is no terminal to ask on.' },
  examples: ['plinth team detach 42'],

  async run(call) {
    const { teamId } = readInput(call, ['teamId'], [], unasked(call));
    const client = await call.connectOrganizations();
    const question = `Take team ${teamId} out of its organization, with the members that it had before it was migrated?`;
    if (!call.has('yes') && !(await confirm(question, call))) {
      throw new Problem('bad-input', `Team ${teamId} stays where it is; nothing has changed.`);
    }
    const { team, restoredMembers, removedMembers } = await client.detach(teamId);
    const named = (what: string, members: readonly string[]) =>
      members.length === 0 ? [] : [`${what}: ${members.map(printable).join(', ')}`];
    return {
      data: { team, restoredMembers, removedMembers },
      show: () =>
        [
          `Team ${printable(team.name)} (${team.teamId}) stands alone again.`,
          ...named('Came back', restoredMembers),
          ...named('Removed', removedMembers),
        ].join('\n'),
    };
  },
});
