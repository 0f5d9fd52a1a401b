/** What teams have to do with bootstraps, over HTTP: who gains and loses by the undo of a migration, and whose costs they show. */
import { expect } from 'chai';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import type { CostsView } from '../../shared/bootstrap/costs.js';
import type { BeginReply } from '../../shared/bootstrap/routes.js';
import { collections } from '../../shared/names.js';
import type { Organization } from '../../shared/organization/organization.js';
import type { Team, UndoPreview } from '../../shared/organization/team.js';
import { createOrganizationsServer, type OrganizationsServer } from '../organizations/organizations-server.js';
import { type BootstrapsServer, createBootstrapsServer, makeRequest } from './bootstraps-server.js';
import { createIssuer, type Issuer } from './issuer.js';

const [alice, bob, carol, erin] = ['alice', 'bob', 'carol', 'erin'].map((name) => `${name}@example.com`) as [
  string,
  string,
  string,
  string,
];

describe('bootstraps of teams, over HTTP', () => {
  let issuer: Issuer;
  let bootstraps: BootstrapsServer;
  let organizations: OrganizationsServer;
  before(async () => {
    issuer = await createIssuer();
  });
  after(() => issuer.close());
  beforeEach(async () => {
    bootstraps = await createBootstrapsServer(issuer);
    const env = { PLINTH_ORGANIZATION_CREATORS: 'example.com' };
    organizations = await createOrganizationsServer(issuer, { store: bootstraps.context.store, env });
  });
  afterEach(() => {
    organizations.close();
    bootstraps.close();
  });

  type Role = 'admin' | 'member';
  async function teamOf(members: Readonly<Record<string, Role>>): Promise<number> {
    const { teamId } = await organizations.expect<Team>(201, 'createTeam', { as: alice, body: { name: 'platform' } });
    for (const [email, role] of Object.entries(members)) {
      await organizations.expect(201, 'addTeamMember', { as: alice, params: { teamId }, body: { email, role } });
    }
    return teamId;
  }
  async function organizationOf(members: Readonly<Record<string, Role>>): Promise<string> {
    const { id } = await organizations.expect<Organization>(201, 'createOrganization', {
      as: alice,
      body: { name: 'goal' },
    });
    for (const [email, role] of Object.entries(members)) {
      const body = { email, role };
      await organizations.expect(201, 'addOrganizationMember', { as: alice, params: { organizationId: id }, body });
    }
    return id;
  }
  const migrate = (teamId: number, organizationId: string) =>
    organizations.expect(200, 'migrateTeam', { as: alice, params: { teamId }, body: { organizationId, force: true } });
  async function begin(name: string, team: number): Promise<BootstrapView> {
    const body = makeRequest(name, {}, { team });
    const { bootstrap } = await bootstraps.json<BeginReply>(201, 'POST', '/bootstraps', { as: alice, body });
    await bootstraps.settle();
    return bootstrap;
  }
  const statusOf = async (as: string, { id }: BootstrapView) =>
    (await bootstraps.fetch('GET', `/bootstraps/${id}`, { as })).status;
  const latest = (teamId: number) => ({ params: { teamId, migrationId: 'latest' } });
  const differences = ({ bootstraps: moved = [] }: UndoPreview) => moved.map(({ gains, loses }) => [gains, loses]);
  const teamsIn = async (as: string) =>
    (await bootstraps.json<CostsView>(200, 'GET', '/costs?by=team', { as })).rows.map(({ key }) => key);

  it('are shown by an undo to no former admin outside of the organization', async () => {
    const teamId = await teamOf({ [bob]: 'admin' });
    await begin('governed', teamId);
    await migrate(teamId, await organizationOf({ [erin]: 'admin' }));
    const preview = await organizations.expect<UndoPreview>(200, 'previewUndo', { as: alice, ...latest(teamId) });
    expect(differences(preview)).to.deep.equal([[[bob], [erin]]]);
    for (const operation of ['previewUndo', 'undoMigration'] as const) {
      await organizations.expect(403, operation, { as: bob, ...latest(teamId) });
    }
  });

  it('are gained by an undo by nobody who sees them already, as an admin of the organization', async () => {
    const teamId = await teamOf({ [bob]: 'member', [carol]: 'member' });
    const view = await begin('coming-back', teamId);
    await migrate(teamId, await organizationOf({ [bob]: 'admin', [carol]: 'member' }));
    for (const email of [bob, carol]) {
      await organizations.expect(204, 'removeTeamMember', { as: alice, params: { teamId, email } });
    }
    const seen = () => Promise.all([bob, carol].map((email) => statusOf(email, view)));
    expect(await seen()).to.deep.equal([200, 404]);
    const preview = await organizations.expect<UndoPreview>(200, 'previewUndo', { as: alice, ...latest(teamId) });
    expect(differences(preview)).to.deep.equal([[[carol], []]]);
    await organizations.expect(200, 'undoMigration', { as: alice, ...latest(teamId) });
    expect(await seen()).to.deep.equal([200, 200]);
  });

  it('keep a migration from being undone where one has come since the preview', async () => {
    const teamId = await teamOf({ [bob]: 'member' });
    await migrate(teamId, await organizationOf({ [bob]: 'member' }));
    const tag = async () => {
      const { headers } = await organizations.ask('previewUndo', { as: alice, ...latest(teamId) });
      return { headers: { 'if-match': headers.get('etag') ?? '' } };
    };
    const early = await tag();
    await begin('came-between', teamId);
    await organizations.expect(412, 'undoMigration', { as: alice, ...latest(teamId), ...early });
    await organizations.expect(200, 'undoMigration', { as: alice, ...latest(teamId), ...(await tag()) });
  });

  it('are summed up for whoever is in the team, also once removed, and for nobody whom one is only shared with', async () => {
    const teamId = await teamOf({ [bob]: 'member' });
    const { id } = await begin('of-a-team', teamId);
    const sharing = { as: alice, body: { with: carol } };
    expect((await bootstraps.fetch('POST', `/bootstraps/${id}/share`, sharing)).status).to.equal(200);
    const { store } = bootstraps.context;
    const change = (data: Readonly<Record<string, unknown>>) =>
      store.commit([{ kind: 'update', collection: collections.bootstraps, id, data }]);
    const createdAt = new Date(Date.now() - 3_600_000).toISOString();
    // As the steps would have written it.
    const output = {
      ...{ name: 'jumpbox', zone: 'europe-west4-b', machineType: 'e2-medium' },
      ...{ internalIp: '10.10.0.2', provisioning: 'standard', createdAt },
    };
    await change({ instances: { 'vm:jumpbox': { state: 'done', attempt: 0, output } } });
    expect([await teamsIn(bob), await teamsIn(carol)].map((keys) => keys.includes(String(teamId)))).to.deep.equal([
      true,
      false,
    ]);
    await change({
      instances: { 'vm:jumpbox': { state: 'gone', attempt: 0, output } },
      ...{ state: 'removed', endedAt: new Date().toISOString() },
    });
    const body = { email: erin, role: 'member' };
    await organizations.expect(201, 'addTeamMember', { as: alice, params: { teamId }, body });
    for (const email of [bob, erin]) expect(await teamsIn(email), email).to.include(String(teamId));
  });

  it('and all others are listed in pages, each once', async () => {
    const teamId = await teamOf({});
    for (const name of ['one', 'two', 'three', 'four', 'five']) await begin(`listed-${name}`, teamId);
    const as = 'ops@example.com';
    const all = await bootstraps.json<BootstrapView[]>(200, 'GET', '/bootstraps?all=true', { as });
    const seen: string[] = [];
    for (let path: string | undefined = '/bootstraps?all=true&limit=2'; path !== undefined; ) {
      const reply: Response = await bootstraps.fetch('GET', path, { as });
      const page = (await reply.json()) as BootstrapView[];
      expect(page.length).to.be.within(1, 2);
      seen.push(...page.map(({ id }) => id));
      path = /<([^>]+)>; rel="next"/.exec(reply.headers.get('link') ?? '')?.[1];
    }
    expect(seen)
      .to.have.length(5)
      .and.to.deep.equal(all.map(({ id }) => id));
  });
});
