/** Moves of teams that both sides agree on, over HTTP, where a migration asks for consent. */
import { expect } from 'chai';
import type { Store } from '../../functions/store/store.js';
import { createMemoryStore } from '../../local/functions/memory-store.js';
import type { OrganizationEvent } from '../../shared/organization/organization.js';
import type { MigrationReply, Transfer } from '../../shared/organization/team.js';
import { alice, bob, carol, dave, outsider, useOrganizations } from './organizations-world.js';

describe('a transfer of a team', () => {
  let store: Store;
  const world = useOrganizations({
    creators: 'anyone',
    open: async () => {
      store = createMemoryStore();
      return store;
    },
  });
  const { organization, team, refused, emailsIn } = world;
  const propose = (as: string, teamId: number, organizationId: string | null, force = false) =>
    world.server.expect<Transfer & MigrationReply>(201, 'proposeTransfer', {
      as,
      params: { teamId },
      body: { organizationId, force },
    });
  const answer = (as: string, teamId: number, transferId: string) => ({ as, params: { teamId, transferId } });

  it("is proposed by an organization's admin and accepted by the team's", async () => {
    const { server } = world;
    const organizationId = await organization({ [bob]: 'member' });
    const teamId = await team({ [carol]: 'member' });
    await refused('not-found', 'migrateTeam', { params: { teamId }, body: { organizationId } });
    const proposal = await propose(alice, teamId, organizationId, true);
    expect(proposal).to.include({ id: organizationId, teamId, force: true, proposedBy: alice });
    const days = (Date.parse(proposal.expiresAt) - Date.parse(proposal.proposedAt)) / 86_400_000;
    expect(days).to.equal(14);
    await refused('forbidden', 'acceptTransfer', answer(alice, teamId, organizationId));
    await refused('forbidden', 'acceptTransfer', answer(carol, teamId, organizationId));
    await refused('not-found', 'acceptTransfer', answer(outsider, teamId, organizationId));
    await refused('not-found', 'listTransfers', { params: { teamId } });
    const waiting = await server.expect<Transfer[]>(200, 'listTransfers', { as: bob, params: { teamId } });
    expect(waiting).to.deep.equal([proposal]);
    const reply = await server.expect<MigrationReply>(200, 'acceptTransfer', answer(bob, teamId, organizationId));
    expect([reply.team.organizationId, reply.removedMembers]).to.deep.equal([organizationId, [carol]]);
    expect(await emailsIn(teamId, bob)).to.deep.equal([bob]);
    await refused('not-found', 'acceptTransfer', answer(alice, teamId, organizationId));
  });

  it('is refused by the other side, or taken back, and then there is nothing to accept', async () => {
    const { server } = world;
    const organizationId = await organization();
    const teamId = await team();
    for (const as of [bob, alice]) {
      await propose(alice, teamId, organizationId);
      await server.expect(204, 'refuseTransfer', answer(as, teamId, organizationId));
      await refused('not-found', 'acceptTransfer', answer(bob, teamId, organizationId));
    }
  });

  it('holds to the one rule when it is accepted, and to the proposer still being an admin', async () => {
    const { server } = world;
    const organizationId = await organization({ [bob]: 'member', [dave]: 'admin' });
    const teamId = await team({ [carol]: 'member' });
    await propose(alice, teamId, organizationId);
    const outside = await refused('members-outside', 'acceptTransfer', answer(bob, teamId, organizationId));
    expect(outside).to.deep.include({ members: [carol] });
    await server.expect(204, 'removeTeamMember', { as: bob, params: { teamId, email: carol } });
    const role = (to: string) => ({ as: dave, params: { organizationId, email: alice }, body: { role: to } });
    await server.expect(200, 'setOrganizationMemberRole', role('member'));
    await refused('conflict', 'acceptTransfer', answer(bob, teamId, organizationId));
    await server.expect(200, 'setOrganizationMemberRole', role('admin'));
    const expiresAt = new Date(Date.now() - 1000).toISOString();
    const id = `${teamId}~${organizationId}`;
    await store.commit([{ kind: 'update', collection: 'transfers', id, data: { expiresAt } }]);
    await refused('conflict', 'acceptTransfer', answer(bob, teamId, organizationId));
    await propose(alice, teamId, organizationId);
    await server.expect(200, 'acceptTransfer', answer(bob, teamId, organizationId));
  });

  it('takes a team out of its organization, or on to another one, by admins of both sides', async () => {
    const { server } = world;
    const [first, second] = [await organization({ [bob]: 'admin' }), await organization({ [bob]: 'member' })];
    const teamId = await team({ [bob]: 'member' }, { as: alice, organizationId: first });
    const go = (as: string, organizationId: string | null, status: number) =>
      server.expect<MigrationReply>(status, 'proposeTransfer', { as, params: { teamId }, body: { organizationId } });
    expect((await go(alice, second, 200)).team.organizationId).to.equal(second);
    const told = async (organizationId: string) => {
      const events = await server.expect<OrganizationEvent[]>(200, 'listOrganizationEvents', {
        params: { organizationId },
      });
      return events[0]?.action;
    };
    expect([await told(first), await told(second)]).to.deep.equal(['team-left', 'team-migrated']);
    await refused('conflict', 'proposeTransfer', { params: { teamId }, body: { organizationId: second } });
    await refused('forbidden', 'proposeTransfer', { as: bob, params: { teamId }, body: { organizationId: null } });
    // Bob governs where it would go, and nobody of where it is.
    await go(bob, first, 201);
    await server.expect(200, 'acceptTransfer', answer(alice, teamId, first));
    expect((await go(alice, null, 200)).team.organizationId).to.equal(null);
    expect(await emailsIn(teamId, alice)).to.deep.equal([alice, bob]);
  });

  it('tells whoever cannot see a team nothing of it, not even that it is there', async () => {
    const organizationId = await organization();
    const teamId = await team();
    for (const number of [teamId, 2147483646]) {
      const { proposedAt: _, expiresAt: __, teamId: ___, ...proposal } = await propose(alice, number, organizationId);
      expect(proposal).to.deep.equal({ id: organizationId, organizationId, force: false, proposedBy: alice });
      await refused('not-found', 'proposeTransfer', { params: { teamId: number }, body: { organizationId: null } });
      await refused('not-found', 'getTeam', { params: { teamId: number } });
    }
  });
});
