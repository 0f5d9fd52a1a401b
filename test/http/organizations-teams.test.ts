import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Team } from '../../shared/organization/team.js';
import { operator } from '../organizations/organizations-server.js';
import { alice, bob, carol, dave, outsider, useOrganizations } from './organizations-world.js';

describe('teams', () => {
  const world = useOrganizations();

  it('are made by anybody, who is their first admin', async () => {
    const reply = await world.server.ask('createTeam', { as: outsider, body: { name: 'Red' } });
    const made = reply.body as Team;
    expect(reply.status).to.equal(201);
    expect(reply.headers.get('location')).to.equal(`/teams/${made.teamId}`);
    expect(made).to.include({ name: 'Red', organizationId: null, role: 'admin' });
    expect(made.teamId).to.be.within(1, 2 ** 31 - 1);
    const params = { teamId: made.teamId };
    expect(await world.server.expect(200, 'getTeam', { as: outsider, params })).to.deep.equal(made);
    expect(await world.server.expect(200, 'listTeams', { as: outsider })).to.deep.equal([made]);
  });

  it('are made in an organization by its admins, who must be members of it', async () => {
    const organizationId = await world.organization({ [bob]: 'member' });
    const asked = (as: string) => ({ as, body: { name: 'Red', organizationId } });
    const made = await world.server.expect<Team>(201, 'createTeam', asked(alice));
    expect(made).to.include({ organizationId, role: 'admin' });
    await world.refused('forbidden', 'createTeam', asked(bob));
    await world.refused('not-found', 'createTeam', asked(carol));
    await world.refused('bad-input', 'createTeam', asked(operator));
    const nowhere = { body: { name: 'Red', organizationId: randomUUID() } };
    await world.refused('not-found', 'createTeam', nowhere);
    await world.refused('not-found', 'createTeam', { as: operator, ...nowhere });
    const listed = await world.server.expect<Team[]>(200, 'listOrganizationTeams', {
      as: bob,
      params: { organizationId },
    });
    const { role: _, ...withoutRole } = made;
    expect(listed).to.deep.equal([withoutRole]);
  });

  it('look to strangers as if they were not there, also to those who are in the same organization', async () => {
    const organizationId = await world.organization({ [carol]: 'member' });
    const teamId = await world.team({}, { as: alice, organizationId });
    const none = teamId === 1 ? 2 : 1;
    for (const operation of ['getTeam', 'listTeamMembers'] as const) {
      for (const as of [carol, dave]) {
        const hidden = await world.refused('not-found', operation, { as, params: { teamId } });
        const missing = await world.refused('not-found', operation, { as, params: { teamId: none } });
        expect(hidden.detail.replace(String(teamId), String(none))).to.equal(missing.detail);
      }
    }
    await world.refused('not-found', 'addTeamMember', { as: dave, params: { teamId }, body: { email: dave } });
    await world.server.expect(200, 'getTeam', { as: operator, params: { teamId } });
  });

  for (const teamId of ['x', '1.5', '-1', '0', '2147483648', '99999999999']) {
    it(`take ${teamId} for no number of a team`, async () => {
      await world.refused('bad-input', 'getTeam', { params: { teamId } });
    });
  }

  describe('that stand alone', () => {
    it('take members from their admins, with 201, 200 and 409', async () => {
      const teamId = await world.team({ [carol]: 'member' });
      const add = (status: number, body: object, as = bob) =>
        world.server.expect(status, 'addTeamMember', { as, params: { teamId }, body });
      await add(200, { email: carol });
      await add(409, { email: carol, role: 'admin' });
      await add(403, { email: dave }, carol);
      await add(404, { email: dave }, alice);
      expect(await add(201, { email: 'A/B@example.com', role: 'admin' }, operator)).to.deep.equal({
        email: 'a/b@example.com',
        role: 'admin',
      });
      expect(await world.emailsIn(teamId, carol)).to.deep.equal(['a/b@example.com', bob, carol]);
    });

    it('let members go, and admins remove them', async () => {
      const teamId = await world.team({ [carol]: 'member', [dave]: 'member' });
      const remove = (status: number, email: string, as: string) =>
        world.server.expect(status, 'removeTeamMember', { as, params: { teamId, email } });
      await remove(403, dave, carol);
      await remove(204, carol, carol);
      await remove(204, dave, bob);
      await remove(404, dave, bob);
      await remove(404, carol, carol);
    });

    it('keep their last admin, also when two go at once', async () => {
      for (let round = 0; round < 10; round++) {
        const teamId = await world.team({ [carol]: 'admin' });
        const leave = (email: string) => world.server.ask('removeTeamMember', { as: email, params: { teamId, email } });
        const statuses = (await Promise.all([leave(bob), leave(carol)])).map(({ status }) => status);
        expect(statuses.sort()).to.deep.equal([204, 409]);
      }
    });
  });

  describe('in an organization', () => {
    it('take only members of it, from the admins of either', async () => {
      const organizationId = await world.organization({ [bob]: 'admin', [carol]: 'member', [dave]: 'admin' });
      const teamId = await world.team({}, { organizationId });
      const add = (status: number, email: string, as: string) =>
        world.server.expect(status, 'addTeamMember', { as, params: { teamId }, body: { email } });
      await add(201, carol, alice);
      await add(403, dave, carol);
      await add(201, dave, bob);
      const problem = await add(400, outsider, bob);
      expect(problem['detail']).to.contain(outsider);
      expect(problem['errors']).to.deep.equal([
        { path: 'email', message: 'is no member of the organization that the team is in' },
      ]);
    });

    it('may be left without an admin, and empty; the admins of the organization govern them', async () => {
      const organizationId = await world.organization({ [bob]: 'admin', [carol]: 'member' });
      const teamId = await world.team({ [carol]: 'member' }, { organizationId });
      const remove = (email: string, as: string) =>
        world.server.expect(204, 'removeTeamMember', { as, params: { teamId, email } });
      await remove(bob, bob);
      await world.refused('forbidden', 'removeTeamMember', { as: carol, params: { teamId, email: dave } });
      await remove(carol, alice);
      expect(await world.emailsIn(teamId, alice)).to.deep.equal([]);
      await world.server.expect(201, 'addTeamMember', { params: { teamId }, body: { email: carol, role: 'admin' } });
    });
  });
});
