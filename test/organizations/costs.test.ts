/** What each operation reads and writes, against the table that the reference page prints. */
import { expect } from 'chai';
import {
  bootstrapsCost,
  type Counted,
  type Documents,
  idempotencyCost,
  operationCosts,
} from '../../functions/organizations/costs.js';
import type { Write } from '../../functions/store/store.js';
import { createMemoryStore } from '../../local/functions/memory-store.js';
import type { Member, Organization } from '../../shared/organization/organization.js';
import type { Team } from '../../shared/organization/team.js';
import { createIssuer, type Issuer } from '../http/issuer.js';
import { countStore, type StoreCounts } from '../support/counting-store.js';
import { addMembersAtOnce } from './many-members.js';
import {
  type Asked,
  createOrganizationsServer,
  type Operation,
  type OrganizationsServer,
  operations,
  operator,
} from './organizations-server.js';

const listed = 12;
const leavers = 7;

describe('the documents of an operation', () => {
  let issuer: Issuer;
  let server: OrganizationsServer;
  let counts: StoreCounts;
  let organizationId: string;
  let lonely: string;
  let inside: number;
  let alone: number;
  let moving: number;
  let another: number;
  const memory = createMemoryStore();
  /** By what the table counts. */
  const n: Record<Counted, number> = {
    listed,
    'members named': listed,
    // Those of the organization that is deleted: its maker alone.
    'members of the organization': 1,
    'members of the team': listed,
    'members that leave': leavers,
    'teams that hold the member': 3,
  };
  const most = ({ fixed, each }: Documents, times = n): number =>
    fixed + (each === undefined ? 0 : each.times * times[each.of]);

  before(async () => {
    issuer = await createIssuer();
    const counted = countStore(memory);
    counts = counted.counts;
    server = await createOrganizationsServer(issuer, {
      store: counted.store,
      env: {
        PLINTH_ORGANIZATION_CREATORS: 'example.com',
        PLINTH_MIGRATION_CONSENT: 'off',
        PLINTH_CHANGES_PER_MINUTE: '10000',
      },
    });
    for (let i = 0; i < listed; i++) {
      lonely = organizationId;
      ({ id: organizationId } = await server.expect<Organization>(201, 'createOrganization', {
        body: { name: `organization ${i}` },
      }));
    }
    for (let i = 0; i < listed; i++) {
      ({ teamId: inside } = await server.expect<Team>(201, 'createTeam', {
        body: { name: `team ${i}`, organizationId },
      }));
    }
    ({ teamId: moving } = await server.expect<Team>(201, 'createTeam', { body: { name: 'moving' } }));
    ({ teamId: another } = await server.expect<Team>(201, 'createTeam', { body: { name: 'another' } }));
    ({ teamId: alone } = await server.expect<Team>(201, 'createTeam', { body: { name: 'alone' } }));
    await addMembersAtOnce(memory, { organizationId, teamId: alone, inside: listed - leavers - 1, outside: leavers });
    await addMembersAtOnce(memory, { organizationId, teamId: inside, inside: 0, outside: 0 });
    for (const email of ['bob@example.com', 'carol@example.com', 'dave@example.com']) {
      await server.expect(201, 'addOrganizationMember', { params: { organizationId }, body: { email, role: 'admin' } });
    }
    const teams = await server.expect<Team[]>(200, 'listOrganizationTeams', { params: { organizationId } });
    const others = teams.map(({ teamId }) => teamId).filter((teamId) => teamId !== inside);
    for (const teamId of [inside, ...others.slice(0, 2)]) {
      await server.expect(201, 'addTeamMember', {
        params: { teamId },
        body: { email: 'bob@example.com', role: 'admin' },
      });
    }
  });
  after(() => {
    server.close();
    issuer.close();
  });

  async function costOf(
    status: number,
    operation: Operation,
    asked: Asked,
  ): Promise<{ reads: number; written: number }> {
    const before = { ...counts };
    await server.expect(status, operation, asked);
    return { reads: counts.reads - before.reads, written: counts.written - before.written };
  }

  const inOrganization = () => ({ organizationId });
  const named = (prefix: string) => Array.from({ length: listed }, (_, i) => ({ email: `${prefix}${i}@example.com` }));
  const member = (email: string) => ({ organizationId, email });
  const calls: Readonly<Record<Operation, readonly (readonly [what: string, status: number, asked: () => Asked])[]>> = {
    createOrganization: [['', 201, () => ({ body: { name: 'another' } })]],
    listOrganizations: [['', 200, () => ({ query: { limit: String(listed) } })]],
    getOrganization: [['', 200, () => ({ params: inOrganization() })]],
    listOrganizationMembers: [['', 200, () => ({ params: inOrganization(), query: { limit: String(listed - 1) } })]],
    renameOrganization: [['', 200, () => ({ params: inOrganization(), body: { name: 'renamed' } })]],
    setOrganizationCeilings: [['', 200, () => ({ params: inOrganization(), body: { living: 9 } })]],
    deleteOrganization: [
      ['', 200, () => ({ params: { organizationId: lonely } })],
      ['with teams', 409, () => ({ params: inOrganization() })],
    ],
    restoreOrganization: [['', 200, () => ({ params: { organizationId: lonely } })]],
    listOrganizationEvents: [['', 200, () => ({ params: inOrganization(), query: { limit: String(listed - 1) } })]],
    addOrganizationMember: [
      ['', 201, () => ({ params: inOrganization(), body: { email: 'eve@example.com' } })],
      ['already so', 200, () => ({ params: inOrganization(), body: { email: 'eve@example.com' } })],
      [
        'with another role',
        409,
        () => ({ params: inOrganization(), body: { email: 'eve@example.com', role: 'admin' } }),
      ],
    ],
    addOrganizationMembers: [['', 200, () => ({ params: inOrganization(), body: { members: named('m') } })]],
    inviteMembers: [
      ['', 200, () => ({ params: inOrganization(), body: { members: named('i') } })],
      ['once more', 200, () => ({ params: inOrganization(), body: { members: named('i') } })],
    ],
    listInvitations: [['', 200, () => ({ params: inOrganization(), query: { limit: String(listed - 1) } })]],
    resendInvitation: [['', 200, () => ({ params: member('i1@example.com') })]],
    revokeInvitation: [['', 204, () => ({ params: member('i1@example.com') })]],
    listOwnInvitations: [['', 200, () => ({ as: 'i2@example.com' })]],
    acceptInvitation: [['', 201, () => ({ as: 'i2@example.com', params: inOrganization() })]],
    declineInvitation: [['', 204, () => ({ as: 'i3@example.com', params: inOrganization() })]],
    setOrganizationMemberRole: [
      ['to admin', 200, () => ({ params: member('eve@example.com'), body: { role: 'admin' } })],
      ['of an admin', 200, () => ({ params: member('eve@example.com'), body: { role: 'member' } })],
    ],
    listOrganizationTeams: [['', 200, () => ({ params: inOrganization() })]],
    listTeamEvents: [['', 200, () => ({ params: { teamId: inside } })]],
    createTeam: [
      ['standalone', 201, () => ({ body: { name: 'another' } })],
      ['in an organization', 201, () => ({ as: 'carol@example.com', body: { name: 'another', organizationId } })],
    ],
    listTeams: [['', 200, () => ({ query: { limit: String(listed - 1) } })]],
    getTeam: [
      ['as a member', 200, () => ({ params: { teamId: inside } })],
      ['as an admin of its organization', 200, () => ({ as: 'carol@example.com', params: { teamId: inside } })],
    ],
    listTeamMembers: [['', 200, () => ({ as: 'alice@example.com', params: { teamId: alone } })]],
    renameTeam: [['', 200, () => ({ params: { teamId: inside }, body: { name: 'renamed' } })]],
    setTeamCeilings: [['', 200, () => ({ params: { teamId: inside }, body: { living: 3 } })]],
    deleteTeam: [['', 200, () => ({ params: { teamId: alone } })]],
    restoreTeam: [['', 200, () => ({ params: { teamId: alone } })]],
    addTeamMembers: [['', 200, () => ({ params: { teamId: inside }, body: { members: named('m') } })]],
    setTeamMemberRole: [
      ['', 200, () => ({ params: { teamId: inside, email: 'bob@example.com' }, body: { role: 'member' } })],
    ],
    addTeamMember: [
      ['', 201, () => ({ params: { teamId: inside }, body: { email: 'carol@example.com' } })],
      [
        'by an admin of the organization',
        201,
        () => ({ as: 'carol@example.com', params: { teamId: inside }, body: { email: 'dave@example.com' } }),
      ],
    ],
    removeTeamMember: [['', 204, () => ({ params: { teamId: inside, email: 'carol@example.com' } })]],
    previewMigration: [['', 200, () => ({ params: { teamId: alone }, query: { organizationId } })]],
    removeOrganizationMember: [
      ['refused', 409, () => ({ params: member('bob@example.com') })],
      ['with force', 204, () => ({ params: member('bob@example.com'), query: { force: 'true' } })],
      ['in no team', 204, () => ({ params: member('eve@example.com') })],
    ],
    migrateTeam: [
      ['refused', 400, () => ({ params: { teamId: alone }, body: { organizationId } })],
      [
        'with force, by an admin who is not in the team',
        200,
        () => ({ as: 'carol@example.com', params: { teamId: alone }, body: { organizationId, force: true } }),
      ],
      ['already there', 200, () => ({ params: { teamId: alone }, body: { organizationId } })],
    ],
    proposeTransfer: [
      ['', 201, () => ({ as: 'carol@example.com', params: { teamId: moving }, body: { organizationId } })],
      ['of both sides', 200, () => ({ params: { teamId: another }, body: { organizationId, force: true } })],
    ],
    listTransfers: [['', 200, () => ({ params: { teamId: moving } })]],
    acceptTransfer: [['', 200, () => ({ params: { teamId: moving, transferId: organizationId } })]],
    refuseTransfer: [['', 204, () => ({ params: { teamId: alone, transferId: 'standalone' } })]],
    previewUndo: [['', 200, () => ({ params: { teamId: alone, migrationId: 'latest' } })]],
    undoMigration: [['', 200, () => ({ params: { teamId: alone, migrationId: 'latest' } })]],
    detachTeam: [['', 200, () => ({ as: operator, params: { teamId: alone } })]],
  };

  const ordered = Object.keys(calls) as Operation[];
  for (const operation of ordered) {
    for (const [what, status, asked] of calls[operation]) {
      it(`${operation}${what === '' ? '' : `, ${what},`} stays within what the table says`, async () => {
        const { reads, writes } = operationCosts[operation];
        if (operation === 'refuseTransfer') {
          await server.expect(201, 'proposeTransfer', {
            params: { teamId: alone },
            as: 'carol@example.com',
            body: { organizationId: null },
          });
        }
        if (operation === 'detachTeam') {
          await server.expect(200, 'migrateTeam', { params: { teamId: alone }, body: { organizationId, force: true } });
        }
        const cost = await costOf(status, operation, asked());
        expect(cost.reads, 'documents read').to.be.at.most(most(reads));
        expect(cost.written, 'documents written').to.be.at.most(most(writes));
      });
    }
  }

  it('are told for every operation, and are few for a migration: consent and the limit of changes included', () => {
    expect(ordered).to.have.members(operations);
    for (const size of [2, 2000]) {
      const times = { ...n, 'members of the team': size, 'members that leave': size };
      expect(most(operationCosts.migrateTeam.reads, times)).to.be.at.most(2 * size + 6);
      expect(most(operationCosts.migrateTeam.writes, times)).to.be.at.most(size + 4);
    }
  });

  it('are as many more as the table says for an operator and for a key', async () => {
    const asOperator = await costOf(200, 'getOrganization', { as: operator, params: inOrganization() });
    expect(asOperator.reads).to.be.at.most(most(operationCosts.getOrganization.reads) + 1);
    const asked = { body: { name: 'with a key' }, headers: { 'idempotency-key': 'costs' } };
    const first = await costOf(201, 'createTeam', asked);
    expect(first.written).to.be.at.most(most(operationCosts.createTeam.writes) + idempotencyCost.writes);
    const again = await costOf(201, 'createTeam', asked);
    expect(again.reads).to.equal(idempotencyCost.readsAgain);
    expect(again.written).to.equal(0);
  });

  it('of previews are more by the bootstraps that move, their other teams, and the admins who gain or lose them', async () => {
    const outsiders = ['outsider-1@example.com', 'outsider-2@example.com'];
    const { teamId } = await server.expect<Team>(201, 'createTeam', { body: { name: 'holding' } });
    const { teamId: other } = await server.expect<Team>(201, 'createTeam', { body: { name: 'other' } });
    for (const email of outsiders) await server.expect(201, 'addTeamMember', { params: { teamId }, body: { email } });
    const held = Array.from({ length: 5 }, (_, i) => ({
      name: `held-${i}`,
      projectId: `held-${i}`,
      owner: 'alice@example.com',
    }));
    await memory.commit([
      { kind: 'update', collection: 'teams', id: String(teamId), data: { holds: true } },
      ...held.map((each, i): Write => {
        const teams = i < 3 ? { team: teamId } : { sharedTeams: [teamId, other] };
        return {
          kind: 'create',
          collection: 'bootstraps',
          id: each.name,
          data: { ...each, state: 'succeeded', ...teams },
        };
      }),
    ]);
    const members = await server.expect<Member[]>(200, 'listOrganizationMembers', { params: inOrganization() });
    const admins = members.filter(({ role }) => role === 'admin').length;
    // The other team, and in it who comes or leaves: outsiders, and admins who are not in the team.
    const others = 1 + outsiders.length + admins;
    const more = bootstrapsCost.fixed + held.length + admins + others;
    const times = { ...n, 'members of the team': 1 + outsiders.length };
    const into = await costOf(200, 'previewMigration', { params: { teamId }, query: inOrganization() });
    // Its ceiling was set above.
    const ceilings = 1 + 1;
    expect(into.reads).to.be.at.most(most(operationCosts.previewMigration.reads, times) + more + ceilings);
    await server.expect(200, 'migrateTeam', { params: { teamId }, body: { organizationId, force: true } });
    const out = await costOf(200, 'previewUndo', { params: { teamId, migrationId: 'latest' } });
    expect(out.reads).to.be.at.most(most(operationCosts.previewUndo.reads, times) + more);
    expect(out.reads).to.be.above(most(operationCosts.previewUndo.reads, times));
    expect(admins).to.be.at.most(bootstrapsCost.mostAdmins);
  });

  it('are fewer once a member has changed something, and one for another account with their e-mail, once', async () => {
    const as = 'erin@example.com';
    const asAdmin = { email: as, role: 'admin' };
    await server.expect(201, 'addOrganizationMember', { params: inOrganization(), body: asAdmin });
    await server.expect(201, 'addTeamMember', { params: { teamId: inside }, body: asAdmin });
    const adds = (email: string) => costOf(201, 'addTeamMember', { as, params: { teamId: inside }, body: { email } });
    for (const email of ['frank@example.com', 'grace@example.com']) {
      await server.expect(201, 'addOrganizationMember', { params: inOrganization(), body: { email } });
    }
    const atMost = most(operationCosts.addTeamMember.writes);
    expect((await adds('frank@example.com')).written).to.equal(atMost);
    expect((await adds('grace@example.com')).written).to.equal(atMost - 2);
    for (const written of [1, 0]) {
      const refused = await costOf(403, 'getOrganization', { as, subject: 'another', params: inOrganization() });
      expect(refused.written).to.equal(written);
    }
  });
});
