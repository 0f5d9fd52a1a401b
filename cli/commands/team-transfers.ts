/** `plinth team transfer|transfers|accept|refuse`: moves of a team that both sides agree on. */
import { type CommandContext, defineCommand } from '../frame/command.js';
import { printable } from '../frame/output.js';
import { listing, time } from '../frame/table.js';
import { organizationIdOf, readInput } from '../organizations/input.js';
import type { OrganizationClient } from '../service/organization-client.js';

const where = 'Organization that the team goes to, by id or name. Without one it is to stand alone.';

async function readMove(call: CommandContext) {
  const { teamId, organization } = readInput(call, ['teamId'], ['organization']);
  const client: OrganizationClient = await call.connectOrganizations();
  const organizationId = organization === undefined ? null : await organizationIdOf(client, organization);
  return {
    client,
    teamId,
    organizationId,
    place: organization === undefined ? 'to stand alone' : `to ${organization}`,
  };
}

const movedText = (teamId: number, organizationId: string | null, removed: readonly string[]): string =>
  [
    organizationId === null
      ? `Team ${teamId} stands alone now.`
      : `Team ${teamId} is in organization ${organizationId} now.`,
    ...(removed.length === 0 ? [] : [`Removed from the team: ${removed.map(printable).join(', ')}`]),
  ].join('\n');

export const teamTransfer = defineCommand({
  description: [
    'Takes a team into an organization, on to another one, or out of its organization. An admin of both sides moves it at once. Otherwise it is a proposal, which an admin of the other side accepts within 14 days.',
    'The sides are whose the team is, and where it goes. That is an organization, or the team itself where it stands alone.',
  ],
  flags: { organization: where, force: 'Remove members outside that organization from the team.' },
  examples: ['plinth team transfer 42 --organization acme', 'plinth team transfer 42'],

  async run(call) {
    const { client, teamId, organizationId, place } = await readMove(call);
    const result = await client.proposeTransfer(teamId, organizationId, call.has('force'));
    if ('team' in result) {
      return { data: { ...result }, show: () => movedText(teamId, organizationId, result.removedMembers) };
    }
    return {
      data: { transfer: result },
      show: () => `It is proposed that team ${teamId} goes ${place}, until ${time(result.expiresAt)}.`,
    };
  },
});

export const teamTransfers = defineCommand({
  description: ['Lists the transfers that are proposed for a team. For admins of the team or of its organization.'],
  examples: ['plinth team transfers 42'],

  async run(call) {
    const { teamId } = readInput(call, ['teamId']);
    const client = await call.connectOrganizations();
    const transfers = await client.transfers(teamId);
    return {
      data: { transfers },
      show: (style) =>
        transfers.length === 0
          ? 'Nothing is proposed.'
          : listing(
              ['TO', 'PROPOSED BY', 'UNTIL', 'MEMBERS OUTSIDE'],
              transfers.map(({ id, proposedBy, expiresAt, force }) => [
                ...[id, proposedBy, time(expiresAt)],
                force ? 'leave' : 'stop it',
              ]),
              style,
            ),
    };
  },
});

export const teamAccept = defineCommand({
  description: ['Agrees to a transfer that the other side has proposed. The team moves at once.'],
  flags: { organization: where },
  examples: ['plinth team accept 42 --organization acme'],

  async run(call) {
    const { client, teamId, organizationId } = await readMove(call);
    const { team, removedMembers } = await client.acceptTransfer(teamId, organizationId);
    return { data: { team, removedMembers }, show: () => movedText(teamId, organizationId, removedMembers) };
  },
});

export const teamRefuse = defineCommand({
  description: ['Refuses a transfer, or takes back one that you have proposed.'],
  flags: { organization: where },
  examples: ['plinth team refuse 42 --organization acme'],

  async run(call) {
    const { client, teamId, organizationId, place } = await readMove(call);
    await client.refuseTransfer(teamId, organizationId);
    return { data: { refused: teamId }, show: () => `It is not proposed any more that team ${teamId} goes ${place}.` };
  },
});
