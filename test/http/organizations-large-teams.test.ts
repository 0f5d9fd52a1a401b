/** How large a team may be: stated where members are added, so that no team is too large to move. */
import { expect } from 'chai';
import { createMemoryStore } from '../../local/functions/memory-store.js';
import type { MigrationReply } from '../../shared/organization/team.js';
import { addMembersAtOnce, longEmail } from '../organizations/many-members.js';
import { detailOf } from '../organizations/organizations-server.js';
import { alice, bob, carol, useOrganizations } from './organizations-world.js';

describe('a large team', () => {
  const store = createMemoryStore();
  const world = useOrganizations({ open: async () => store });
  /** With so many members besides bob, its admin. */
  const team = async (more: number, email?: (n: number) => string): Promise<number> => {
    const teamId = await world.team();
    await addMembersAtOnce(store, { organizationId: '-', teamId, inside: 0, outside: more, ...(email && { email }) });
    return teamId;
  };
  const add = (teamId: number, email: string) =>
    world.server.ask('addTeamMember', { as: bob, params: { teamId }, body: { email } });

  it('takes no more than 2,000 members', async () => {
    const teamId = await team(1998);
    expect((await add(teamId, alice)).status).to.equal(201);
    const refused = await add(teamId, carol);
    expect(refused.status).to.equal(409);
    expect(detailOf(refused)).to.equal(`Team ${teamId} has 2000 members, and no team has more.`);
    expect((await add(teamId, alice)).status, 'who is a member already').to.equal(200);
    await world.server.expect(204, 'removeTeamMember', { as: bob, params: { teamId, email: alice } });
    expect((await add(teamId, carol)).status).to.equal(201);
  });

  it('moves with 2,000 of the longest addresses, once, and the reply is given again', async () => {
    const organizationId = await world.organization();
    const teamId = await team(1999, longEmail);
    const asked = {
      params: { teamId },
      body: { organizationId, force: true },
      headers: { 'idempotency-key': `large-${teamId}` },
    };
    const { removedMembers } = await world.server.expect<MigrationReply>(200, 'migrateTeam', asked);
    expect(removedMembers).to.have.length(2000);
    const again = await world.server.expect<MigrationReply>(200, 'migrateTeam', asked);
    expect(again.removedMembers).to.deep.equal(removedMembers);
  });
});
