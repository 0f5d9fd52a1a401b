/** Whose team may be moved: without consent any, with consent only one's own; and how an operator takes one out again. */
import { expect } from 'chai';
import { readConfig } from '../../functions/config.js';
import { createContext } from '../../functions/context.js';
import { sendNotices } from '../../functions/webhook/send-notices.js';
import { createMemoryStore } from '../../local/functions/memory-store.js';
import type { Member, Organization, OrganizationEvent } from '../../shared/organization/organization.js';
import type { Detached, Team } from '../../shared/organization/team.js';
import { operator } from '../organizations/organizations-server.js';
import { countStore } from '../support/counting-store.js';
import { type Receiver, startReceiver } from '../support/webhook-receiver.js';
import { alice, bob, carol, dave, outsider, useOrganizations } from './organizations-world.js';

const nobodysTeam = 2147483646;

describe('migrating a team where that takes consent', () => {
  const counted = countStore(createMemoryStore());
  const world = useOrganizations({ consent: 'on', open: async () => counted.store });
  const asked = (teamId: number, organizationId: string, as: string) => ({
    as,
    params: { teamId },
    body: { organizationId, force: true },
  });

  it('is for an admin of the organization who is an admin of the team, too, and for operators', async () => {
    const organizationId = await world.organization({ [bob]: 'admin', [carol]: 'admin' });
    const teamId = await world.team({ [carol]: 'member' });
    await world.refused('not-found', 'migrateTeam', asked(teamId, organizationId, alice));
    await world.refused('forbidden', 'migrateTeam', asked(teamId, organizationId, carol));
    await world.server.expect(200, 'migrateTeam', asked(teamId, organizationId, bob));
    await world.server.expect(200, 'migrateTeam', asked(await world.team(), organizationId, operator));
  });

  it('answers alike, by as many reads, for a team that one may not see and for none', async () => {
    const organizationId = await world.organization({ [bob]: 'member' });
    const other = await world.server.expect<Organization>(201, 'createOrganization', {
      as: dave,
      body: { name: 'Other' },
    });
    const elsewhere = await world.team({}, { as: dave, organizationId: other.id });
    const standalone = await world.team({ [carol]: 'member' });
    for (const operation of ['migrateTeam', 'previewMigration'] as const) {
      const seen = [];
      for (const teamId of [nobodysTeam, standalone, elsewhere]) {
        const before = { ...counted.counts };
        const reply = await world.server.ask(operation, {
          params: { teamId },
          ...(operation === 'migrateTeam' ? { body: { organizationId, force: true } } : { query: { organizationId } }),
        });
        const { instance: _, ...body } = reply.body as Record<string, unknown>;
        const text = JSON.stringify(body).replaceAll(String(teamId), 'N');
        const { reads, written } = counted.counts;
        seen.push([reply.status, text, reads - before.reads, written - before.written]);
      }
      expect(seen[1]).to.deep.equal(seen[0]);
      expect(seen[2]).to.deep.equal(seen[0]);
      expect(seen[0]?.[0]).to.equal(404);
    }
  });
});

describe('taking a team out of an organization again', () => {
  const store = createMemoryStore();
  let receiver: Receiver;
  before(async () => {
    receiver = await startReceiver();
  });
  after(() => receiver.close());
  const world = useOrganizations({
    env: { PLINTH_WEBHOOK_URL: 'https://hooks.example.com/plinth' },
    open: async () => store,
  });
  const migrate = (teamId: number, organizationId: string) =>
    world.server.expect(200, 'migrateTeam', { params: { teamId }, body: { organizationId, force: true } });
  const membersOf = (teamId: number, as: string) =>
    world.server.expect<Member[]>(200, 'listTeamMembers', { as, params: { teamId } });
  const detach = (teamId: number, as = operator) => world.server.ask('detachTeam', { as, params: { teamId } });

  it('gives it back to those who were its members, with the roles that they had', async () => {
    const organizationId = await world.organization({ [dave]: 'member', [carol]: 'member' });
    const teamId = await world.team({ [carol]: 'member', [outsider]: 'admin' });
    const before = await membersOf(teamId, bob);
    await migrate(teamId, organizationId);
    for (const params of [{ teamId, email: carol }]) await world.server.expect(204, 'removeTeamMember', { params });
    for (const email of [carol, dave]) {
      await world.server.expect(201, 'addTeamMember', { params: { teamId }, body: { email, role: 'admin' } });
    }

    const reply = await detach(teamId);
    expect(reply.status, JSON.stringify(reply.body)).to.equal(200);
    const { team, restoredMembers, removedMembers } = reply.body as Detached;
    expect(team).to.include({ teamId, organizationId: null });
    expect(restoredMembers).to.deep.equal([bob, carol, outsider]);
    expect(removedMembers).to.deep.equal([dave]);
    expect(await membersOf(teamId, outsider)).to.deep.equal(before);
    expect(await world.server.expect<Team[]>(200, 'listOrganizationTeams', { params: { organizationId } })).to.eql([]);
    // It is as any standalone team: it keeps its last admin, and may be moved again.
    await world.server.expect(204, 'removeTeamMember', { as: bob, params: { teamId, email: bob } });
    const last = { as: outsider, params: { teamId, email: outsider } };
    await world.refused('conflict', 'removeTeamMember', last);
    await migrate(teamId, organizationId);
    expect((await membersOf(teamId, alice)).map(({ email }) => email)).to.deep.equal([carol]);
  });

  it('is told in the events of the organization', async () => {
    const organizationId = await world.organization({ [carol]: 'member' });
    const teamId = await world.team({ [carol]: 'member' });
    await migrate(teamId, organizationId);
    expect((await detach(teamId)).status).to.equal(200);
    const [event] = await world.server.expect<OrganizationEvent[]>(200, 'listOrganizationEvents', {
      params: { organizationId },
    });
    expect(event).to.include({ action: 'team-detached', actor: operator, teamId, version: 4 });
    const members = (state: unknown) => (state as { members: Member[] }).members;
    expect(members(event?.before)).to.deep.equal([{ email: carol, role: 'member' }]);
    expect(members(event?.after)).to.deep.equal([
      { email: bob, role: 'admin' },
      { email: carol, role: 'member' },
    ]);
  });

  it('is for operators', async () => {
    const organizationId = await world.organization({ [bob]: 'member' });
    const teamId = await world.team();
    await migrate(teamId, organizationId);
    for (const as of [alice, bob]) expect((await detach(teamId, as)).status).to.equal(403);
    expect((await detach(teamId, carol)).status).to.equal(404);
    expect((await detach(nobodysTeam)).status).to.equal(404);
  });

  it('leaves the members of a team that was made in an organization as they are, if there is an admin', async () => {
    const organizationId = await world.organization({ [bob]: 'member' });
    const teamId = await world.team({ [bob]: 'member' }, { as: alice, organizationId });
    await world.server.expect(204, 'removeTeamMember', { params: { teamId, email: alice } });
    expect((await detach(teamId)).status).to.equal(409);
    await world.server.expect(201, 'addTeamMember', { params: { teamId }, body: { email: alice, role: 'admin' } });
    expect((await detach(teamId)).body).to.deep.include({ restoredMembers: [], removedMembers: [] });
    expect((await detach(teamId)).status, 'a team that stands alone').to.equal(409);
  });

  it('and moving it are told to the webhook, which names the admins that the team had', async () => {
    const organizationId = await world.organization();
    const teamId = await world.team({ [carol]: 'admin', [dave]: 'member' });
    for (const notice of await store.query({ collection: 'notices' })) {
      await store.commit([{ kind: 'delete', collection: 'notices', id: notice.id }]);
    }
    await migrate(teamId, organizationId);
    expect((await detach(teamId)).status).to.equal(200);
    // The release before wants a text there.
    for (const { data } of await store.query({ collection: 'notices' })) expect(data['bootstrapId']).to.equal('');
    const config = {
      ...readConfig({
        PLINTH_PROJECT: 'plinth-test',
        PLINTH_DEPLOYMENT: 'test',
        PLINTH_MACHINE_ACCESS: 'direct',
        PLINTH_SSH_SOURCE_RANGES: '127.0.0.0/8',
      }),
      webhookUrl: receiver.url,
    };
    const secretManager = {
      versions: async () => ['1'],
      read: async () => `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
    };
    const context = createContext(config, { store, cloud: { secretManager } as never, log: () => undefined });
    expect(await sendNotices(context)).to.deep.equal({ sent: 2, refused: 0 });
    const bodies = receiver.received.map(({ text }) => JSON.parse(text) as { type: string; data: object });
    const about = { teamId, name: 'Red', organizationId };
    const sorted = bodies.sort((a, b) => (a.type < b.type ? 1 : -1));
    expect(sorted.map(({ type }) => type)).to.deep.equal(['team.migrated', 'team.detached']);
    const removed = [bob, carol, dave];
    const why = "They are not members of the team's new organization.";
    expect(sorted[0]?.data).to.deep.equal({ ...about, actor: alice, admins: [bob, carol], removed, why });
    expect(sorted[1]?.data).to.deep.equal({ ...about, actor: operator, admins: [bob, carol] });
  });
});
