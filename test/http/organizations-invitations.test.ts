/** Invitations, and many members in one call, over HTTP. */
import { expect } from 'chai';
import type { Store } from '../../functions/store/store.js';
import { createMemoryStore } from '../../local/functions/memory-store.js';
import type {
  AddedMembers,
  Invitation,
  Invited,
  Member,
  OrganizationEvent,
} from '../../shared/organization/organization.js';
import type { ProblemBody } from '../../shared/problems.js';
import { alice, bob, carol, dave, outsider, useOrganizations } from './organizations-world.js';

const members = (...emails: string[]) => ({ members: emails.map((email) => ({ email })) });
const faultsOf = (body: ProblemBody) =>
  (body as ProblemBody & { errors: { path: string; message: string }[] }).errors.map(
    ({ path, message }) => `${path} ${message}`,
  );

describe('invitations', () => {
  let store: Store;
  const world = useOrganizations({
    env: { PLINTH_WEBHOOK_URL: 'https://hooks.example.com/plinth' },
    open: async () => {
      store = createMemoryStore();
      return store;
    },
  });
  const { organization, team, refused } = world;
  const invite = (organizationId: string, ...emails: string[]) =>
    world.server.expect<Invited>(200, 'inviteMembers', { params: { organizationId }, body: members(...emails) });
  const own = (as: string) => world.server.expect<Invitation[]>(200, 'listOwnInvitations', { as });

  it('make members of those who accept, and of nobody else', async () => {
    const { server } = world;
    const organizationId = await organization({ [bob]: 'member' });
    const params = { organizationId };
    const { invited, members: known } = await invite(organizationId, carol, dave, bob);
    expect(invited.map(({ email, state }) => [email, state])).to.deep.equal([
      [carol, 'pending'],
      [dave, 'pending'],
    ]);
    expect(known).to.deep.equal([{ email: bob, role: 'member' }]);
    const days = (Date.parse(invited[0]?.expiresAt ?? '') - Date.parse(invited[0]?.invitedAt ?? '')) / 86_400_000;
    expect(days).to.equal(14);
    for (const as of [carol, dave]) await refused('not-found', 'getOrganization', { as, params });
    expect((await own(carol)).map(({ name, invitedBy }) => [name, invitedBy])).to.deep.include(['Acme', alice]);
    await server.expect(201, 'acceptInvitation', { as: carol, params });
    await server.expect(200, 'acceptInvitation', { as: carol, params });
    await server.expect(204, 'declineInvitation', { as: dave, params });
    await refused('not-found', 'acceptInvitation', { as: dave, params });
    await refused('not-found', 'acceptInvitation', { as: outsider, params });
    await refused('forbidden', 'listInvitations', { as: carol, params });
    await refused('forbidden', 'inviteMembers', { as: carol, params, body: members(outsider) });
    expect(await server.expect(200, 'listInvitations', { params })).to.deep.equal([]);
    const events = await server.expect<OrganizationEvent[]>(200, 'listOrganizationEvents', { params });
    expect(events.slice(0, 4).map(({ action, actor, email }) => [action, actor, email])).to.deep.equal([
      ['invitation-declined', dave, dave],
      ['invitation-accepted', carol, carol],
      ['member-invited', alice, dave],
      ['member-invited', alice, carol],
    ]);
  });

  it('expire, are renewed and are revoked', async () => {
    const { server } = world;
    const organizationId = await organization();
    const params = { organizationId };
    await invite(organizationId, carol);
    const [found] = await store.query({ collection: 'invitations', where: [['organizationId', '==', organizationId]] });
    const expiresAt = new Date(Date.now() - 1000).toISOString();
    await store.commit([{ kind: 'update', collection: 'invitations', id: found?.id ?? '', data: { expiresAt } }]);
    expect((await own(carol)).find((each) => each.organizationId === organizationId)?.state).to.equal('expired');
    const { advice } = await refused('conflict', 'acceptInvitation', { as: carol, params });
    expect(advice).to.include(alice);
    const renewed = { params: { ...params, email: carol } };
    expect((await server.expect<Invitation>(200, 'resendInvitation', renewed)).state).to.equal('pending');
    await server.expect(204, 'revokeInvitation', renewed);
    await refused('not-found', 'acceptInvitation', { as: carol, params });
    await refused('not-found', 'revokeInvitation', renewed);
    await refused('not-found', 'resendInvitation', renewed);
  });

  it('are over once their people are members in another way, so that nobody comes back by an old one', async () => {
    const { server } = world;
    const organizationId = await organization();
    const params = { organizationId };
    await invite(organizationId, carol, dave);
    await server.expect(201, 'addOrganizationMember', { params, body: { email: carol } });
    await server.expect(200, 'addOrganizationMembers', { params, body: members(dave) });
    for (const email of [carol, dave]) {
      await server.expect(204, 'removeOrganizationMember', { params: { ...params, email } });
      await refused('not-found', 'acceptInvitation', { as: email, params });
    }
  });

  it('are the third way out that a refused migration names', async () => {
    const { server } = world;
    const organizationId = await organization({ [bob]: 'member' });
    const params = { organizationId };
    const teamId = await team({ [carol]: 'member', [dave]: 'member' });
    const migrate = { params: { teamId }, body: { organizationId } };
    const problem = await refused('members-outside', 'migrateTeam', migrate);
    expect(problem.advice).to.include(`POST /organizations/${organizationId}/invitations`);
    await invite(organizationId, ...(problem as ProblemBody & { members: string[] }).members);
    for (const as of [carol, dave]) await server.expect(201, 'acceptInvitation', { as, params });
    const { removedMembers } = await server.expect(200, 'migrateTeam', migrate);
    expect(removedMembers).to.deep.equal([]);
  });

  it('are told to the webhook, as every event is, each once', async () => {
    const organizationId = await organization();
    await invite(organizationId, carol, dave);
    const notices = (await store.query({ collection: 'notices' })).map(
      ({ data }) => JSON.parse(String(data['body'])) as { type: string; data: Record<string, unknown> },
    );
    const told = notices.filter(({ data }) => data['organizationId'] === organizationId);
    expect(told.map(({ type, data }) => [type, data['email']])).to.deep.equal([
      ['organization.created', undefined],
      ['member.invited', carol],
      ['member.invited', dave],
    ]);
    const events = await store.query({ collection: 'organizationEvents' });
    expect(notices).to.have.length(events.length);
  });
});

describe('many members in one call', () => {
  const world = useOrganizations();
  const { organization, team, refused, emailsIn } = world;

  it('are added to an organization, all or none, and every fault is named', async () => {
    const { server } = world;
    const organizationId = await organization({ [bob]: 'admin', [carol]: 'member' });
    const params = { organizationId };
    const people = Array.from({ length: 498 }, (_, i) => `p${i}@example.com`);
    const twice = await refused('bad-input', 'addOrganizationMembers', { params, body: members(dave, dave, 'none') });
    expect(faultsOf(twice)).to.have.members([
      'members.1.email is named twice',
      'members.2.email must be an e-mail address',
    ]);
    await refused('bad-input', 'addOrganizationMembers', { params, body: members(...people, bob, carol, dave) });
    const others = await refused('conflict', 'addOrganizationMembers', { params, body: members(dave, bob) });
    expect(faultsOf(others)).to.deep.equal([`members.1.email ${bob} is a member already, as admin`]);
    const result = await server.expect<AddedMembers>(200, 'addOrganizationMembers', {
      params,
      body: members(...people, carol),
    });
    expect([result.added.length, result.unchanged.length]).to.deep.equal([498, 1]);
    const all = await server.expect<Member[]>(200, 'listOrganizationMembers', { params });
    expect(all).to.have.length(501);
  });

  it('are added to a team, which in an organization takes its members alone', async () => {
    const { server } = world;
    const organizationId = await organization({ [bob]: 'member', [carol]: 'member' });
    const teamId = await team({ [carol]: 'admin' }, { as: alice, organizationId });
    const params = { teamId };
    const body = members(bob, dave, carol, outsider);
    expect(faultsOf(await refused('bad-input', 'addTeamMembers', { params, body }))).to.deep.equal([
      `members.1.email ${dave} is no member of the organization that the team is in`,
      `members.3.email ${outsider} is no member of the organization that the team is in`,
      `members.2.email ${carol} is a member already, as admin`,
    ]);
    await server.expect(200, 'addTeamMembers', { params, body: members(bob) });
    expect(await emailsIn(teamId, alice)).to.deep.equal([alice, bob, carol]);
    await refused('forbidden', 'addTeamMembers', { as: bob, params, body: members(carol) });
  });
});
