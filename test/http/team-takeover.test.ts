/** What a colleague can take of a team that is none of theirs, with its projects: by each setting of creators and consent. */
import { expect } from 'chai';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import type { BeginReply } from '../../shared/bootstrap/routes.js';
import type { Organization } from '../../shared/organization/organization.js';
import type { Team } from '../../shared/organization/team.js';
import type { ProblemBody } from '../../shared/problems.js';
import { createOrganizationsServer, type OrganizationsServer } from '../organizations/organizations-server.js';
import { type BootstrapsServer, createBootstrapsServer, makeRequest } from './bootstraps-server.js';
import { createIssuer, type Issuer } from './issuer.js';

const [bob, carol, mallory] = ['bob@example.com', 'carol@example.com', 'mallory@example.com'] as const;

type Env = Readonly<Record<string, string>>;
const off = { PLINTH_MIGRATION_CONSENT: 'off' };

describe('a colleague who makes an organization', () => {
  let issuer: Issuer;
  let bootstraps: BootstrapsServer;
  let organizations: OrganizationsServer | undefined;
  before(async () => {
    issuer = await createIssuer();
  });
  after(() => issuer.close());
  beforeEach(async () => {
    bootstraps = await createBootstrapsServer(issuer);
  });
  afterEach(() => {
    organizations?.close();
    bootstraps.close();
  });

  async function api(env: Env): Promise<OrganizationsServer> {
    organizations = await createOrganizationsServer(issuer, { store: bootstraps.context.store, env });
    return organizations;
  }
  /** Mallory's organization, with Carol as a member, and Bob's team, with Carol as a member. */
  async function world(env: Env) {
    const server = await api(env);
    const made = await server.expect<Organization>(201, 'createOrganization', {
      as: mallory,
      body: { name: 'mine' },
    });
    const into = { organizationId: made.id };
    await server.expect(201, 'addOrganizationMember', { as: mallory, params: into, body: { email: carol } });
    const { teamId } = await server.expect<Team>(201, 'createTeam', { as: bob, body: { name: 'platform' } });
    await server.expect(201, 'addTeamMember', { as: bob, params: { teamId }, body: { email: carol } });
    const ask = async (operation: 'migrateTeam' | 'previewMigration', as: string, force = true) => {
      const asked = operation === 'migrateTeam' ? { body: { ...into, force } } : { query: into };
      return server.ask(operation, { as, params: { teamId }, ...asked });
    };
    return { server, teamId, into, ask };
  }
  const begin = async (name: string, team: number, as: string = bob): Promise<BootstrapView> => {
    const body = makeRequest(name, {}, { team });
    return (await bootstraps.json<BeginReply>(201, 'POST', '/bootstraps', { as, body })).bootstrap;
  };
  const seenBy = async (as: string, { id }: BootstrapView) =>
    (await bootstraps.fetch('GET', `/bootstraps/${id}`, { as })).status;

  for (const creators of ['example.com', 'anyone']) {
    it(`takes no team where nothing is said of consent and organizations are made by ${creators}`, async () => {
      const { ask } = await world({ PLINTH_ORGANIZATION_CREATORS: creators });
      expect((await ask('previewMigration', mallory)).status).to.equal(404);
      expect((await ask('migrateTeam', mallory)).status).to.equal(404);
    });

    it(`takes a team without projects where ${creators} makes organizations and consent is off`, async () => {
      const { ask } = await world({ PLINTH_ORGANIZATION_CREATORS: creators, ...off });
      expect((await ask('migrateTeam', mallory)).status).to.equal(200);
    });
  }

  it('takes no team that has a living project, even where consent is off; its admin gives it by a transfer', async () => {
    const { server, teamId, into, ask } = await world({ PLINTH_ORGANIZATION_CREATORS: 'example.com', ...off });
    const project = await begin('theirs', teamId);
    for (const operation of ['previewMigration', 'migrateTeam'] as const) {
      const { status, body } = await ask(operation, mallory);
      expect(status, operation).to.equal(403);
      const { detail, advice } = body as ProblemBody;
      expect(detail).to.match(/^Team \d+ has living projects, so only an admin of the team may move it/);
      expect(advice).to.contain('transfer');
      expect(JSON.stringify(body), 'whose it is, and what').not.to.match(/@example|theirs/);
    }
    expect(await seenBy(mallory, project)).to.equal(404);
    const proposal = { as: mallory, params: { teamId }, body: { ...into, force: true } };
    await server.expect(201, 'proposeTransfer', proposal);
    expect((await ask('migrateTeam', mallory)).status, 'a proposal is no consent').to.equal(403);
    const accept = { params: { teamId, transferId: into.organizationId } };
    await server.expect(403, 'acceptTransfer', { as: mallory, ...accept });
    await server.expect(200, 'acceptTransfer', { as: bob, ...accept });
    expect(await seenBy(mallory, project)).to.equal(200);
  });

  it('takes no team that a living project is shared with, which its admins may remove', async () => {
    const { server, teamId, into, ask } = await world({ PLINTH_ORGANIZATION_CREATORS: 'example.com', ...off });
    const { teamId: other } = await server.expect<Team>(201, 'createTeam', { as: bob, body: { name: 'other' } });
    const project = await begin('lent', other);
    await bootstraps.json(200, 'POST', `/bootstraps/${project.id}/share-with-team`, {
      as: bob,
      body: { team: teamId },
    });
    expect((await ask('migrateTeam', mallory)).status).to.equal(403);
    await bootstraps.json(200, 'POST', `/bootstraps/${project.id}/remove`, { as: bob });
    await bootstraps.settle();
    expect((await ask('migrateTeam', mallory)).status, 'a removed project holds nothing').to.equal(200);
    expect(into.organizationId).to.be.a('string');
  });

  it('is an admin of both sides, or an operator, to move a team that has a living project at once', async () => {
    const { server, teamId, into, ask } = await world({ PLINTH_ORGANIZATION_CREATORS: 'example.com', ...off });
    await begin('given', teamId);
    const admin = { email: bob, role: 'admin' };
    await server.expect(201, 'addOrganizationMember', { as: mallory, params: into, body: admin });
    expect((await ask('migrateTeam', mallory)).status).to.equal(403);
    expect((await ask('migrateTeam', bob)).status).to.equal(200);
  });

  it('gets nothing by the undo of a migration that has removed them, once others have projects in the team', async () => {
    const server = await api({ PLINTH_ORGANIZATION_CREATORS: 'example.com', ...off });
    const { id } = await server.expect<Organization>(201, 'createOrganization', { as: bob, body: { name: 'acme' } });
    const { teamId } = await server.expect<Team>(201, 'createTeam', { as: bob, body: { name: 'platform' } });
    const member = { email: mallory, role: 'admin' };
    await server.expect(201, 'addTeamMember', { as: bob, params: { teamId }, body: member });
    const body = { organizationId: id, force: true };
    await server.expect(200, 'migrateTeam', { as: bob, params: { teamId }, body });
    const project = await begin('since', teamId);
    const latest = { params: { teamId, migrationId: 'latest' } };
    for (const operation of ['previewUndo', 'undoMigration'] as const) {
      await server.expect(403, operation, { as: mallory, ...latest });
    }
    expect(await seenBy(mallory, project)).to.equal(404);
    await bootstraps.json(200, 'POST', `/bootstraps/${project.id}/remove`, { as: bob });
    await bootstraps.settle();
    await server.expect(200, 'undoMigration', { as: mallory, ...latest });
  });
});
