/** Calls each operation once as it is meant, and each list also in pages: what a test needs that looks at all of them. */
import { expect } from 'chai';
import type { Organization } from '../../shared/organization/organization.js';
import type { Team } from '../../shared/organization/team.js';
import { type Asked, type Operation, type OrganizationsServer, operations, operator } from './organizations-server.js';

export interface Furnished {
  readonly organization: Organization;
  /** In the organization. */
  readonly team: Team;
  readonly standalone: Team;
}

export async function callEverything(server: OrganizationsServer): Promise<Furnished> {
  const called = new Set<Operation>();
  const does = <T>(status: number, operation: Operation, asked: Asked = {}): Promise<T> => {
    called.add(operation);
    return server.expect<T>(status, operation, asked);
  };
  const inPages = async (operation: Operation, asked: Asked = {}): Promise<void> => {
    const whole = await does<unknown[]>(200, operation, asked);
    let query: Record<string, string> | undefined = { limit: '1' };
    const found: unknown[] = [];
    while (query !== undefined) {
      const page = await server.ask(operation, { ...asked, query });
      found.push(...(page.body as unknown[]));
      const [, next] = /<([^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '') ?? [];
      query = next === undefined ? undefined : Object.fromEntries(new URL(next, server.origin).searchParams);
    }
    expect(found, `${operation} in pages`).to.deep.equal(whole);
  };

  const organization = await does<Organization>(201, 'createOrganization', {
    as: operator,
    body: { name: 'Everything' },
    headers: { 'idempotency-key': 'everything-1' },
  });
  const { id: organizationId } = organization;
  const params = { organizationId };
  const [alice, bob, carol] = ['alice@example.com', 'bob@example.com', 'carol@example.com'];
  await does(201, 'addOrganizationMember', { as: operator, params, body: { email: alice, role: 'admin' } });
  await does(201, 'addOrganizationMember', { params, body: { email: bob } });
  await does(200, 'setOrganizationMemberRole', { params: { ...params, email: bob }, body: { role: 'admin' } });
  const team = await does<Team>(201, 'createTeam', { body: { name: 'Inside', organizationId } });
  const standalone = await does<Team>(201, 'createTeam', { body: { name: 'Alone' } });
  const inside = { teamId: team.teamId };
  const alone = { teamId: standalone.teamId };
  await does(201, 'addTeamMember', { params: inside, body: { email: bob } });
  await does(201, 'addTeamMember', { params: alone, body: { email: carol } });
  await does(200, 'getOrganization', { params });
  await does(200, 'getTeam', { params: inside });
  await does(200, 'previewMigration', { params: alone, query: { organizationId } });
  await does(400, 'migrateTeam', { params: alone, body: { organizationId } });
  await does(200, 'migrateTeam', { params: alone, body: { organizationId, force: true } });
  await inPages('listOrganizations');
  await inPages('listTeams');
  await inPages('listOrganizationMembers', { params });
  await inPages('listOrganizationTeams', { params });
  await inPages('listOrganizationEvents', { params });
  await inPages('listTeamMembers', { params: inside });
  await inPages('listTeamEvents', { params: inside });
  const [erin, frank, grace] = ['erin@example.com', 'frank@example.com', 'grace@example.com'];
  await does(200, 'addOrganizationMembers', {
    params,
    body: { members: [{ email: erin }, { email: bob, role: 'admin' }] },
  });
  await does(200, 'addTeamMembers', { params: inside, body: { members: [{ email: erin, role: 'admin' }] } });
  await does(200, 'inviteMembers', {
    params,
    body: { members: [{ email: frank, role: 'admin' }, { email: grace }, { email: erin }] },
  });
  await inPages('listInvitations', { params });
  await does(200, 'resendInvitation', { params: { ...params, email: frank } });
  await inPages('listOwnInvitations', { as: frank });
  await does(201, 'acceptInvitation', { as: frank, params });
  await does(204, 'declineInvitation', { as: grace, params });
  await does(200, 'inviteMembers', { params, body: { members: [{ email: grace }] } });
  await does(204, 'revokeInvitation', { params: { ...params, email: grace } });
  await does(200, 'setTeamMemberRole', { params: { ...inside, email: bob }, body: { role: 'admin' } });
  await does(200, 'renameOrganization', { params, body: { name: 'Renamed' } });
  await does(200, 'setOrganizationCeilings', { params, body: { living: 9, usdPerMonth: '500' } });
  await does(200, 'setTeamCeilings', { params: inside, body: { living: 3 } });
  await does(200, 'renameTeam', { params: inside, body: { name: 'Renamed' } });
  await does(409, 'deleteOrganization', { params });
  await does(200, 'deleteTeam', { params: inside });
  await server.expect(404, 'getTeam', { params: inside });
  await does(200, 'restoreTeam', { params: inside });
  const other = await server.expect<Organization>(201, 'createOrganization', { as: operator, body: { name: 'Other' } });
  const ofOther = { as: operator, params: { organizationId: other.id } };
  await does(200, 'deleteOrganization', ofOther);
  await server.expect(404, 'getOrganization', ofOther);
  await does(200, 'restoreOrganization', ofOther);
  const out = { params: { ...alone, transferId: 'standalone' } };
  await does(201, 'proposeTransfer', { as: frank, params: alone, body: { organizationId: null } });
  await inPages('listTransfers', { params: alone });
  await does(204, 'refuseTransfer', out);
  await server.expect(201, 'proposeTransfer', { as: frank, params: alone, body: { organizationId: null } });
  await does(200, 'acceptTransfer', out);
  await server.expect(200, 'proposeTransfer', { params: alone, body: { organizationId } });
  await server.expect(200, 'proposeTransfer', { params: alone, body: { organizationId: null } });
  await server.expect(200, 'migrateTeam', { params: alone, body: { organizationId, force: true } });
  const latest = { ...alone, migrationId: 'latest' };
  await does(200, 'previewUndo', { params: latest });
  await does(200, 'undoMigration', { params: latest });
  await server.expect(200, 'migrateTeam', { params: alone, body: { organizationId, force: true } });
  await does(200, 'detachTeam', { as: operator, params: alone });
  await does(204, 'removeTeamMember', { params: { ...inside, email: bob } });
  await server.expect(201, 'addTeamMember', { params: inside, body: { email: bob } });
  await does(409, 'removeOrganizationMember', { params: { ...params, email: bob } });
  await does(204, 'removeOrganizationMember', { params: { ...params, email: bob }, query: { force: 'true' } });
  expect([...called]).to.have.members(operations);
  return { organization, team, standalone };
}
