import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Member, Organization, OrganizationEvent } from '../../shared/organization/organization.js';
import { operator } from '../organizations/organizations-server.js';
import { alice, bob, carol, dave, outsider, useOrganizations } from './organizations-world.js';

describe('organizations', () => {
  const world = useOrganizations();
  const membersOf = (organizationId: string, as = alice) =>
    world.server.expect<Member[]>(200, 'listOrganizationMembers', { as, params: { organizationId } });
  const actionsIn = async (organizationId: string) =>
    (await world.server.expect<OrganizationEvent[]>(200, 'listOrganizationEvents', { params: { organizationId } })).map(
      ({ action, email }) => [action, email],
    );

  describe('being made', () => {
    it('have who made them as their first admin', async () => {
      const reply = await world.server.ask('createOrganization', { body: { name: '  Acme ' } });
      const made = reply.body as Organization;
      expect(reply.status).to.equal(201);
      expect(reply.headers.get('location')).to.equal(`/organizations/${made.id}`);
      expect(made).to.include({ name: 'Acme', role: 'admin' });
      expect(await membersOf(made.id)).to.deep.equal([{ email: alice, role: 'admin' }]);
      expect(await world.server.expect(200, 'getOrganization', { params: { organizationId: made.id } })).to.deep.equal(
        made,
      );
    });

    it('are refused to people of other domains, whatever their e-mail, but not to operators', async () => {
      await world.refused('forbidden', 'createOrganization', { as: outsider, body: { name: 'Acme' } });
      await world.server.expect(201, 'createOrganization', { as: operator, body: { name: 'Acme' } });
    });

    for (const [what, body, path] of [
      ['no name', {}, 'name'],
      ['an empty name', { name: '  ' }, 'name'],
      ['a long name', { name: 'x'.repeat(101) }, 'name'],
      ['a line break in its name', { name: 'Ac\nme' }, 'name'],
      ['a name that turns the direction of what follows', { name: 'Ac\u202eme' }, 'name'],
      ['half a character', { name: 'Acme \ud83d' }, 'name'],
      ['an unknown field', { name: 'Acme', plan: 'free' }, 'plan'],
    ] as const) {
      it(`are refused with ${what}`, async () => {
        const { errors } = await world.refused('bad-input', 'createOrganization', { body });
        expect(errors?.map((each) => each.path)).to.deep.equal([path]);
      });
    }
  });

  it('are listed for who belongs to them, each with the own role', async () => {
    const newcomer = 'newcomer@example.com';
    const one = await world.organization({ [newcomer]: 'member' });
    const two = await world.organization({ [newcomer]: 'admin' });
    const listed = await world.server.expect<Organization[]>(200, 'listOrganizations', { as: newcomer });
    expect(Object.fromEntries(listed.map(({ id, role }) => [id, role]))).to.deep.equal({
      [one]: 'member',
      [two]: 'admin',
    });
    expect(await world.server.expect(200, 'listOrganizations', { as: 'nobody@example.com' })).to.deep.equal([]);
  });

  it('look to strangers as if they were not there', async () => {
    const id = await world.organization();
    const none = randomUUID();
    for (const operation of [
      'getOrganization',
      'listOrganizationMembers',
      'listOrganizationTeams',
      'listOrganizationEvents',
    ] as const) {
      const hidden = await world.refused('not-found', operation, { as: carol, params: { organizationId: id } });
      const missing = await world.refused('not-found', operation, { as: carol, params: { organizationId: none } });
      expect(hidden.detail.replace(id, none)).to.equal(missing.detail);
    }
  });

  it('are known by their ids in any case; what is no UUID is bad input', async () => {
    const id = await world.organization();
    await world.server.expect(200, 'getOrganization', { params: { organizationId: id.toUpperCase() } });
    await world.refused('bad-input', 'getOrganization', { params: { organizationId: '42' } });
  });

  it('are open to operators, who are no members and need not be', async () => {
    const organizationId = await world.organization();
    const seen = await world.server.expect<Organization>(200, 'getOrganization', {
      as: operator,
      params: { organizationId },
    });
    expect(seen).not.to.have.property('role');
    await world.server.expect(201, 'addOrganizationMember', {
      as: operator,
      params: { organizationId },
      body: { email: bob },
    });
    await world.server.expect(200, 'listOrganizationEvents', { as: operator, params: { organizationId } });
    await world.refused('not-found', 'getOrganization', { as: operator, params: { organizationId: randomUUID() } });
  });

  describe('taking members', () => {
    it('say 201 for a new one, 200 for one there already, and 409 for one with another role', async () => {
      const params = { organizationId: await world.organization() };
      const add = (status: number, body: object) =>
        world.server.expect(status, 'addOrganizationMember', { params, body });
      expect(await add(201, { email: ' Bob@Example.com ' })).to.deep.equal({ email: bob, role: 'member' });
      expect(await add(200, { email: bob, role: 'member' })).to.deep.equal({ email: bob, role: 'member' });
      expect(await add(409, { email: bob, role: 'admin' })).to.include({ code: 'conflict' });
      expect(await membersOf(params.organizationId)).to.deep.equal([
        { email: alice, role: 'admin' },
        { email: bob, role: 'member' },
      ]);
    });

    it('take any address that a browser takes', async () => {
      const params = { organizationId: await world.organization() };
      const emails = ['a/b@example.com', '..@example.com', '__x__@example.com', "o'neil+tag@sub.example.com"];
      for (const email of emails) {
        await world.server.expect(201, 'addOrganizationMember', { params, body: { email } });
        await world.server.expect(200, 'setOrganizationMemberRole', {
          params: { ...params, email },
          body: { role: 'admin' },
        });
        await world.server.expect(204, 'removeOrganizationMember', { params: { ...params, email } });
      }
      expect(await membersOf(params.organizationId)).to.have.length(1);
    });

    it('refuse what is no address, and roles that are not known', async () => {
      const params = { organizationId: await world.organization() };
      const { errors } = await world.refused('bad-input', 'addOrganizationMember', {
        params,
        body: { email: 'bob', role: 'owner', name: 'Bob' },
      });
      expect(errors?.map(({ path }) => path)).to.have.members(['email', 'role', 'name']);
    });

    it('take them from admins alone', async () => {
      const organizationId = await world.organization({ [bob]: 'member' });
      const asked = { params: { organizationId }, body: { email: dave } };
      await world.refused('forbidden', 'addOrganizationMember', { as: bob, ...asked });
      await world.refused('not-found', 'addOrganizationMember', { as: carol, ...asked });
    });
  });

  describe('changing roles', () => {
    it('do so for admins, and know no members that are not there', async () => {
      const organizationId = await world.organization({ [bob]: 'member' });
      const set = (email: string, role: string, as = alice) => ({
        as,
        params: { organizationId, email },
        body: { role },
      });
      expect(await world.server.expect(200, 'setOrganizationMemberRole', set(bob, 'admin'))).to.deep.equal({
        email: bob,
        role: 'admin',
      });
      await world.server.expect(200, 'setOrganizationMemberRole', set(bob, 'admin'));
      await world.server.expect(200, 'setOrganizationMemberRole', set(alice, 'member', bob));
      await world.refused('forbidden', 'setOrganizationMemberRole', set(bob, 'member'));
      await world.refused('not-found', 'setOrganizationMemberRole', set(dave, 'member', bob));
      await world.refused('bad-input', 'setOrganizationMemberRole', set(bob, 'owner', bob));
      await world.refused('conflict', 'setOrganizationMemberRole', set(bob, 'member', bob));
      expect((await membersOf(organizationId, bob)).map(({ role }) => role)).to.deep.equal(['member', 'admin']);
    });
  });

  describe('removing members', () => {
    it('do so for admins and for oneself', async () => {
      const organizationId = await world.organization({ [bob]: 'member', [carol]: 'member' });
      const of = (email: string) => ({ params: { organizationId, email } });
      await world.refused('forbidden', 'removeOrganizationMember', { as: bob, ...of(carol) });
      await world.server.expect(204, 'removeOrganizationMember', { as: bob, ...of(bob) });
      await world.server.expect(204, 'removeOrganizationMember', of(carol));
      await world.refused('not-found', 'removeOrganizationMember', of(carol));
      await world.refused('not-found', 'removeOrganizationMember', { as: bob, ...of(bob) });
      expect(await membersOf(organizationId)).to.have.length(1);
    });

    it('keep the last admin', async () => {
      const organizationId = await world.organization({ [bob]: 'member' });
      const { detail } = await world.refused('conflict', 'removeOrganizationMember', {
        params: { organizationId, email: alice },
      });
      expect(detail).to.equal(`${alice} is the last admin of the organization.`);
      await world.refused('conflict', 'removeOrganizationMember', {
        as: operator,
        params: { organizationId, email: alice },
        query: { force: 'true' },
      });
    });

    it('keep an admin when two of two leave at once', async () => {
      for (let round = 0; round < 10; round++) {
        const organizationId = await world.organization({ [bob]: 'admin' });
        const leave = (email: string) =>
          world.server.ask('removeOrganizationMember', { as: email, params: { organizationId, email } });
        const statuses = (await Promise.all([leave(alice), leave(bob)])).map(({ status }) => status);
        expect(statuses.sort()).to.deep.equal([204, 409]);
      }
    });

    it('name the teams that still hold the member, and change nothing; forced they remove it there too', async () => {
      const organizationId = await world.organization({ [bob]: 'admin' });
      const inside = await world.team({}, { organizationId });
      const standalone = await world.team();
      const asked = { params: { organizationId, email: bob } };
      const problem = await world.refused('conflict', 'removeOrganizationMember', asked);
      expect(problem['teams']).to.deep.equal([{ teamId: inside, name: 'Red' }]);
      expect(problem.detail).to.contain(String(inside));
      await world.server.expect(200, 'getOrganization', { as: bob, params: { organizationId } });
      await world.server.expect(200, 'setOrganizationMemberRole', { ...asked, body: { role: 'member' } });

      await world.server.expect(204, 'removeOrganizationMember', { ...asked, query: { force: 'true' } });
      expect(await world.emailsIn(inside, alice)).to.deep.equal([]);
      expect(await world.emailsIn(standalone, bob)).to.deep.equal([bob]);
      expect((await actionsIn(organizationId)).slice(0, 2)).to.deep.equal([
        ['member-removed', bob],
        ['team-member-removed', bob],
      ]);
    });

    it('know force as true or false only', async () => {
      const params = { organizationId: await world.organization(), email: bob };
      await world.refused('bad-input', 'removeOrganizationMember', { params, query: { force: 'yes' } });
    });
  });

  it('tell their admins who did what, newest first, with what was before and after', async () => {
    const organizationId = await world.organization({ [bob]: 'member' });
    const params = { organizationId, email: bob };
    await world.server.expect(200, 'setOrganizationMemberRole', { params, body: { role: 'admin' } });
    await world.server.expect(204, 'removeOrganizationMember', { params });
    await world.server.expect(201, 'addOrganizationMember', { params: { organizationId }, body: { email: carol } });
    const events = await world.server.expect<OrganizationEvent[]>(200, 'listOrganizationEvents', { params });
    expect(events.map(({ action, actor, before, after }) => [action, actor, before, after]).slice(0, 4)).to.deep.equal([
      ['member-added', alice, null, { email: carol, role: 'member' }],
      ['member-removed', alice, { email: bob, role: 'admin' }, null],
      ['member-role-changed', alice, { email: bob, role: 'member' }, { email: bob, role: 'admin' }],
      ['member-added', alice, null, { email: bob, role: 'member' }],
    ]);
    expect(events.at(-1)?.action).to.equal('organization-created');
    await world.refused('forbidden', 'listOrganizationEvents', { as: carol, params: { organizationId } });
  });
});

describe('organizations where nothing is said of who may make them', () => {
  const world = useOrganizations({ creators: '' });
  it('are made by operators alone', async () => {
    await world.refused('forbidden', 'createOrganization', { body: { name: 'Acme' } });
    await world.server.expect(201, 'createOrganization', { as: operator, body: { name: 'Acme' } });
  });
});
