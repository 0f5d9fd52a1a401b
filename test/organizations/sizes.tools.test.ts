/** The largest team, and the strangest addresses, on the real emulator. */
import { expect } from 'chai';
import type { Member, Organization, OrganizationEvent } from '../../shared/organization/organization.js';
import type { MigrationPreview, MigrationReply, Team } from '../../shared/organization/team.js';
import { createIssuer, type Issuer } from '../http/issuer.js';
import { countStore, type StoreCounts } from '../support/counting-store.js';
import { type EmulatedStore, needFirestoreEmulator, openEmulatedStore } from '../support/emulators.js';
import { addMembersAtOnce, longEmail } from './many-members.js';
import { createOrganizationsServer, type OrganizationsServer, operator } from './organizations-server.js';

/** All that a browser's e-mail field takes; not all that Firestore takes as a document id. */
const strange = [
  'a/b@example.com',
  '../x@example.com',
  '__x__@example.com',
  '.@example.com',
  '..@example.com',
  'a%2fb@example.com',
  "o'brien!#$%&*+/=?^_`{|}~-@example.com",
  'a~b@example.com',
  longEmail(0),
];

const membersIn = (state: unknown): readonly Member[] => (state as { readonly members: readonly Member[] }).members;

describe('organizations of any size', () => {
  let issuer: Issuer;
  let emulated: EmulatedStore;
  let counts: StoreCounts;
  let server: OrganizationsServer;
  before(async function () {
    emulated = openEmulatedStore(await needFirestoreEmulator(this));
    const counted = countStore(emulated.store);
    counts = counted.counts;
    issuer = await createIssuer();
    server = await createOrganizationsServer(issuer, { store: counted.store });
  });
  after(async () => {
    server?.close();
    issuer?.close();
    await emulated?.store.close();
  });

  const makeOrganization = async (name: string): Promise<Organization> => {
    const made = await server.expect<Organization>(201, 'createOrganization', { as: operator, body: { name } });
    const admin = { params: { organizationId: made.id }, body: { email: 'alice@example.com', role: 'admin' } };
    await server.expect(201, 'addOrganizationMember', { as: operator, ...admin });
    return made;
  };

  it('take a team of 2000 in one transaction, at most 2n + 4 documents read, and written only who leaves and three', async function () {
    this.timeout(240_000);
    const { id: organizationId } = await makeOrganization('large');
    const { teamId } = await server.expect<Team>(201, 'createTeam', { body: { name: 'large' } });
    const { inside, outside } = await addMembersAtOnce(emulated.store, {
      organizationId,
      teamId,
      inside: 999,
      outside: 1000,
    });
    const preview = await server.expect<MigrationPreview>(200, 'previewMigration', {
      params: { teamId },
      query: { organizationId },
    });
    expect(preview.leaves.map(({ email }) => email)).to.deep.equal(outside);
    const refused = await server.ask('migrateTeam', { params: { teamId }, body: { organizationId } });
    expect(refused.status).to.equal(400);
    expect((refused.body as { members: string[] }).members).to.deep.equal(outside);

    const before = { ...counts };
    const { removedMembers } = await server.expect<MigrationReply>(200, 'migrateTeam', {
      params: { teamId },
      body: { organizationId, force: true },
    });
    expect(removedMembers).to.deep.equal(outside);
    expect(counts.reads - before.reads).to.be.at.most(2 * 2000 + 4);
    expect(counts.written - before.written).to.be.at.most(1000 + 3);

    const kept = await server.expect<Member[]>(200, 'listTeamMembers', { params: { teamId } });
    expect(kept.map(({ email }) => email)).to.deep.equal(['alice@example.com', ...inside].sort());
    const [event] = await server.expect<OrganizationEvent[]>(200, 'listOrganizationEvents', {
      params: { organizationId },
    });
    expect(event).to.deep.include({ action: 'team-migrated', teamId });
    expect(membersIn(event?.before)).to.have.length(2000);
    expect(membersIn(event?.after)).to.have.length(1000);
  });

  it('take 2000 that all leave, with the longest addresses there are', async function () {
    this.timeout(240_000);
    const { id: organizationId } = await makeOrganization('long');
    const { teamId } = await server.expect<Team>(201, 'createTeam', { as: 'bob@example.com', body: { name: 'long' } });
    await addMembersAtOnce(emulated.store, { organizationId, teamId, inside: 0, outside: 1999, email: longEmail });
    const asked = {
      params: { teamId },
      body: { organizationId, force: true },
      headers: { 'idempotency-key': 'long-addresses' },
    };
    const first = await server.expect<MigrationReply>(200, 'migrateTeam', asked);
    expect(first.removedMembers).to.have.length(2000);
    expect(await server.expect(200, 'migrateTeam', asked)).to.deep.equal(first);
    expect(await server.expect(200, 'listTeamMembers', { params: { teamId } })).to.deep.equal([]);
    const [event] = await server.expect<OrganizationEvent[]>(200, 'listOrganizationEvents', {
      params: { organizationId },
    });
    expect(membersIn(event?.before)).to.have.length(2000);
  });

  it('take every address that an e-mail field takes, everywhere', async function () {
    this.timeout(240_000);
    const { id: organizationId } = await makeOrganization('strange');
    const params = { organizationId };
    const inside = await server.expect<Team>(201, 'createTeam', { body: { name: 'inside', organizationId } });
    for (const email of strange) {
      const member = { email, role: 'member' };
      const ofTeam = { teamId: inside.teamId };
      await server.expect(400, 'addTeamMember', { params: ofTeam, body: member });
      await server.expect(201, 'addOrganizationMember', { params, body: { email: ` ${email.toUpperCase()} ` } });
      await server.expect(200, 'addOrganizationMember', { params, body: member });
      expect(
        await server.expect(200, 'setOrganizationMemberRole', {
          params: { ...params, email },
          body: { role: 'admin' },
        }),
      ).to.deep.equal({ email, role: 'admin' });
      await server.expect(201, 'addTeamMember', { params: ofTeam, body: member });
      const asThem = await server.expect<Organization[]>(200, 'listOrganizations', { as: email });
      expect(asThem).to.have.length(1);
      expect(await server.expect(200, 'listTeams', { as: email })).to.have.length(1);
      await server.expect(409, 'removeOrganizationMember', { params: { ...params, email } });
      await server.expect(204, 'removeTeamMember', { params: { ...ofTeam, email } });
      await server.expect(201, 'addTeamMember', { params: ofTeam, body: member });
      await server.expect(204, 'removeOrganizationMember', { params: { ...params, email }, query: { force: 'true' } });
      await server.expect(404, 'removeOrganizationMember', { params: { ...params, email } });
    }
    const alone = await server.expect<Team>(201, 'createTeam', { body: { name: 'alone' } });
    for (const email of strange)
      await server.expect(201, 'addTeamMember', { params: { teamId: alone.teamId }, body: { email } });
    const { removedMembers } = await server.expect<MigrationReply>(200, 'migrateTeam', {
      params: { teamId: alone.teamId },
      body: { organizationId, force: true },
    });
    expect(removedMembers).to.deep.equal([...strange].sort());
  });

  it('refuse an address of 255 characters', async () => {
    const { id: organizationId } = await makeOrganization('too long');
    const email = `x${longEmail(0)}`;
    expect(email).to.have.length(255);
    await server.expect(400, 'addOrganizationMember', { params: { organizationId }, body: { email } });
  });
});
