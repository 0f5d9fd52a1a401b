/** A removal that is refused is as if it had not been asked for, whoever calls while it is looked into. */
import { expect } from 'chai';
import type { Store } from '../../functions/store/store.js';
import { createMemoryStore } from '../../local/functions/memory-store.js';
import type { MigrationReply } from '../../shared/organization/team.js';
import { alice, bob, carol, dave, useOrganizations } from './organizations-world.js';

const memory = createMemoryStore();
type Moment = () => Promise<unknown>;
/** What happens after each search for the teams of a member, in order. */
let moments: Moment[] = [];
let wrong: unknown;
const store: Store = {
  ...memory,
  async query(query) {
    const found = await memory.query(query);
    const byMember = query.where?.some(([field]) => field === 'email') === true;
    if (query.collection === 'teamMembers' && byMember) {
      await moments
        .shift()?.()
        .catch((error: unknown) => {
          wrong ??= error;
        });
    }
    return found;
  },
};

describe('a removal that is refused', () => {
  const world = useOrganizations({ open: async () => store });
  afterEach(() => {
    const left = moments.splice(0).length;
    const found = wrong;
    wrong = undefined;
    if (found !== undefined) throw found;
    expect(left, 'searches that did not come').to.equal(0);
  });

  /** Bob, an admin, is in a team of the organization, and in a standalone one with carol. */
  const begin = async () => {
    const organizationId = await world.organization({ [bob]: 'admin', [carol]: 'member' });
    const inside = await world.team({}, { organizationId });
    const standalone = await world.team({ [carol]: 'member' });
    return { organizationId, inside, standalone, removal: { params: { organizationId, email: bob } } };
  };
  const migrate = (teamId: number, organizationId: string, force: boolean) =>
    world.server.expect<MigrationReply>(200, 'migrateTeam', {
      as: alice,
      params: { teamId },
      body: { organizationId, force },
    });

  for (const force of [true, false]) {
    it(`is no reason for a migration ${force ? 'with' : 'without'} force to take the member for an outsider`, async () => {
      const { organizationId, standalone, removal } = await begin();
      let migrated: MigrationReply | undefined;
      moments = [async () => (migrated = await migrate(standalone, organizationId, force))];
      await world.refused('conflict', 'removeOrganizationMember', removal);
      expect(migrated?.removedMembers).to.deep.equal([]);
      expect(await world.emailsIn(standalone, alice)).to.deep.equal([bob, carol]);
    });
  }

  it('leaves an admin all rights meanwhile, and the organization its other admin', async () => {
    const { organizationId, inside, removal } = await begin();
    const params = { organizationId };
    moments = [
      async () => {
        await world.server.expect(201, 'addOrganizationMember', { as: bob, params, body: { email: dave } });
        await world.server.expect(201, 'addTeamMember', { params: { teamId: inside }, body: { email: dave } });
        const own = { params: { ...params, email: alice } };
        await world.server.expect(200, 'setOrganizationMemberRole', { ...own, body: { role: 'member' } });
        await world.server.expect(200, 'setOrganizationMemberRole', { ...own, as: bob, body: { role: 'admin' } });
      },
    ];
    await world.refused('conflict', 'removeOrganizationMember', removal);
  });

  it('is waited for where the member came into a team after the first look', async () => {
    const { organizationId, inside, standalone, removal } = await begin();
    await world.server.expect(204, 'removeTeamMember', { params: { teamId: inside, email: bob } });
    const before = memory.dump()['organizationMembers'];
    let migrating: Promise<MigrationReply> | undefined;
    moments = [
      () => world.server.expect(201, 'addTeamMember', { params: { teamId: inside }, body: { email: bob } }),
      async () => {
        migrating = migrate(standalone, organizationId, true);
        await world.server.expect(200, 'getOrganization', { as: bob, params: { organizationId } });
      },
    ];
    await world.refused('conflict', 'removeOrganizationMember', removal);
    expect((await migrating)?.removedMembers).to.deep.equal([]);
    expect(memory.dump()['organizationMembers'], 'no trace').to.deep.equal(before);
  });
});
