/** Who is removed, by whom, and why: each way of removing somebody, as its event tells it and as the webhook hears it. */
import { expect } from 'chai';
import type { Store } from '../../functions/store/store.js';
import { createMemoryStore } from '../../local/functions/memory-store.js';
import type { Organization, OrganizationEvent } from '../../shared/organization/organization.js';
import { alice, bob, carol, dave, outsider, useOrganizations } from './organizations-world.js';

interface Message {
  readonly type: string;
  readonly data: {
    readonly id?: string;
    readonly organizationId: string;
    readonly actor: string;
    readonly email?: string;
    readonly removed?: string[];
    readonly why?: string;
  };
}

describe('who is removed', () => {
  let store: Store;
  const world = useOrganizations({
    creators: 'example.com',
    env: { PLINTH_WEBHOOK_URL: 'http://127.0.0.1:9/hook' },
    open: async () => {
      store = createMemoryStore();
      return store;
    },
  });
  let organizationId: string;
  let teamId: number;
  /** Alice governs the organization and its team. Bob and Carol are plain members of both. */
  beforeEach(async () => {
    organizationId = await world.organization({ [bob]: 'member', [carol]: 'member' });
    teamId = await world.team({ [bob]: 'member', [carol]: 'member' }, { as: alice, organizationId });
  });

  const messages = async (): Promise<Message[]> =>
    (await store.query({ collection: 'notices' })).map(({ data }) => JSON.parse(String(data['body'])) as Message);
  const inOrganization = (email: string) => ({ params: { organizationId, email } });
  const inTeam = (email: string) => ({ params: { teamId, email } });
  const ofOrganization = () =>
    world.server.expect<OrganizationEvent[]>(200, 'listOrganizationEvents', { params: { organizationId } });

  const alone: {
    readonly by: string;
    readonly removes: () => Promise<unknown>;
    readonly told: readonly (readonly [action: string, actor: string, why: string | undefined])[];
  }[] = [
    {
      by: 'an admin of the team, with a reason',
      removes: () =>
        world.server.expect(204, 'removeTeamMember', { ...inTeam(bob), query: { why: ' on another project ' } }),
      told: [['team-member-removed', alice, 'on another project']],
    },
    {
      by: 'an admin of the team, without one',
      removes: () => world.server.expect(204, 'removeTeamMember', inTeam(bob)),
      told: [['team-member-removed', alice, undefined]],
    },
    {
      by: 'an admin of the organization, from its teams too, with a reason',
      removes: () =>
        world.server.expect(204, 'removeOrganizationMember', {
          ...inOrganization(bob),
          query: { force: 'true', why: 'left the company' },
        }),
      told: [
        ['member-removed', alice, 'left the company'],
        ['team-member-removed', alice, 'They are being removed from the organization.'],
      ],
    },
    {
      by: 'an admin of the organization, from its teams too, without one',
      removes: () =>
        world.server.expect(204, 'removeOrganizationMember', { ...inOrganization(bob), query: { force: 'true' } }),
      told: [
        ['member-removed', alice, undefined],
        ['team-member-removed', alice, 'They are being removed from the organization.'],
      ],
    },
    {
      by: 'nobody but themselves, from its teams too',
      removes: () =>
        world.server.expect(204, 'removeOrganizationMember', {
          as: bob,
          ...inOrganization(bob),
          query: { force: 'true' },
        }),
      told: [
        ['member-removed', bob, undefined],
        ['team-member-removed', bob, 'They are leaving the organization.'],
      ],
    },
  ];
  for (const { by, removes, told } of alone) {
    it(`by ${by}, is told of by an event and to the webhook`, async () => {
      await removes();
      const events = (await ofOrganization()).slice(0, told.length);
      expect(events.map(({ action, actor, email, why }) => [action, actor, email, why])).to.deep.equal(
        told.map(([action, actor, why]) => [action, actor, bob, why]),
      );
      const heard = await messages();
      for (const { id, action, actor, why } of events) {
        const message = heard.find(({ data }) => data.id === id);
        expect([message?.type, message?.data.actor, message?.data.email, message?.data.why]).to.deep.equal([
          action.replace('-', '.'),
          actor,
          bob,
          why,
        ]);
      }
    });
  }

  it('is told why by nothing that a later organization of the team reads', async () => {
    const { server } = world;
    const why = 'a secret of this organization';
    const query = { force: 'true', why };
    await server.expect(204, 'removeOrganizationMember', { ...inOrganization(bob), query });
    await server.expect(204, 'removeOrganizationMember', { as: carol, ...inOrganization(carol), query });
    await server.expect(201, 'addOrganizationMember', { params: { organizationId }, body: { email: dave } });
    await server.expect(201, 'addTeamMember', { params: { teamId }, body: { email: dave, role: 'admin' } });
    await server.expect(200, 'proposeTransfer', { params: { teamId }, body: { organizationId: null } });
    const later = await server.expect<Organization>(201, 'createOrganization', { as: dave, body: { name: 'Later' } });
    const moved = { organizationId: later.id, force: true };
    await server.expect(200, 'migrateTeam', { as: dave, params: { teamId }, body: moved });
    for (const [operation, params] of [
      ['listTeamEvents', { teamId }],
      ['listOrganizationEvents', { organizationId: later.id }],
    ] as const) {
      expect(JSON.stringify(await server.expect(200, operation, { as: dave, params }))).not.to.contain(why);
    }
    expect(JSON.stringify(await ofOrganization())).to.contain(why);
  });

  const outsideWhy = "They are not members of the team's new organization.";
  const addedWhy = 'They were no members of the team before its migration.';
  const goneWhy = 'They had left the organization that the team came back into.';

  it('by a migration, by its undo, or by a restore, is told of by an event and to the webhook', async () => {
    const { server, team } = world;
    const moving = await team({ [outsider]: 'member' }, { as: alice });
    const asked = { params: { teamId: moving } };
    await server.expect(200, 'migrateTeam', { ...asked, body: { organizationId, force: true } });
    await server.expect(201, 'addTeamMember', { ...asked, body: { email: carol } });
    await server.expect(200, 'undoMigration', { params: { teamId: moving, migrationId: 'latest' } });
    await server.expect(200, 'deleteTeam', { params: { teamId } });
    await server.expect(204, 'removeOrganizationMember', inOrganization(carol));
    await server.expect(200, 'restoreTeam', { params: { teamId } });

    const removing = (await ofOrganization()).filter(({ why }) => why !== undefined);
    expect(removing.map(({ action, why }) => [action, why])).to.deep.equal([
      ['team-restored', goneWhy],
      ['team-migration-undone', addedWhy],
      ['team-migrated', outsideWhy],
    ]);
    const heard = (await messages()).filter(
      ({ data }) => data.removed !== undefined && data.organizationId === organizationId,
    );
    const said = heard.map(({ type, data }) => [type, data.actor, data.removed, data.why]);
    expect(said).to.have.deep.members([
      ['team.restored', alice, [carol], goneWhy],
      ['team.migration-undone', alice, [carol], addedWhy],
      ['team.migrated', alice, [outsider], outsideWhy],
    ]);
  });

  for (const [what, why] of [
    ['blank', '  '],
    ['longer than 300 characters', 'x'.repeat(301)],
    ['a line that ends another', 'a\nb'],
  ] as const) {
    it(`is not told why by what is ${what}`, async () => {
      for (const refused of [
        () => world.server.ask('removeTeamMember', { ...inTeam(bob), query: { why } }),
        () => world.server.ask('removeOrganizationMember', { ...inOrganization(bob), query: { why } }),
      ]) {
        const { status, body } = await refused();
        expect(status).to.equal(400);
        expect((body as { errors: { path: string }[] }).errors.map(({ path }) => path)).to.deep.equal(['query.why']);
      }
    });
  }
});
