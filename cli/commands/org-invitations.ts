/** `plinth org invite|invitations|resend|revoke|accept|decline`: who may join an organization. */
import type { Invitation } from '../../shared/organization/organization.js';
import { Problem } from '../../shared/problems.js';
import { oneSpelling } from '../../shared/visible-text.js';
import { defineCommand } from '../frame/command.js';
import { printable } from '../frame/output.js';
import { listing, time } from '../frame/table.js';
import { isOrganizationId, organizationIdOf, readInput } from '../organizations/input.js';
import { addedText } from '../organizations/member-text.js';
import { readPeople } from '../organizations/people-file.js';
import type { OrganizationClient } from '../service/organization-client.js';

export const orgInvite = defineCommand({
  description: [
    'Invites somebody into an organization, or up to 500 people from a file. For admins of the organization. They become members when they accept, within 14 days. Whoever is invited already is invited anew.',
    "plinth sends no mail. Tell them to run plinth org invitations. The deployment's webhook hears of each invitation, too.",
  ],
  flags: {
    role: 'admin or member. (default: member)',
    file: 'File of e-mail addresses, one a line, instead of <email>.',
  },
  examples: ['plinth org invite acme zoe@example.org', 'plinth org invite acme --file people.txt'],

  async run(call) {
    const { faults, emails } = readPeople(call);
    const { organization, role = 'member' } = readInput(call, ['organization'], ['role'], faults);
    const client = await call.connectOrganizations();
    const asked = emails.map((email) => ({ email, role }));
    const { invited, members } = await client.invite(await organizationIdOf(client, organization), asked);
    return {
      data: { invited, members },
      show: () =>
        [
          ...invited.map(({ email, expiresAt }) => `${printable(email)} is invited until ${time(expiresAt)}.`),
          ...members.map(({ email }) => `${printable(email)} is a member already.`),
        ].join('\n'),
    };
  },
});

export const orgInvitations = defineCommand({
  description: [
    'Lists the organizations that you are invited into. With an organization, lists whom it has invited and who has not answered: for its admins.',
  ],
  examples: ['plinth org invitations', 'plinth org invitations acme'],

  async run(call) {
    const { organization } = readInput(call, [], ['organization']);
    const client = await call.connectOrganizations();
    const id = organization === undefined ? undefined : await organizationIdOf(client, organization);
    const invitations = id === undefined ? await client.ownInvitations() : await client.invitations(id);
    const who = ({ organizationId, name = '-', email }: Invitation) =>
      id === undefined ? [organizationId, name] : [email];
    return {
      data: { invitations },
      show: (style) =>
        invitations.length === 0
          ? 'No invitations.'
          : listing(
              [...(id === undefined ? ['ORGANIZATION', 'NAME'] : ['E-MAIL']), 'ROLE', 'STATE', 'UNTIL', 'INVITED BY'],
              invitations.map((each) => [...who(each), each.role, each.state, time(each.expiresAt), each.invitedBy]),
              style,
            ),
    };
  },
});

export const orgResend = defineCommand({
  description: ['Renews an invitation for 14 days, and tells the webhook of it again. For admins of the organization.'],
  examples: ['plinth org resend acme zoe@example.org'],

  async run(call) {
    const { organization, email } = readInput(call, ['organization', 'email']);
    const client = await call.connectOrganizations();
    const invitation = await client.resendInvitation(await organizationIdOf(client, organization), email);
    return { data: { invitation }, show: () => `${email} is invited until ${time(invitation.expiresAt)}.` };
  },
});

export const orgRevoke = defineCommand({
  description: ['Takes an invitation back. For admins of the organization. Whoever has accepted stays a member.'],
  examples: ['plinth org revoke acme zoe@example.org'],

  async run(call) {
    const { organization, email } = readInput(call, ['organization', 'email']);
    const client = await call.connectOrganizations();
    await client.revokeInvitation(await organizationIdOf(client, organization), email);
    return { data: { revoked: email }, show: () => `${email} is not invited any more.` };
  },
});

export const orgAccept = defineCommand({
  description: ['Accepts an invitation. You are a member of the organization then.'],
  examples: ['plinth org accept acme'],

  async run(call) {
    const { organization } = readInput(call, ['organization']);
    const client = await call.connectOrganizations();
    const { member, added } = await client.acceptInvitation(await invitedInto(client, organization));
    return { data: { member, added }, show: () => addedText(member, added, 'the organization') };
  },
});

export const orgDecline = defineCommand({
  description: ['Declines an invitation. It is gone then. An admin may invite you again.'],
  examples: ['plinth org decline acme'],

  async run(call) {
    const { organization } = readInput(call, ['organization']);
    const client = await call.connectOrganizations();
    const id = await invitedInto(client, organization);
    await client.declineInvitation(id);
    return { data: { declined: id }, show: () => 'The invitation is declined.' };
  },
});

/** Returns an id unchanged. A name is looked up among the caller's invitations. */
async function invitedInto(client: OrganizationClient, said: string): Promise<string> {
  if (isOrganizationId(said)) return said.toLowerCase();
  const named = (await client.ownInvitations()).filter(
    ({ name }) => name !== undefined && oneSpelling(name) === oneSpelling(said),
  );
  const [first, second] = named;
  if (first !== undefined && second === undefined) return first.organizationId;
  const many = `You are invited into ${named.length} organizations named ${JSON.stringify(said)}.`;
  throw new Problem('not-found', first === undefined ? `You are not invited into ${JSON.stringify(said)}.` : many, {
    advice: 'plinth org invitations shows your invitations. Give the id of the one that you mean.',
  });
}
