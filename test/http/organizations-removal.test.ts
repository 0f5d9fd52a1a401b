/** A removal from an organization is several transactions; here the function dies between any two of them. */
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { organizationMemberId } from '../../functions/organizations/documents.js';
import type { Store } from '../../functions/store/store.js';
import { createMemoryStore } from '../../local/functions/memory-store.js';
import { collections } from '../../shared/names.js';
import type { Member } from '../../shared/organization/organization.js';
import type { MigrationReply } from '../../shared/organization/team.js';
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
  /** Whoever waits for a removal to end waits by this clock, whose time passes at once. */
  before(() => {
    const { clock } = world.server.context;
    const { now } = clock;
    let aheadMs = 0;
    Object.assign(clock, {
      now: () => new Date(now().getTime() + aheadMs),
      wait: async (seconds: number) => {
        aheadMs += seconds * 1000;
        await setImmediate();
      },
    });
  });
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

  /** The function that marked the member has been dead for long. */
  const outlive = (organizationId: string) =>
    memory.commit([
      {
        kind: 'update',
        collection: collections.organizationMembers,
        id: organizationMemberId(organizationId, bob),
        data: { leavingUntil: new Date(Date.now() - 1000).toISOString() },
      },
    ]);

  it('leaves a member that no team and no migration takes, or takes for an outsider, until its time is over', async () => {
    const { organizationId, removal } = await begin();
    const [standalone, other] = [await world.team(), await world.team({}, { as: alice, organizationId })];
    left = 2;
    await world.server.expect(503, 'removeOrganizationMember', { ...removal, query: { force: 'true' } });
    left = undefined;
    const migration = { params: { teamId: standalone }, body: { organizationId, force: true } };
    const waiting = await Promise.all([
      world.server.ask('addTeamMember', { params: { teamId: other }, body: { email: bob } }),
      world.server.ask('migrateTeam', migration),
      world.server.ask('addOrganizationMember', { params: { organizationId }, body: { email: bob } }),
      world.server.ask('setOrganizationMemberRole', { ...removal, body: { role: 'member' } }),
    ]);
    for (const { status, headers } of waiting) {
      expect(status).to.equal(409);
      expect(Number(headers.get('retry-after'))).to.be.within(1, 20);
    }
    await outlive(organizationId);
    const { removedMembers } = await world.server.expect<MigrationReply>(200, 'migrateTeam', migration);
    expect(removedMembers).to.deep.equal([]);
    expect(await world.emailsIn(standalone, alice)).to.deep.equal([bob]);
  }).timeout(20_000);

  it('leaves an admin with their rights, who counts as none for the last-admin rule', async () => {
    const { organizationId, removal } = await begin();
    left = 2;
    await world.server.expect(503, 'removeOrganizationMember', { ...removal, query: { force: 'true' } });
    left = undefined;
    const params = { organizationId };
    await world.server.expect(201, 'addOrganizationMember', { as: bob, params, body: { email: 'dave@example.com' } });
    await world.server.expect(204, 'removeOrganizationMember', { params: { organizationId, email: carol } });
    await world.refused('conflict', 'removeOrganizationMember', { params: { organizationId, email: alice } });
    await outlive(organizationId);
    await world.server.expect(204, 'removeOrganizationMember', { params: { organizationId, email: alice } });
  }).timeout(20_000);

  it('is over after its time, whatever a retry that is refused says', async () => {
    const { organizationId, removal, teams } = await begin();
    left = 2;
    await world.server.expect(503, 'removeOrganizationMember', { ...removal, query: { force: 'true' } });
    left = undefined;
    const problem = await world.refused('conflict', 'removeOrganizationMember', removal);
    expect(problem['teams']).to.have.length(teams.length);
    await outlive(organizationId);
    await world.server.expect(200, 'setOrganizationMemberRole', { ...removal, body: { role: 'member' } });
    expect(await rolesIn(organizationId)).to.deep.include([bob, 'member']);
  });

  describe('in an organization that is deleted and restored meanwhile', () => {
    const stopped = async () => {
      const { organizationId, teams, removal } = await begin();
      left = 2;
      await world.server.expect(503, 'removeOrganizationMember', { ...removal, query: { force: 'true' } });
      left = undefined;
      for (const teamId of teams) await world.server.expect(200, 'deleteTeam', { params: { teamId } });
      await world.server.expect(200, 'deleteOrganization', { params: { organizationId } });
      await world.refused('not-found', 'removeOrganizationMember', removal);
      await world.server.expect(200, 'restoreOrganization', { params: { organizationId } });
      return { organizationId, teams, removal };
    };

    it('is finished by a retry', async () => {
      const { organizationId, teams, removal } = await stopped();
      await world.server.expect(204, 'removeOrganizationMember', removal);
      expect(await rolesIn(organizationId)).not.to.deep.include([bob, 'admin']);
      for (const teamId of teams) {
        const { removedMembers } = await world.server.expect<MigrationReply>(200, 'restoreTeam', {
          params: { teamId },
        });
        expect(removedMembers).to.deep.equal([bob]);
      }
    });

    it('is over with the next change of the member, after its time', async () => {
      const { organizationId, teams, removal } = await stopped();
      await outlive(organizationId);
      await world.server.expect(200, 'setOrganizationMemberRole', { ...removal, body: { role: 'member' } });
      expect(await rolesIn(organizationId)).to.deep.include([bob, 'member']);
      for (const teamId of teams) {
        await world.server.expect(200, 'restoreTeam', { params: { teamId } });
        expect(await world.emailsIn(teamId, alice)).to.deep.equal([bob]);
      }
    });
  });
});
