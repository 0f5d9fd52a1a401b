/** Renaming, deleting and restoring organizations and teams, over HTTP. */
import { expect } from 'chai';
import type { Store } from '../../functions/store/store.js';
import { createMemoryStore } from '../../local/functions/memory-store.js';
import type { Organization, OrganizationEvent } from '../../shared/organization/organization.js';
import type { MigrationReply, Team } from '../../shared/organization/team.js';
import { alice, bob, carol, outsider, useOrganizations } from './organizations-world.js';

describe('the life of organizations and teams', () => {
  let store: Store;
  const world = useOrganizations({
    open: async () => {
      store = createMemoryStore();
      return store;
    },
  });
  const { organization, team, refused, emailsIn } = world;

  it('admins rename them, members do not, and ids stay', async () => {
    const { server } = world;
    const organizationId = await organization({ [bob]: 'member' });
    const params = { organizationId };
    const named = await server.expect<Organization>(200, 'renameOrganization', { params, body: { name: 'Zenith' } });
    expect([named.id, named.name]).to.deep.equal([organizationId, 'Zenith']);
    await refused('forbidden', 'renameOrganization', { as: bob, params, body: { name: 'Mine' } });
    await refused('bad-input', 'renameOrganization', { params, body: { name: ' ' } });
    const teamId = await team({ [carol]: 'member' });
    const renamed = await server.expect<Team>(200, 'renameTeam', {
      as: bob,
      params: { teamId },
      body: { name: 'Blue' },
    });
    expect([renamed.teamId, renamed.name]).to.deep.equal([teamId, 'Blue']);
    await refused('forbidden', 'renameTeam', { as: carol, params: { teamId }, body: { name: 'Mine' } });
    await refused('not-found', 'renameTeam', { as: outsider, params: { teamId }, body: { name: 'Mine' } });
  });

  it('a role in a team changes, and the last admin of a standalone team stays one', async () => {
    const { server } = world;
    const teamId = await team({ [carol]: 'member' });
    const role = (email: string, to: string) => ({ as: bob, params: { teamId, email }, body: { role: to } });
    await refused('conflict', 'setTeamMemberRole', role(bob, 'member'));
    await server.expect(200, 'setTeamMemberRole', role(carol, 'admin'));
    await server.expect(200, 'setTeamMemberRole', role(bob, 'member'));
    await refused('forbidden', 'setTeamMemberRole', role(bob, 'admin'));
    await refused('not-found', 'setTeamMemberRole', { ...role(outsider, 'admin'), as: carol });
  });

  it('an organization with teams is not deleted; without, it is gone for everybody until an admin restores it', async () => {
    const { server } = world;
    const organizationId = await organization({ [bob]: 'member', [carol]: 'admin' });
    const params = { organizationId };
    const teamId = await team({}, { as: carol, organizationId });
    const held = await refused('conflict', 'deleteOrganization', { params });
    expect(held).to.deep.include({ teams: [{ teamId, name: 'Red' }] });
    await server.expect(200, 'deleteTeam', { params: { teamId } });
    await refused('forbidden', 'deleteOrganization', { as: bob, params });
    const deleted = await server.expect<Organization>(200, 'deleteOrganization', { params });
    expect(deleted.deletedAt).to.be.a('string');
    for (const as of [alice, bob, carol]) {
      await refused('not-found', 'getOrganization', { as, params });
      await refused('not-found', 'listOrganizationMembers', { as, params });
      await refused('not-found', 'deleteOrganization', { as, params });
      const left = await server.expect<Organization[]>(200, 'listOrganizations', { as });
      expect(left.map(({ id }) => id)).not.to.include(organizationId);
      const can = await server.expect<Organization[]>(200, 'listOrganizations', { as, query: { deleted: 'true' } });
      expect(can.map(({ id }) => id)).to.include(organizationId);
    }
    await refused('not-found', 'addOrganizationMember', { params, body: { email: outsider } });
    await refused('not-found', 'createTeam', { body: { name: 'Late', organizationId } });
    const alone = await team();
    await refused('not-found', 'migrateTeam', { params: { teamId: alone }, body: { organizationId, force: true } });
    await refused('conflict', 'restoreTeam', { params: { teamId } });

    await refused('not-found', 'restoreOrganization', { as: outsider, params });
    await refused('forbidden', 'restoreOrganization', { as: bob, params });
    await server.expect(200, 'restoreOrganization', { as: carol, params });
    await server.expect(200, 'restoreOrganization', { as: carol, params });
    const members = await server.expect<unknown[]>(200, 'listOrganizationMembers', { params });
    expect(members).to.have.length(3);
    const events = await server.expect<OrganizationEvent[]>(200, 'listOrganizationEvents', { params });
    const actions = events.map(({ action }) => action);
    expect(actions.slice(0, 3)).to.deep.equal(['organization-restored', 'organization-deleted', 'team-deleted']);
  });

  it('a team comes back as it was, without those who have left its organization meanwhile', async () => {
    const { server } = world;
    const organizationId = await organization({ [bob]: 'member', [carol]: 'member' });
    const teamId = await team({ [bob]: 'admin', [carol]: 'member' }, { as: alice, organizationId });
    await refused('forbidden', 'deleteTeam', { as: carol, params: { teamId } });
    await server.expect(200, 'deleteTeam', { as: bob, params: { teamId } });
    for (const as of [alice, bob, carol]) await refused('not-found', 'getTeam', { as, params: { teamId } });
    expect(await server.expect<Team[]>(200, 'listOrganizationTeams', { params: { organizationId } })).to.deep.equal([]);
    const can = await server.expect<Team[]>(200, 'listTeams', { as: bob, query: { deleted: 'true' } });
    expect(can.map((each) => each.teamId)).to.deep.equal([teamId]);
    // A deleted team holds nobody in the organization.
    await server.expect(204, 'removeOrganizationMember', { params: { organizationId, email: bob } });
    await refused('not-found', 'restoreTeam', { as: bob, params: { teamId } });
    await refused('forbidden', 'restoreTeam', { as: carol, params: { teamId } });
    const reply = await server.expect<MigrationReply>(200, 'restoreTeam', { params: { teamId } });
    expect(reply.removedMembers).to.deep.equal([bob]);
    expect(reply.team.organizationId).to.equal(organizationId);
    expect(await emailsIn(teamId, alice)).to.deep.equal([alice, carol]);
  });

  it('what is deleted carries the moment when Firestore removes it, and is not restored after that', async () => {
    const { server } = world;
    const organizationId = await organization({ [bob]: 'member' });
    const teamId = await team({ [carol]: 'member' });
    await server.expect(200, 'deleteOrganization', { params: { organizationId } });
    await server.expect(200, 'deleteTeam', { as: bob, params: { teamId } });
    const expiring = async (): Promise<number> => {
      const asked: readonly (readonly [string, string, string | number])[] = [
        ['organizations', 'id', organizationId],
        ['organizationMembers', 'organizationId', organizationId],
        ['teams', 'teamId', teamId],
        ['teamMembers', 'teamId', teamId],
      ];
      const found = await Promise.all(
        asked.map(([collection, field, value]) => store.query({ collection, where: [[field, '==', value]] })),
      );
      return found.flat().filter(({ data }) => data['expireAt'] !== undefined).length;
    };
    expect(await expiring()).to.equal(6);
    const places = [
      { collection: 'organizations', id: organizationId },
      { collection: 'teams', id: String(teamId) },
    ];
    const setExpiry = (inSeconds: number) =>
      store.commit(
        places.map((place) => {
          const expireAt = new Date(Date.now() + inSeconds * 1000).toISOString();
          return { kind: 'update', ...place, data: { expireAt } };
        }),
      );
    await setExpiry(-60);
    const late = await refused('conflict', 'restoreOrganization', { params: { organizationId } });
    expect(late.detail).to.equal('Organization Acme was deleted more than 30 days ago, and is gone.');
    await refused('conflict', 'restoreTeam', { as: bob, params: { teamId } });
    await setExpiry(60);
    await server.expect(200, 'restoreOrganization', { params: { organizationId } });
    await server.expect(200, 'restoreTeam', { as: bob, params: { teamId } });
    expect(await expiring()).to.equal(0);
  });
});
