/** A removal from an organization is several transactions; here the function dies between any two of them. */
import { expect } from 'chai';
import type { Store } from '../../functions/store/store.js';
import { createMemoryStore } from '../../local/memory-store.js';
import type { Member } from '../../shared/organization/organization.js';
import { Problem } from '../../shared/problems.js';
import { alice, bob, carol, useOrganizations } from './organizations-world.js';

const memory = createMemoryStore();
/** How many transactions go well before all fail; undefined: none fails. */
let left: number | undefined;
const store: Store = {
  ...memory,
  async transaction(body) {
    if (left === 0) throw new Problem('unavailable', 'The database cannot be reached now.');
    if (left !== undefined) left -= 1;
    return memory.transaction(body);
  },
};

describe('a removal that stops half-way', () => {
  const world = useOrganizations({ open: async () => store });
  afterEach(() => {
    left = undefined;
  });

  const begin = async () => {
    const organizationId = await world.organization({ [bob]: 'admin', [carol]: 'admin' });
    const teams = [await world.team({}, { organizationId }), await world.team({}, { organizationId })];
    const removal = { params: { organizationId, email: bob } };
    return { organizationId, teams, removal };
  };
  const rolesIn = async (organizationId: string) =>
    (await world.server.expect<Member[]>(200, 'listOrganizationMembers', { params: { organizationId } })).map(
      ({ email, role }) => [email, role],
    );

  // Without a witness, mark with one, one for each of two teams, delete.
  for (const after of [1, 2, 3, 4]) {
    it(`is finished by a retry, after ${after} of its transactions`, async () => {
      const { organizationId, teams, removal } = await begin();
      left = after;
      await world.server.expect(503, 'removeOrganizationMember', { ...removal, query: { force: 'true' } });
      left = undefined;
      expect(await rolesIn(organizationId), 'a member, while teams may hold them').to.deep.include([bob, 'admin']);
      await world.server.expect(204, 'removeOrganizationMember', { ...removal, query: { force: 'true' } });
      for (const teamId of teams) expect(await world.emailsIn(teamId, alice)).to.deep.equal([]);
      expect(await rolesIn(organizationId)).to.deep.equal([
        [alice, 'admin'],
        [carol, 'admin'],
      ]);
    });
  }

  it('leaves a member that no team and no migration takes, and that counts as no admin', async () => {
    const { organizationId, removal } = await begin();
    const [standalone, other] = [await world.team(), await world.team({}, { as: alice, organizationId })];
    left = 2;
    await world.server.expect(503, 'removeOrganizationMember', { ...removal, query: { force: 'true' } });
    left = undefined;
    await world.refused('bad-input', 'addTeamMember', { params: { teamId: other }, body: { email: bob } });
    await world.refused('members-outside', 'migrateTeam', { params: { teamId: standalone }, body: { organizationId } });
    await world.refused('conflict', 'addOrganizationMember', { params: { organizationId }, body: { email: bob } });
    await world.refused('conflict', 'setOrganizationMemberRole', { ...removal, body: { role: 'member' } });
    await world.refused('forbidden', 'addOrganizationMember', {
      as: bob,
      params: { organizationId },
      body: { email: 'dave@example.com' },
    });
    await world.server.expect(204, 'removeOrganizationMember', { params: { organizationId, email: carol } });
    await world.refused('conflict', 'removeOrganizationMember', { params: { organizationId, email: alice } });
  });

  it('is taken back by a retry that is refused', async () => {
    const { organizationId, removal, teams } = await begin();
    left = 2;
    await world.server.expect(503, 'removeOrganizationMember', { ...removal, query: { force: 'true' } });
    left = undefined;
    const problem = await world.refused('conflict', 'removeOrganizationMember', removal);
    expect(problem['teams']).to.have.length(teams.length);
    await world.server.expect(200, 'setOrganizationMemberRole', { ...removal, body: { role: 'member' } });
    expect(await rolesIn(organizationId)).to.deep.include([bob, 'member']);
  });
});
