/** The organization API on the real emulator: what a store in memory could promise too lightly. */
import { expect } from 'chai';
import type { Member, Organization, OrganizationEvent } from '../../shared/organization/organization.js';
import type { MigrationReply, Team } from '../../shared/organization/team.js';
import { needFirestoreEmulator, openEmulatedStore } from '../support/emulators.js';
import { alice, bob, carol, useOrganizations } from './organizations-world.js';

describe('the organization API on Firestore', function () {
  this.timeout(240_000);
  const world = useOrganizations({ open: async (test) => openEmulatedStore(await needFirestoreEmulator(test)).store });

  it('tells the whole story of a migration', async () => {
    const organizationId = await world.organization();
    const teamId = await world.team({ 'a/b@x.org': 'member', [carol]: 'member' });
    const params = { teamId };
    const migrate = (status: number, force: boolean) =>
      world.server.expect<MigrationReply>(status, 'migrateTeam', { params, body: { organizationId, force } });
    await migrate(400, false);
    await world.server.expect(201, 'addOrganizationMember', { params: { organizationId }, body: { email: bob } });
    expect((await migrate(200, true)).removedMembers).to.deep.equal(['a/b@x.org', carol]);
    expect(await world.emailsIn(teamId, bob)).to.deep.equal([bob]);
    const teams = await world.server.expect<Team[]>(200, 'listOrganizationTeams', {
      as: bob,
      params: { organizationId },
    });
    expect(teams).to.deep.include.members([{ ...teams[0], teamId, organizationId, role: 'admin' }]);
    const listed = await world.server.expect<Organization[]>(200, 'listOrganizations', { as: bob });
    expect(listed.map(({ id, role }) => [id, role])).to.deep.equal([[organizationId, 'member']]);

    const removal = { params: { organizationId, email: bob } };
    await world.refused('conflict', 'removeOrganizationMember', removal);
    await world.server.expect(204, 'removeOrganizationMember', { ...removal, query: { force: 'true' } });
    expect(await world.emailsIn(teamId, alice)).to.deep.equal([]);
    const events = await world.server.expect<OrganizationEvent[]>(200, 'listOrganizationEvents', {
      params: { organizationId },
    });
    expect(events.map(({ action }) => action)).to.deep.equal([
      'member-removed',
      'team-member-removed',
      'team-migrated',
      'member-added',
      'organization-created',
    ]);
  });

  it('binds a member to one of two accounts that change something at once', async () => {
    const organizationId = await world.organization({ [bob]: 'admin' });
    const params = { organizationId };
    const subjects = ['first', 'second'];
    const changed = await Promise.all(
      subjects.map((subject) =>
        world.server.ask('addOrganizationMember', { as: bob, subject, params, body: { email: `${subject}@x.org` } }),
      ),
    );
    const seen = await Promise.all(
      subjects.map((subject) => world.server.ask('getOrganization', { as: bob, subject, params })),
    );
    const won = changed.findIndex(({ status }) => status === 201);
    expect(changed.map(({ status }) => status)).to.deep.equal(won === 0 ? [201, 403] : [403, 201]);
    expect(seen.map(({ status }) => status)).to.deep.equal(won === 0 ? [200, 403] : [403, 200]);
    const events = await world.server.expect<OrganizationEvent[]>(200, 'listOrganizationEvents', { params });
    expect(events.filter(({ action }) => action === 'identity-refused')).to.have.length(1);
  });

  it('gives lists in pages', async () => {
    const organizationId = await world.organization({ [bob]: 'member', [carol]: 'admin' });
    const found: Member[] = [];
    let query: Record<string, string> | undefined = { limit: '1' };
    while (query !== undefined) {
      const page = await world.server.ask('listOrganizationMembers', { params: { organizationId }, query });
      found.push(...(page.body as Member[]));
      const [, path] = /<([^>]+)>/.exec(page.headers.get('link') ?? '') ?? [];
      query = path === undefined ? undefined : Object.fromEntries(new URL(path, world.server.origin).searchParams);
    }
    expect(found.map(({ email }) => email)).to.deep.equal([alice, bob, carol]);
  });

  it('answers all who add members to one team at once, and all who remove them', async () => {
    const teamId = await world.team();
    const emails = Array.from({ length: 40 }, (_, index) => `m${index}@x.org`);
    const statuses = async (operation: 'addTeamMember' | 'removeTeamMember') => {
      const asked = emails.map((email) =>
        operation === 'addTeamMember'
          ? world.server.ask(operation, { as: bob, params: { teamId }, body: { email } })
          : world.server.ask(operation, { as: bob, params: { teamId, email } }),
      );
      return [...new Set((await Promise.all(asked)).map(({ status }) => status))];
    };
    const added = await statuses('addTeamMember');
    expect(added).to.deep.equal([201]);
    expect(await world.emailsIn(teamId, bob)).to.have.lengthOf(41);
    expect(await statuses('removeTeamMember')).to.deep.equal([204]);
  });

  it('answers all who change one organization at once', async () => {
    const organizationId = await world.organization();
    const params = { organizationId };
    const asked = Array.from({ length: 48 }, (_, i) =>
      i % 2 === 0
        ? world.server.ask('renameOrganization', { params, body: { name: `Name ${i}` } })
        : world.server.ask('setOrganizationCeilings', { params, body: { living: i } }),
    );
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    expect([...new Set(statuses)]).to.deep.equal([200]);
    const events = await world.server.expect<OrganizationEvent[]>(200, 'listOrganizationEvents', { params });
    expect(events).to.have.lengthOf(49);
  });

  it('makes one organization of five requests with one key', async () => {
    const create = () =>
      world.server.ask('createOrganization', {
        as: 'once@example.com',
        body: { name: 'Once' },
        headers: { 'idempotency-key': 'once' },
      });
    const statuses = (await Promise.all(Array.from({ length: 5 }, create))).map(({ status }) => status);
    expect(statuses.filter((status) => ![201, 409].includes(status))).to.deep.equal([]);
    const made = await create();
    expect(made.status).to.equal(201);
    expect(await world.server.expect<object[]>(200, 'listOrganizations', { as: 'once@example.com' })).to.deep.equal([
      made.body,
    ]);
  });

  it('keeps an admin when all admins go at once', async () => {
    const admins = [alice, bob, carol];
    const organizationId = await world.organization({ [bob]: 'admin', [carol]: 'admin' });
    const leave = (email: string) =>
      world.server.ask('removeOrganizationMember', { as: email, params: { organizationId, email } });
    const statuses = (await Promise.all(admins.map(leave))).map(({ status }) => status);
    expect(statuses.filter((status) => ![204, 409, 503].includes(status))).to.deep.equal([]);
    const stayed = admins[statuses.findIndex((status) => status !== 204)] as string;
    const left = await world.server.expect<Member[]>(200, 'listOrganizationMembers', {
      as: stayed,
      params: { organizationId },
    });
    expect(left.map(({ role }) => role)).to.include('admin');
  });
});
