/** The record of who did what, filtered, and that of a team, over HTTP. */
import { expect } from 'chai';
import type { OrganizationEvent } from '../../shared/organization/organization.js';
import { alice, bob, carol, dave, outsider, useOrganizations } from './organizations-world.js';

describe('the record of who did what', () => {
  const world = useOrganizations();
  const { organization, team, refused } = world;
  const actions = (events: readonly OrganizationEvent[]) => events.map(({ action }) => action);

  it('is filtered by actor, action, member and time, all of them together, also in pages', async () => {
    const { server } = world;
    const params = { organizationId: await organization({ [bob]: 'admin', [carol]: 'member' }) };
    await server.expect(201, 'addOrganizationMember', { as: bob, params, body: { email: dave } });
    const find = (query: Record<string, string>) =>
      server.expect<OrganizationEvent[]>(200, 'listOrganizationEvents', { params, query });
    const all = await find({});
    expect((await find({ actor: bob })).map(({ email }) => email)).to.deep.equal([dave]);
    expect(await find({ action: 'member-added', actor: alice })).to.have.length(2);
    expect(await find({ member: carol, action: 'member-added' })).to.have.length(1);
    expect(await find({ member: carol, actor: bob })).to.deep.equal([]);
    const middle = all[1]?.at ?? '';
    expect(await find({ since: middle })).to.deep.equal(all.filter(({ at }) => at >= middle));
    expect(await find({ until: middle })).to.deep.equal(all.filter(({ at }) => at < middle));
    expect(await find({ since: middle.replace('Z', '+00:00') })).to.deep.equal(await find({ since: middle }));
    expect([await find({ since: '1h' }), await find({ until: '1h' })]).to.deep.equal([all, []]);
    const asked = { params, query: { action: 'member-added', limit: '1' } };
    const page = await server.ask('listOrganizationEvents', asked);
    expect(page.headers.get('link')).to.include('action=member-added');
    expect(page.body).to.deep.equal((await find({ action: 'member-added' })).slice(0, 1));
    for (const query of [
      { action: 'none' },
      { since: 'yesterday' },
      { since: '7' },
      { until: '2026-11-23' },
      { actor: 'bob' },
    ]) {
      await refused('bad-input', 'listOrganizationEvents', { params, query });
    }
  });

  it('of a team goes back to before its migration, for its admins and those of its organization', async () => {
    const { server } = world;
    const organizationId = await organization({ [bob]: 'member', [carol]: 'member' });
    const teamId = await team({ [carol]: 'member' });
    const params = { teamId };
    const find = (as: string) => server.expect<OrganizationEvent[]>(200, 'listTeamEvents', { as, params });
    expect(actions(await find(bob))).to.deep.equal(['team-member-added', 'team-created']);
    await refused('not-found', 'listTeamEvents', { params });
    await server.expect(200, 'migrateTeam', { params, body: { organizationId } });
    for (const as of [alice, bob]) {
      expect(actions(await find(as))).to.deep.equal(['team-migrated', 'team-member-added', 'team-created']);
    }
    await server.expect(200, 'renameTeam', { params, body: { name: 'Green' } });
    const ofTeam = { params: { organizationId }, query: { teamId: String(teamId), limit: '1' } };
    const page = await server.ask('listOrganizationEvents', ofTeam);
    expect(actions(page.body as OrganizationEvent[])).to.deep.equal(['team-renamed']);
    expect(page.headers.get('link')).to.include(`teamId=${teamId}`);
    const { limit: _, ...query } = ofTeam.query;
    const whole = await server.expect<OrganizationEvent[]>(200, 'listOrganizationEvents', { ...ofTeam, query });
    expect(actions(whole)).to.deep.equal(['team-renamed', 'team-migrated']);
    await refused('bad-input', 'listOrganizationEvents', { ...ofTeam, query: { teamId: 'x' } });
    await refused('forbidden', 'listTeamEvents', { as: carol, params });
    await refused('not-found', 'listTeamEvents', { as: outsider, params });
  });
});
