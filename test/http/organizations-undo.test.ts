/** The undo of a migration, over HTTP. */
import { expect } from 'chai';
import type { Store } from '../../functions/store/store.js';
import { createMemoryStore } from '../../local/functions/memory-store.js';
import type { Member, OrganizationEvent } from '../../shared/organization/organization.js';
import type { Detached, UndoPreview } from '../../shared/organization/team.js';
import { alice, bob, carol, dave, outsider, useOrganizations } from './organizations-world.js';

for (const creators of ['example.com', 'anyone']) {
  describe(`the undo of a migration, where ${creators} makes organizations`, () => {
    let store: Store;
    const world = useOrganizations({
      creators,
      open: async () => {
        store = createMemoryStore();
        return store;
      },
    });
    const { organization, team, refused, emailsIn } = world;
    /** By alice, who is an admin of both. */
    const migrated = async (): Promise<{ teamId: number; organizationId: string }> => {
      const organizationId = await organization({ [carol]: 'member', [dave]: 'member' });
      const teamId = await team({ [alice]: 'admin', [carol]: 'member', [outsider]: 'member' });
      const body = { organizationId, force: true };
      await world.server.expect(200, 'migrateTeam', { params: { teamId }, body });
      return { teamId, organizationId };
    };
    const latest = (teamId: number) => ({ params: { teamId, migrationId: 'latest' } });

    it('names every difference first, and then makes exactly these', async () => {
      const { server } = world;
      const { teamId, organizationId } = await migrated();
      const inTeam = { params: { teamId } };
      await server.expect(201, 'addTeamMember', { ...inTeam, body: { email: dave } });
      await server.expect(200, 'setTeamMemberRole', { params: { teamId, email: carol }, body: { role: 'admin' } });
      const seen = await server.ask('previewUndo', latest(teamId));
      const { migrationId, until, ...preview } = seen.body as UndoPreview;
      expect(preview).to.deep.equal({
        teamId,
        organizationId,
        stays: [{ email: alice, role: 'admin' }],
        returns: [
          { email: carol, role: 'member' },
          { email: bob, role: 'admin' },
          { email: outsider, role: 'member' },
        ],
        leaves: [{ email: dave, role: 'member' }],
        changes: [{ email: carol, role: 'admin' }],
      });
      expect(Math.round((Date.parse(until) - Date.now()) / 86_400_000)).to.equal(30);
      const headers = { 'if-match': seen.headers.get('etag') ?? '' };
      await server.expect(200, 'renameTeam', { ...inTeam, body: { name: 'Green' } });
      const named = { params: { teamId, migrationId } };
      await refused('precondition-failed', 'undoMigration', { ...named, headers });
      const again = await server.ask('previewUndo', named);
      const undone = await server.expect<Detached>(200, 'undoMigration', {
        ...named,
        headers: { 'if-match': again.headers.get('etag') ?? '' },
      });
      expect(undone.restoredMembers).to.deep.equal([bob, carol, outsider]);
      expect(undone.removedMembers).to.deep.equal([dave]);
      expect(undone.team).to.include({ name: 'Green', organizationId: null });
      const members = await server.expect<Member[]>(200, 'listTeamMembers', { as: bob, params: { teamId } });
      expect(members.map(({ email, role }) => `${email} ${role}`)).to.deep.equal([
        `${alice} admin`,
        `${bob} admin`,
        `${carol} member`,
        `${outsider} member`,
      ]);
      const [event] = await server.expect<OrganizationEvent[]>(200, 'listOrganizationEvents', {
        params: { organizationId },
      });
      expect(event).to.include({ action: 'team-migration-undone', actor: alice, teamId });
      await refused('conflict', 'undoMigration', latest(teamId));
    });

    it('is open to a former admin whom the migration removed, and to nobody whom it does not concern', async () => {
      const { teamId } = await migrated();
      for (const operation of ['previewUndo', 'undoMigration'] as const) {
        await refused('not-found', operation, { as: outsider, ...latest(teamId) });
        await refused('not-found', operation, { as: dave, ...latest(teamId) });
        await refused('forbidden', operation, { as: carol, ...latest(teamId) });
      }
      await world.server.expect(201, 'addTeamMember', { params: { teamId }, body: { email: dave } });
      const { leaves, counts } = await world.server.expect(200, 'previewUndo', {
        as: bob,
        ...latest(teamId),
      });
      expect([leaves, counts], 'who has come since is not named').to.deep.equal([[], { leaves: 1 }]);
      await world.server.expect(200, 'undoMigration', { as: bob, ...latest(teamId) });
      expect(await emailsIn(teamId, bob)).to.deep.equal([alice, bob, carol, outsider]);
    });

    it('tells nobody whom it does not concern that nothing is on record', async () => {
      const { teamId } = await migrated();
      const events = await store.query({ collection: 'organizationEvents', where: [['teamId', '==', teamId]] });
      await store.commit(events.map(({ id }) => ({ kind: 'delete', collection: 'organizationEvents', id }) as const));
      for (const operation of ['previewUndo', 'undoMigration'] as const) {
        await refused('not-found', operation, { as: outsider, ...latest(teamId) });
        await refused('not-found', operation, { as: dave, ...latest(teamId) });
        const { detail } = await refused('conflict', operation, latest(teamId));
        expect(detail).to.contain('Nothing is on record');
      }
    });

    it('ends after 30 days, and is for the latest migration alone', async () => {
      const { teamId } = await migrated();
      const other = { params: { teamId, migrationId: '0660bf5151db38-4eba9a80' } };
      await refused('conflict', 'undoMigration', other);
      await refused('bad-input', 'undoMigration', { params: { teamId, migrationId: 'first' } });
      const [found] = (
        await store.query({ collection: 'organizationEvents', where: [['teamId', '==', teamId]] })
      ).filter(({ data }) => data['action'] === 'team-migrated');
      const at = new Date(Date.now() - 31 * 86_400_000).toISOString();
      await store.commit([{ kind: 'update', collection: 'organizationEvents', id: found?.id ?? '', data: { at } }]);
      const { detail } = await refused('conflict', 'undoMigration', latest(teamId));
      expect(detail).to.equal(`The migration of team ${teamId} is more than 30 days old.`);
    });

    it('has nothing to undo for a team that was made in its organization', async () => {
      const organizationId = await organization();
      const teamId = await team({}, { as: alice, organizationId });
      await refused('conflict', 'undoMigration', latest(teamId));
    });
  });
}
