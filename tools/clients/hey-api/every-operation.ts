/** Calls every operation of the organization API through what @hey-api/openapi-ts made of its document. Prints what it saw as one line of JSON. */
import { createClient, createConfig } from './api/organizations/client/index.js';
import {
  acceptInvitation,
  acceptTransfer,
  addOrganizationMember,
  addOrganizationMembers,
  addTeamMember,
  addTeamMembers,
  createOrganization,
  createTeam,
  declineInvitation,
  deleteOrganization,
  deleteTeam,
  detachTeam,
  getOrganization,
  getTeam,
  inviteMembers,
  listInvitations,
  listOrganizationEvents,
  listOrganizationMembers,
  listOrganizations,
  listOrganizationTeams,
  listOwnInvitations,
  listTeamEvents,
  listTeamMembers,
  listTeams,
  listTransfers,
  migrateTeam,
  previewMigration,
  previewUndo,
  proposeTransfer,
  refuseTransfer,
  removeOrganizationMember,
  removeTeamMember,
  renameOrganization,
  renameTeam,
  resendInvitation,
  restoreOrganization,
  restoreTeam,
  revokeInvitation,
  setOrganizationCeilings,
  setOrganizationMemberRole,
  setTeamCeilings,
  setTeamMemberRole,
  undoMigration,
} from './api/organizations/index.js';

declare const process: { readonly env: Readonly<Record<string, string | undefined>> };
const { ORGANIZATIONS_URL = '' } = process.env;
const called = new Set<string>();
const throwOnError = true;

/** A client of one person, as whom every call of it goes. */
function as(name: string) {
  const client = createClient(
    createConfig({ baseUrl: ORGANIZATIONS_URL, auth: process.env[`TOKEN_${name.toUpperCase()}`] ?? '' }),
  );
  client.interceptors.request.use((request, options) => {
    called.add(`${request.method} ${options.url}`);
    return request;
  });
  return { client, throwOnError } as const;
}
const [alice, dave, frank, grace, operator] = [as('alice'), as('dave'), as('frank'), as('grace'), as('operator')];

async function membersOf(organizationId: string): Promise<void> {
  const path = { organizationId };
  await getOrganization({ ...alice, path });
  await renameOrganization({ ...alice, path, body: { name: 'renamed' } });
  await setOrganizationCeilings({ ...alice, path, body: { living: 9, usdPerMonth: '500' } });
  await addOrganizationMember({ ...alice, path, body: { email: 'carol@example.com' } });
  await addOrganizationMembers({ ...alice, path, body: { members: [{ email: 'dave@example.com' }] } });
  const asAdmin = { role: 'admin' } as const;
  await setOrganizationMemberRole({ ...alice, path: { ...path, email: 'dave@example.com' }, body: asAdmin });
  const members = ['frank', 'grace', 'heidi'].map((name) => ({ email: `${name}@example.com` }));
  await inviteMembers({ ...alice, path, body: { members } });
  await listInvitations({ ...alice, path });
  await resendInvitation({ ...alice, path: { ...path, email: 'frank@example.com' } });
  await listOwnInvitations({ ...frank });
  await acceptInvitation({ ...frank, path });
  await declineInvitation({ ...grace, path });
  await revokeInvitation({ ...alice, path: { ...path, email: 'heidi@example.com' } });
}

async function madeTeam(): Promise<number> {
  const { data: team } = await createTeam({ ...alice, body: { name: 'first' } });
  const path = { teamId: team.teamId };
  await getTeam({ ...alice, path });
  await renameTeam({ ...alice, path, body: { name: 'second' } });
  await setTeamCeilings({ ...alice, path, body: { living: 3 } });
  await addTeamMember({ ...alice, path, body: { email: 'carol@example.com' } });
  await addTeamMembers({ ...alice, path, body: { members: [{ email: 'zoe@example.org' }] } });
  const asAdmin = { role: 'admin' } as const;
  await setTeamMemberRole({ ...alice, path: { ...path, email: 'carol@example.com' }, body: asAdmin });
  return team.teamId;
}

/** Into the organization and out again, with the tags of both previews. */
async function movedAndBack(teamId: number, organizationId: string) {
  const path = { teamId };
  const tagOf = (response: Response) => ({ 'If-Match': response.headers.get('etag') ?? '' });
  const into = await previewMigration({ ...alice, path, query: { organizationId } });
  const { data: moved } = await migrateTeam({
    ...alice,
    path,
    headers: tagOf(into.response),
    body: { organizationId, force: true },
  });
  const { data: inIt } = await listOrganizationTeams({ ...alice, path: { organizationId } });
  const latest = { ...path, migrationId: 'latest' };
  const out = await previewUndo({ ...alice, path: latest });
  const { data: undone } = await undoMigration({ ...alice, path: latest, headers: tagOf(out.response) });
  return {
    removed: moved.removedMembers,
    teams: inIt.map(({ name }) => name),
    returns: out.data.returns.map(({ email }) => email),
    restored: undone.restoredMembers,
  };
}

/** In by agreement, and out by an operator. */
async function transferred(teamId: number, organizationId: string): Promise<void> {
  const path = { teamId };
  const proposal = { ...dave, path, body: { organizationId, force: true } };
  const answer = { ...alice, path: { ...path, transferId: organizationId } };
  await proposeTransfer(proposal);
  await listTransfers({ ...alice, path });
  await refuseTransfer(answer);
  await proposeTransfer(proposal);
  await acceptTransfer(answer);
  await detachTeam({ ...operator, path });
}

/** Who left, and why; both are deleted and taken back. */
async function ended(teamId: number, organizationId: string) {
  const [ofTeam, ofOrganization] = [{ teamId }, { organizationId }];
  const query = { why: 'no more needed' };
  await removeTeamMember({ ...alice, path: { ...ofTeam, email: 'zoe@example.org' }, query });
  await removeOrganizationMember({ ...alice, path: { ...ofOrganization, email: 'dave@example.com' }, query });
  const { data: left } = await listTeamEvents({ ...alice, path: ofTeam, query: { action: 'team-member-removed' } });
  const { data: gone } = await listOrganizationEvents({
    ...alice,
    path: ofOrganization,
    query: { action: 'member-removed' },
  });
  await deleteTeam({ ...alice, path: ofTeam });
  await restoreTeam({ ...alice, path: ofTeam });
  await deleteOrganization({ ...alice, path: ofOrganization });
  await restoreOrganization({ ...alice, path: ofOrganization });
  return {
    why: [...left, ...gone].map(({ email, why }) => `${email}: ${why}`),
    members: {
      team: (await listTeamMembers({ ...alice, path: ofTeam })).data.map(({ email }) => email),
      organization: (await listOrganizationMembers({ ...alice, path: ofOrganization })).data.map(({ email }) => email),
    },
  };
}

const { data: organization } = await createOrganization({ ...alice, body: { name: 'by a client' } });
await membersOf(organization.id);
const teamId = await madeTeam();
const moved = await movedAndBack(teamId, organization.id);
await transferred(teamId, organization.id);
const end = await ended(teamId, organization.id);
const { data: organizations } = await listOrganizations({ ...alice });
const { data: teams } = await listTeams({ ...alice });
console.log(
  JSON.stringify({
    called: [...called].sort(),
    ...moved,
    ...end,
    left: [...organizations, ...teams].map(({ name }) => name),
  }),
);
