import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { OrganizationEvent } from '../../shared/organization/organization.js';
import type { MigrationPreview, MigrationReply, Team } from '../../shared/organization/team.js';
import { detailOf, operator } from '../organizations/organizations-server.js';
import { alice, bob, carol, dave, outsider, useOrganizations } from './organizations-world.js';

describe('migrating a team', () => {
  const world = useOrganizations();
  const asked = (teamId: number, organizationId: string, force?: boolean, as = alice) => ({
    as,
    params: { teamId },
    body: { organizationId, ...(force === undefined ? {} : { force }) },
  });
  const migrate = (...args: Parameters<typeof asked>) =>
    world.server.expect<MigrationReply>(200, 'migrateTeam', asked(...args));
  const teamsOf = (organizationId: string) =>
    world.server.expect<Team[]>(200, 'listOrganizationTeams', { params: { organizationId } });

  it('keeps all members if they are members of the organization', async () => {
    const organizationId = await world.organization({ [bob]: 'member', [carol]: 'member' });
    const teamId = await world.team({ [carol]: 'member' });
    const { team, removedMembers } = await migrate(teamId, organizationId);
    expect(team).to.include({ teamId, name: 'Red', organizationId });
    expect(team).not.to.have.property('role');
    expect(removedMembers).to.deep.equal([]);
    expect(await world.emailsIn(teamId, alice)).to.deep.equal([bob, carol]);
    expect((await teamsOf(organizationId)).map((each) => each.teamId)).to.deep.equal([teamId]);
  });

  for (const force of [undefined, false]) {
    it(`is refused with members outside the organization, force ${force}, and changes nothing`, async () => {
      const organizationId = await world.organization({ [bob]: 'member' });
      const teamId = await world.team({ 'z@x.org': 'member', [carol]: 'member', 'a/b@x.org': 'member' });
      const reply = await world.server.ask('migrateTeam', asked(teamId, organizationId, force));
      expect(reply.status).to.equal(400);
      expect(reply.body).to.include({ code: 'members-outside', type: '/problems/members-outside' });
      expect(detailOf(reply)).to.equal(
        `Team ${teamId} cannot be migrated because these members are not members of the new organization: ` +
          'a/b@x.org, carol@example.com, z@x.org. Add them to the organization first, or use the force option to ' +
          'remove them from the team.',
      );
      expect((reply.body as { members: string[] }).members).to.deep.equal(['a/b@x.org', carol, 'z@x.org']);
      expect(await world.server.expect(200, 'getTeam', { as: bob, params: { teamId } })).to.include({
        organizationId: null,
      });
      expect(await world.emailsIn(teamId, bob)).to.have.length(4);
      expect(await teamsOf(organizationId)).to.deep.equal([]);
    });
  }

  it('removes exactly the members outside the organization when forced, and tells so', async () => {
    const organizationId = await world.organization({ [bob]: 'member' });
    const teamId = await world.team({ 'z@x.org': 'member', [carol]: 'admin' });
    const { removedMembers } = await migrate(teamId, organizationId, true);
    expect(removedMembers).to.deep.equal([carol, 'z@x.org']);
    expect(await world.emailsIn(teamId, alice)).to.deep.equal([bob]);
    const [event] = await world.server.expect<OrganizationEvent[]>(200, 'listOrganizationEvents', {
      params: { organizationId },
    });
    expect(event).to.deep.include({ action: 'team-migrated', actor: alice, teamId });
    const before = event?.before as { team: Team; members: unknown[] };
    const after = event?.after as { team: Team; members: unknown[] };
    expect([before.team.organizationId, after.team.organizationId]).to.deep.equal([null, organizationId]);
    expect(before.members).to.deep.equal([
      { email: bob, role: 'admin' },
      { email: carol, role: 'admin' },
      { email: 'z@x.org', role: 'member' },
    ]);
    expect(after.members).to.deep.equal([{ email: bob, role: 'admin' }]);
  });

  it('may leave the team without an admin, and empty', async () => {
    const organizationId = await world.organization();
    const teamId = await world.team();
    expect((await migrate(teamId, organizationId, true)).removedMembers).to.deep.equal([bob]);
    expect(await world.emailsIn(teamId, alice)).to.deep.equal([]);
    await world.refused('not-found', 'getTeam', { as: bob, params: { teamId } });
  });

  it('changes nothing the second time, and is refused into another organization', async () => {
    const organizationId = await world.organization({ [bob]: 'member' });
    const other = await world.organization();
    const teamId = await world.team();
    await migrate(teamId, organizationId);
    const again = await migrate(teamId, organizationId, true);
    expect(again.removedMembers).to.deep.equal([]);
    const problem = await world.refused('conflict', 'migrateTeam', asked(teamId, other, true));
    expect(problem.detail).to.equal(`Team ${teamId} is in another organization already.`);
  });

  it('is for admins of the organization and operators', async () => {
    const organizationId = await world.organization({ [bob]: 'member' });
    const teamId = await world.team();
    const none = teamId === 1 ? 2 : 1;
    await world.refused('forbidden', 'migrateTeam', asked(teamId, organizationId, true, bob));
    await world.refused('not-found', 'migrateTeam', asked(teamId, organizationId, true, dave));
    await world.refused('not-found', 'migrateTeam', asked(none, organizationId));
    await world.refused('not-found', 'migrateTeam', asked(teamId, randomUUID()));
    await world.refused('not-found', 'migrateTeam', asked(teamId, randomUUID(), true, operator));
    await migrate(teamId, organizationId, false, operator);
  });

  for (const [what, body, path] of [
    ['no organization', {}, 'organizationId'],
    ['an organization that is no UUID', { organizationId: '42' }, 'organizationId'],
    ['force that is no boolean', { organizationId: randomUUID(), force: 'true' }, 'force'],
    ['an unknown field', { organizationId: randomUUID(), dryRun: true }, 'dryRun'],
  ] as const) {
    it(`is refused with ${what}`, async () => {
      const { errors } = await world.refused('bad-input', 'migrateTeam', { params: { teamId: 1 }, body });
      expect(errors?.map((each) => each.path)).to.deep.equal([path]);
    });
  }

  it('takes who is being removed from the organization for gone', async () => {
    const organizationId = await world.organization({ [bob]: 'member', [carol]: 'member' });
    const teamId = await world.team({ [carol]: 'member' });
    const removing = { params: { organizationId, email: carol }, query: { force: 'true' } };
    const [migrated] = await Promise.all([
      world.server.ask('migrateTeam', asked(teamId, organizationId, true)),
      world.server.ask('removeOrganizationMember', removing),
    ]);
    expect(migrated.status).to.equal(200);
    expect(await world.emailsIn(teamId, alice)).to.deep.equal([bob]);
  });

  describe('previewed', () => {
    const preview = async (teamId: number, organizationId: string, as = alice) => {
      const reply = await world.server.ask('previewMigration', { as, params: { teamId }, query: { organizationId } });
      expect(reply.status).to.equal(200);
      return { ...(reply.body as MigrationPreview), tag: reply.headers.get('etag') ?? '' };
    };

    it('says who would stay and leave, and why it would be refused, and changes nothing', async () => {
      const organizationId = await world.organization({ [bob]: 'member' });
      const teamId = await world.team({ [alice]: 'member', [carol]: 'member' });
      const { tag, ...found } = await preview(teamId, organizationId);
      expect(tag).to.match(/^"[\w-]+"$/);
      expect(found).to.deep.include({
        teamId,
        organizationId,
        stays: [
          { email: alice, role: 'member' },
          { email: bob, role: 'admin' },
        ],
        leaves: [{ email: carol, role: 'member' }],
      });
      const refusal = await world.refused('members-outside', 'migrateTeam', asked(teamId, organizationId));
      expect(found.blockers).to.deep.equal([refusal.detail]);
      expect((await preview(teamId, organizationId)).tag).to.equal(tag);
    });

    it('tells a caller who does not see the team how many stay and leave, and no names', async () => {
      const organizationId = await world.organization({ [bob]: 'member' });
      const teamId = await world.team({ [carol]: 'member', [dave]: 'member' });
      const { tag, ...found } = await preview(teamId, organizationId);
      expect(found).to.deep.include({ stays: [], leaves: [], counts: { stays: 1, leaves: 2 } });
      expect(found.blockers[0]).to.contain(`Team ${teamId} cannot be migrated`).and.to.contain('2 of its members');
      expect(JSON.stringify(found)).not.to.contain('@');
      expect((await preview(teamId, organizationId, operator)).leaves).to.have.length(2);
      const ifSame = { ...asked(teamId, organizationId, true), headers: { 'if-match': tag } };
      await world.server.expect(200, 'migrateTeam', ifSame);
    });

    it('shows the members of a team in another organization to nobody', async () => {
      const organizationId = await world.organization({ [bob]: 'member' });
      const teamId = await world.team();
      await migrate(teamId, organizationId);
      const other = await world.organization();
      const { stays, leaves, blockers } = await preview(teamId, other);
      expect([stays, leaves]).to.deep.equal([[], []]);
      expect(blockers).to.deep.equal([`Team ${teamId} is in another organization already.`]);
      expect(await preview(teamId, organizationId)).to.deep.include({
        stays: [{ email: bob, role: 'admin' }],
        leaves: [],
        blockers: [],
      });
    });

    it('is for those who may migrate', async () => {
      const organizationId = await world.organization({ [bob]: 'member' });
      const teamId = await world.team();
      const of = { params: { teamId }, query: { organizationId } };
      await world.refused('forbidden', 'previewMigration', { as: bob, ...of });
      await world.refused('not-found', 'previewMigration', { as: dave, ...of });
      await world.refused('bad-input', 'previewMigration', { params: { teamId }, query: {} });
      await preview(teamId, organizationId, operator);
    });

    const changes: Record<string, (teamId: number, organizationId: string) => Promise<unknown>> = {
      'a member of the team goes': (teamId) =>
        world.server.expect(204, 'removeTeamMember', { as: bob, params: { teamId, email: carol } }),
      'another one comes': (teamId) =>
        world.server.expect(201, 'addTeamMember', { as: bob, params: { teamId }, body: { email: dave } }),
      'a member joins the organization': (_, organizationId) =>
        world.server.expect(201, 'addOrganizationMember', { params: { organizationId }, body: { email: carol } }),
    };
    for (const [what, change] of Object.entries(changes)) {
      it(`makes the migration conditional: 412 if ${what}`, async () => {
        const organizationId = await world.organization({ [bob]: 'member' });
        const teamId = await world.team({ [carol]: 'member' });
        const migrateIf = (status: number, tag: string) =>
          world.server.expect(status, 'migrateTeam', {
            ...asked(teamId, organizationId, true),
            headers: { 'if-match': tag },
          });
        const { tag } = await preview(teamId, organizationId);
        await change(teamId, organizationId);
        await migrateIf(412, tag);
        await migrateIf(412, `W/${(await preview(teamId, organizationId)).tag}`);
        await migrateIf(200, `"other", ${(await preview(teamId, organizationId)).tag}`);
        // What is done already is no conflict with a preview.
        await migrateIf(200, tag);
      });
    }
  });
});

describe('migrating a team where anyone may make organizations', () => {
  const world = useOrganizations({ creators: 'anyone' });
  const migrate = async (teamId: number, organizationId: string, as: string) =>
    (await world.server.ask('migrateTeam', { as, params: { teamId }, body: { organizationId, force: true } })).status;

  it('is for those who are admins of the team too', async () => {
    const organizationId = await world.organization({ [bob]: 'admin', [carol]: 'admin' });
    const teamId = await world.team({ [carol]: 'member' });
    const preview = { params: { teamId }, query: { organizationId } };
    await world.refused('not-found', 'previewMigration', preview);
    await world.refused('forbidden', 'previewMigration', { as: carol, ...preview });
    expect(await migrate(teamId, organizationId, alice)).to.equal(404);
    expect(await migrate(teamId, organizationId, carol)).to.equal(403);
    expect(await migrate(teamId, organizationId, bob)).to.equal(200);
    expect(await migrate(teamId, organizationId, alice), 'a retry by whoever governs it').to.equal(200);
  });

  it('lets no stranger empty a team through an organization of their own', async () => {
    const { id } = await world.server.expect<{ id: string }>(201, 'createOrganization', {
      as: outsider,
      body: { name: 'Trap' },
    });
    const teamId = await world.team();
    expect(await migrate(teamId, id, outsider)).to.equal(404);
    expect(await migrate(teamId, id, operator)).to.equal(200);
  });
});
