/** Members are named by e-mail; whose the e-mail is, is settled by the account that first changes something. Over HTTP, as every caller. */
import { expect } from 'chai';
import { organizationMemberId } from '../../functions/organizations/documents.js';
import { createMemoryStore } from '../../local/functions/memory-store.js';
import { collections } from '../../shared/names.js';
import type { Member, Organization, OrganizationEvent } from '../../shared/organization/organization.js';
import type { Team } from '../../shared/organization/team.js';
import { createIssuer, type Issuer } from '../http/issuer.js';
import { alice, bob, carol, outsider } from '../http/organizations-world.js';
import {
  type Asked,
  createOrganizationsServer,
  detailOf,
  type Operation,
  type OrganizationsServer,
  operations,
  operator,
} from './organizations-server.js';

const other = 'another-account';

describe('accounts with the e-mail of a member', () => {
  let issuer: Issuer;
  let server: OrganizationsServer;
  const store = createMemoryStore();
  let organizationId: string;
  let inside: number;
  let alone: number;

  before(async () => {
    issuer = await createIssuer();
    const env = { PLINTH_ORGANIZATION_CREATORS: 'example.com', PLINTH_MIGRATION_CONSENT: 'off' };
    server = await createOrganizationsServer(issuer, { store, env });
  });
  after(() => {
    server?.close();
    issuer?.close();
  });
  beforeEach(async () => {
    ({ id: organizationId } = await server.expect<Organization>(201, 'createOrganization', { body: { name: 'Acme' } }));
    ({ teamId: inside } = await server.expect<Team>(201, 'createTeam', { body: { name: 'Inside', organizationId } }));
    ({ teamId: alone } = await server.expect<Team>(201, 'createTeam', { body: { name: 'Alone' } }));
  });

  const add = (email: string, role: Member['role'], asked: Asked = {}) =>
    server.expect(201, 'addOrganizationMember', { params: { organizationId }, body: { email, role }, ...asked });
  const remove = (email: string) =>
    server.expect(204, 'removeOrganizationMember', { params: { organizationId, email }, query: { force: 'true' } });
  const sees = async (as: string, subject?: string): Promise<number> =>
    (await server.ask('getOrganization', { as, ...(subject !== undefined && { subject }), params: { organizationId } }))
      .status;
  const members = () => server.expect<Member[]>(200, 'listOrganizationMembers', { params: { organizationId } });
  const events = () =>
    server.expect<OrganizationEvent[]>(200, 'listOrganizationEvents', { params: { organizationId } });
  const refusals = async () => (await events()).filter(({ action }) => String(action) === 'identity-refused');

  it('are none where the letters only look alike', async () => {
    await add('mike@example.com', 'admin');
    for (const as of ['mi\u212Ae@example.com', '\u00A0mike@example.com']) {
      for (const operation of ['listOrganizations', 'listTeams'] as const) {
        const reply = await server.ask(operation, { as });
        expect(reply.status).to.equal(403);
        expect(detailOf(reply)).to.contain('ASCII');
      }
    }
    const asked = { params: { organizationId }, body: { email: 'mi\u212Ae@example.com' } };
    await server.expect(400, 'addOrganizationMember', asked);
    expect(await sees('MIKE@example.com')).to.equal(200);
  });

  it('come in by no address that nobody could add or remove', async () => {
    for (const as of ['"a,zoe@x"@evil', 'ä@example.com', 'zoe', `${'x'.repeat(250)}@example.com`]) {
      await server.expect(403, 'createTeam', { as, body: { name: 'Evil' } });
      await server.expect(400, 'addOrganizationMember', { params: { organizationId }, body: { email: as } });
    }
  });

  it('inherit nothing on any route', async () => {
    await add(bob, 'member');
    await server.expect(201, 'addTeamMember', { params: { teamId: inside }, body: { email: bob } });
    const params = { organizationId };
    const team = { teamId: inside };
    const none: readonly unknown[] = [];
    const calls: Readonly<Record<Operation, readonly (readonly [status: number, asked: Asked, body?: unknown])[]>> = {
      // What they make is their own.
      createOrganization: [[201, { body: { name: 'Own' } }]],
      listOrganizations: [[200, {}, none]],
      getOrganization: [[403, { params }]],
      renameOrganization: [[403, { params, body: { name: 'Mine' } }]],
      setOrganizationCeilings: [[403, { params, body: { living: 1 } }]],
      deleteOrganization: [[403, { params }]],
      restoreOrganization: [[403, { params }]],
      listOrganizationMembers: [[403, { params }]],
      addOrganizationMember: [[403, { params, body: { email: carol } }]],
      addOrganizationMembers: [[403, { params, body: { members: [{ email: carol }] } }]],
      inviteMembers: [[403, { params, body: { members: [{ email: carol }] } }]],
      listInvitations: [[403, { params }]],
      resendInvitation: [[403, { params: { ...params, email: carol } }]],
      revokeInvitation: [[403, { params: { ...params, email: carol } }]],
      listOwnInvitations: [[200, {}, none]],
      acceptInvitation: [[403, { params }]],
      declineInvitation: [[404, { params }]],
      setOrganizationMemberRole: [[403, { params: { ...params, email: bob }, body: { role: 'admin' } }]],
      removeOrganizationMember: [
        [403, { params: { ...params, email: bob }, query: { force: 'true' } }],
        [403, { params: { ...params, email: alice }, query: { force: 'true' } }],
      ],
      listOrganizationTeams: [[403, { params }]],
      listOrganizationEvents: [[403, { params }]],
      createTeam: [
        [403, { body: { name: 'Mine', organizationId } }],
        [201, { body: { name: 'Own' } }],
      ],
      listTeams: [[200, {}, none]],
      getTeam: [
        [403, { params: team }],
        [403, { params: { teamId: alone } }],
      ],
      listTeamMembers: [
        [403, { params: team }],
        [403, { params: { teamId: alone } }],
      ],
      renameTeam: [[403, { params: { teamId: alone }, body: { name: 'Mine' } }]],
      setTeamCeilings: [[403, { params: { teamId: alone }, body: { living: 1 } }]],
      deleteTeam: [[403, { params: { teamId: alone } }]],
      restoreTeam: [[403, { params: { teamId: alone } }]],
      listTeamEvents: [[403, { params: { teamId: alone } }]],
      addTeamMembers: [[403, { params: { teamId: alone }, body: { members: [{ email: bob }] } }]],
      setTeamMemberRole: [[403, { params: { teamId: alone, email: alice }, body: { role: 'member' } }]],
      addTeamMember: [
        [403, { params: team, body: { email: bob, role: 'admin' } }],
        [403, { params: { teamId: alone }, body: { email: bob } }],
      ],
      removeTeamMember: [
        [403, { params: { ...team, email: bob } }],
        [403, { params: { teamId: alone, email: alice } }],
      ],
      previewMigration: [[403, { params: { teamId: alone }, query: { organizationId } }]],
      migrateTeam: [[403, { params: { teamId: alone }, body: { organizationId, force: true } }]],
      proposeTransfer: [
        [403, { params: { teamId: alone }, body: { organizationId } }],
        [403, { params: team, body: { organizationId: null } }],
      ],
      listTransfers: [[403, { params: { teamId: alone } }]],
      acceptTransfer: [[403, { params: { teamId: alone, transferId: organizationId } }]],
      refuseTransfer: [[403, { params: { teamId: alone, transferId: organizationId } }]],
      previewUndo: [[403, { params: { ...team, migrationId: 'latest' } }]],
      undoMigration: [[403, { params: { ...team, migrationId: 'latest' } }]],
      detachTeam: [[403, { params: team }]],
    };
    expect(Object.keys(calls)).to.have.members(operations);
    // A new one each time: what it makes itself is in its lists.
    let subject = 0;
    const before = await members();
    for (const operation of operations) {
      for (const [status, asked, body] of calls[operation]) {
        subject += 1;
        const reply = await server.ask(operation, { ...asked, as: alice, subject: `${other}-${subject}` });
        expect(reply.status, `${operation} ${JSON.stringify(reply.body)}`).to.equal(status);
        if (body !== undefined) expect(reply.body, operation).to.deep.equal(body);
        if (status === 403) expect(detailOf(reply), operation).to.contain('of another account');
      }
    }
    expect(await members()).to.deep.equal(before);
    expect((await events()).length).to.be.above((await refusals()).length);
    const listed = await server.expect<Team[]>(200, 'listTeams', {});
    expect(listed.map(({ teamId }) => teamId)).to.include.members([inside, alone]);
  });

  it('are told of to an admin once, without naming them', async () => {
    for (let i = 0; i < 3; i++) {
      expect(await sees(alice, other)).to.equal(403);
      await server.expect(403, 'getTeam', { subject: other, params: { teamId: inside } });
    }
    expect(await sees(alice, `${other}-2`)).to.equal(403);
    const told = await refusals();
    const stands = { email: alice, role: 'admin' };
    const what = { actor: alice, action: 'identity-refused', email: alice, before: stands, after: stands };
    // Of the membership in the organization for each account, and of that in the team.
    expect(told.map(({ id, at, ...event }) => event)).to.have.deep.members([what, what, { ...what, teamId: inside }]);
    expect(JSON.stringify(await events())).not.to.contain(other);
    expect(server.logged.join()).not.to.contain(other);
  });

  it('all work by the e-mail until one of them has changed something', async () => {
    await add(bob, 'admin');
    for (const subject of ['first', 'second']) expect(await sees(bob, subject)).to.equal(200);
    // What stands so already is no change.
    const again = { params: { organizationId }, body: { email: alice, role: 'admin' } };
    await server.expect(200, 'addOrganizationMember', { as: bob, subject: 'first', ...again });
    await server.expect(409, 'addOrganizationMember', { as: bob, subject: 'first', ...again, body: { email: alice } });
    expect(await sees(bob, 'second')).to.equal(200);
    await add(carol, 'member', { as: bob, subject: 'second' });
    expect(await sees(bob, 'first')).to.equal(403);
    expect(await sees(bob, 'second')).to.equal(200);
    expect(await sees(carol, 'any')).to.equal(200);
  });

  type FirstChange = readonly [status: number, operation: Operation, asked: Asked];
  const firstChanges: Readonly<Record<string, () => FirstChange | Promise<FirstChange>>> = {
    'adding a member': () => [201, 'addOrganizationMember', { params: { organizationId }, body: { email: carol } }],
    "changing somebody's role": () => [
      200,
      'setOrganizationMemberRole',
      { params: { organizationId, email: alice }, body: { role: 'member' } },
    ],
    'changing their own role': () => [
      200,
      'setOrganizationMemberRole',
      { params: { organizationId, email: bob }, body: { role: 'member' } },
    ],
    'removing a member': () => [
      204,
      'removeOrganizationMember',
      { params: { organizationId, email: alice }, query: { force: 'true' } },
    ],
    'making a team': () => [201, 'createTeam', { body: { name: 'New', organizationId } }],
    'adding themselves to a team': () => [201, 'addTeamMember', { params: { teamId: inside }, body: { email: bob } }],
    'removing somebody from a team': () => [204, 'removeTeamMember', { params: { teamId: inside, email: alice } }],
    'migrating a team': () => [
      200,
      'migrateTeam',
      { params: { teamId: alone }, body: { organizationId, force: true } },
    ],
    'accepting the transfer of a team': async () => {
      const { teamId } = await server.expect<Team>(201, 'createTeam', { as: carol, body: { name: 'Hers' } });
      const proposed = { as: carol, params: { teamId }, body: { organizationId, force: true } };
      await server.expect(201, 'proposeTransfer', proposed);
      return [200, 'acceptTransfer', { params: { teamId, transferId: organizationId } }];
    },
    'undoing a migration': async () => {
      await server.expect(200, 'migrateTeam', { params: { teamId: alone }, body: { organizationId, force: true } });
      return [200, 'undoMigration', { params: { teamId: alone, migrationId: 'latest' } }];
    },
    'restoring the organization': async () => {
      await server.expect(200, 'deleteTeam', { params: { teamId: inside } });
      await server.expect(200, 'deleteOrganization', { params: { organizationId } });
      return [200, 'restoreOrganization', { params: { organizationId } }];
    },
  };
  for (const [what, change] of Object.entries(firstChanges)) {
    it(`are another's after ${what}`, async () => {
      await add(bob, 'admin');
      const [status, operation, asked] = await change();
      await server.expect(status, operation, { ...asked, as: bob, subject: 'first' });
      expect(await sees(bob, 'first')).to.equal(200);
      expect(await sees(bob, 'second')).to.equal(403);
    });

    it(`are another's after ${what}, when a removal of theirs has died`, async () => {
      await add(bob, 'admin');
      await store.commit([
        {
          kind: 'update',
          collection: collections.organizationMembers,
          id: organizationMemberId(organizationId, bob),
          data: { leaving: 'died', leavingUntil: '2020-01-01T00:00:00.000Z', governs: false },
        },
      ]);
      const [status, operation, asked] = await change();
      await server.expect(status, operation, { ...asked, as: bob, subject: 'first' });
      expect(await sees(bob, 'second')).to.equal(403);
    });
  }

  it('are others in the teams of an organization, too, where they have changed nothing', async () => {
    await add(bob, 'admin');
    await server.expect(201, 'addTeamMember', { params: { teamId: inside }, body: { email: bob } });
    await add(carol, 'member', { as: bob, subject: 'first' });
    await server.expect(403, 'getTeam', { as: bob, subject: 'second', params: { teamId: inside } });
    await server.expect(403, 'listTeamMembers', { as: bob, subject: 'second', params: { teamId: inside } });
    const listed = async (subject: string) =>
      (await server.expect<Team[]>(200, 'listTeams', { as: bob, subject })).map(({ teamId }) => teamId);
    expect(await listed('first')).to.include(inside);
    expect(await listed('second')).not.to.include(inside);
  });

  it('are others in a standalone team once they have changed it', async () => {
    await server.expect(201, 'addTeamMember', { params: { teamId: alone }, body: { email: outsider, role: 'admin' } });
    const asked = { as: outsider, params: { teamId: alone } };
    await server.expect(200, 'getTeam', { ...asked, subject: 'second' });
    await server.expect(201, 'addTeamMember', { ...asked, subject: 'first', body: { email: carol } });
    await server.expect(403, 'getTeam', { ...asked, subject: 'second' });
    await server.expect(204, 'removeTeamMember', { params: { teamId: alone, email: outsider } });
    await server.expect(404, 'getTeam', { ...asked, subject: 'first' });
    await server.expect(201, 'addTeamMember', { params: { teamId: alone }, body: { email: outsider } });
    await server.expect(200, 'getTeam', { ...asked, subject: 'second' });
  });

  it('are let in when an admin has removed the member and added it again', async () => {
    await add(bob, 'admin');
    await add(carol, 'member', { as: bob, subject: 'first' });
    expect(await sees(bob, 'second')).to.equal(403);
    await remove(bob);
    await add(bob, 'admin');
    expect(await sees(bob, 'second')).to.equal(200);
    await server.expect(200, 'setOrganizationMemberRole', {
      as: bob,
      subject: 'second',
      params: { organizationId, email: carol },
      body: { role: 'admin' },
    });
    expect(await sees(bob, 'first')).to.equal(403);
  });

  it('stay others when an operator takes the team out of its organization, and gives a role back', async () => {
    const params = { teamId: alone };
    await add(carol, 'admin');
    await server.expect(201, 'addTeamMember', { params, body: { email: carol, role: 'admin' } });
    await server.expect(200, 'migrateTeam', { params, body: { organizationId } });
    await server.expect(204, 'removeTeamMember', { params: { ...params, email: carol } });
    await server.expect(201, 'addTeamMember', { params, body: { email: carol, role: 'member' } });
    await add(bob, 'member', { as: carol, subject: 'first' });
    await server.expect(201, 'addTeamMember', { as: carol, subject: 'first', params, body: { email: bob } });
    await server.expect(200, 'detachTeam', { as: operator, params });
    const { role } = await server.expect<Team>(200, 'getTeam', { as: carol, subject: 'first', params });
    expect(role).to.equal('admin');
    await server.expect(403, 'getTeam', { as: carol, subject: 'second', params });
  });

  it('stay out of a team that is taken out again, also where its member had been removed or added anew', async () => {
    const { teamId } = await server.expect<Team>(201, 'createTeam', {
      as: carol,
      subject: 'first',
      body: { name: 'C' },
    });
    const params = { teamId };
    const migrate = () => server.expect(200, 'migrateTeam', { params, body: { organizationId, force: true } });
    const detach = () => server.expect(200, 'detachTeam', { as: operator, params });
    await migrate();
    await detach();
    await server.expect(200, 'getTeam', { as: carol, subject: 'first', params });
    await server.expect(403, 'getTeam', { as: carol, subject: 'second', params });

    await migrate();
    await add(carol, 'member');
    await server.expect(201, 'addTeamMember', { params, body: { email: carol } });
    // Leaving and coming back is a change that the second account makes.
    await server.expect(201, 'createTeam', { as: carol, subject: 'second', body: { name: 'Other' } });
    await detach();
    await server.expect(200, 'getTeam', { as: carol, subject: 'first', params });
    await server.expect(403, 'getTeam', { as: carol, subject: 'second', params });
  });

  it('are not asked for of operators, who are so by a setting', async () => {
    const { id } = await server.expect<Organization>(201, 'createOrganization', {
      as: operator,
      body: { name: 'Ops' },
    });
    for (const subject of ['first', 'second']) {
      const asked = { as: operator, subject, params: { organizationId: id } };
      await server.expect(201, 'addOrganizationMember', { ...asked, body: { email: `${subject}@example.com` } });
      await server.expect(200, 'getOrganization', asked);
    }
  });

  it('do not share keys of requests', async () => {
    const asked = { body: { name: 'Once' }, headers: { 'idempotency-key': 'once' } };
    const first = await server.expect<Team>(201, 'createTeam', asked);
    expect(await server.expect<Team>(201, 'createTeam', asked)).to.deep.equal(first);
    const second = await server.expect<Team>(201, 'createTeam', { ...asked, subject: other });
    expect(second.teamId).not.to.equal(first.teamId);
  });

  it('are shown to nobody', async () => {
    await add(bob, 'admin');
    const shown = [
      await members(),
      await events(),
      await server.expect(200, 'listTeamMembers', { params: { teamId: inside } }),
    ];
    expect(JSON.stringify(shown)).not.to.contain(issuer.url);
  });
});
