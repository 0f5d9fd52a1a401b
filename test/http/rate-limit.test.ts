/** How often a caller may make and send things, over HTTP and over all instances. */
import { expect } from 'chai';
import { createMemoryStore } from '../../local/functions/memory-store.js';
import { collections } from '../../shared/names.js';
import type { Organization } from '../../shared/organization/organization.js';
import type { ProblemBody } from '../../shared/problems.js';
import {
  type Asked,
  createOrganizationsServer,
  type OrganizationsServer,
  operator,
} from '../organizations/organizations-server.js';
import { type BootstrapsServer, createBootstrapsServer, makeRequest } from './bootstraps-server.js';
import { createIssuer, type Issuer } from './issuer.js';

const [alice, bob] = ['alice@example.com', 'bob@example.com'] as const;
const PLINTH_CHANGES_PER_MINUTE = '3';

describe('a limit of changes a minute', () => {
  let issuer: Issuer;
  before(async () => {
    issuer = await createIssuer();
  });
  after(() => issuer.close());

  describe('of organizations', () => {
    const memory = createMemoryStore();
    const servers: OrganizationsServer[] = [];
    /** Instances of one deployment. The clock of the last is a minute ahead. */
    before(async () => {
      for (const clockSeconds of [0, 0, 61]) {
        const env = { PLINTH_ORGANIZATION_CREATORS: 'example.com', PLINTH_CHANGES_PER_MINUTE };
        servers.push(await createOrganizationsServer(issuer, { store: memory, env, clockSeconds }));
      }
    });
    after(() => {
      for (const server of servers) server.close();
    });
    let callers = 0;
    let as: string;
    beforeEach(() => {
      callers += 1;
      as = `caller-${callers}@example.com`;
    });
    const make = (at = 0, asked: Asked = {}) =>
      (servers[at] as OrganizationsServer).ask('createOrganization', { as, body: { name: 'Acme' }, ...asked });
    const statuses = async (...asked: readonly Promise<{ status: number }>[]) =>
      (await Promise.all(asked)).map(({ status }) => status);

    it('refuses the next one, and says what the limit is and when it ends', async () => {
      for (let i = 0; i < 3; i++) expect((await make()).status).to.equal(201);
      const refused = await make();
      expect(refused.status).to.equal(429);
      expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 60);
      const problem = refused.body as ProblemBody;
      expect(problem).to.include({ code: 'too-many', limit: 'changesPerMinute', value: 3 });
      expect(problem.detail).to.match(/\b3 changes a minute\b/);
      expect(problem.advice).to.match(/again in \d+ seconds?/);
    });

    it('is one over all instances, and over all that makes or invites', async () => {
      const { id: organizationId } = (await make()).body as Organization;
      const [, other] = servers as [OrganizationsServer, OrganizationsServer];
      const params = { organizationId };
      const invited = await other.ask('addOrganizationMember', { as, params, body: { email: bob } });
      expect(invited.status).to.equal(201);
      expect((await other.ask('createTeam', { as, body: { name: 'team', organizationId } })).status).to.equal(201);
      expect(await statuses(make(0), make(1))).to.deep.equal([429, 429]);
      // What neither makes nor sends goes on.
      expect((await other.ask('getOrganization', { as, params })).status).to.equal(200);
      const body = { role: 'admin' };
      const role = await other.ask('setOrganizationMemberRole', { as, params: { organizationId, email: bob }, body });
      expect(role.status).to.equal(200);
    });

    for (const operation of ['previewMigration', 'migrateTeam', 'previewUndo'] as const) {
      it(`counts who tries out the numbers of teams by ${operation}`, async () => {
        const { id: organizationId } = (await make()).body as Organization;
        const tried = (teamId: number) =>
          (servers[0] as OrganizationsServer).ask(operation, {
            as,
            params: { teamId, ...(operation === 'previewUndo' && { migrationId: 'latest' }) },
            ...(operation === 'previewMigration' && { query: { organizationId } }),
            ...(operation === 'migrateTeam' && { body: { organizationId } }),
          });
        expect(await statuses(tried(1), tried(2))).to.deep.equal([404, 404]);
        expect(await statuses(tried(3), tried(4))).to.deep.equal([429, 429]);
      });
    }

    it('is each caller’s own, and not for operators', async () => {
      for (let i = 0; i < 4; i++) await make();
      expect((await make(0, { as: bob })).status).to.equal(201);
      for (let i = 0; i < 5; i++) expect((await make(0, { as: operator })).status).to.equal(201);
    });

    it('ends with its minute', async () => {
      for (let i = 0; i < 4; i++) await make();
      expect((await make(0)).status).to.equal(429);
      expect((await make(2)).status).to.equal(201);
    });

    it('holds for many at once', async () => {
      const found = await statuses(...Array.from({ length: 12 }, (_, i) => make(i % 2)));
      expect(found.filter((status) => status === 201)).to.have.length(3);
      expect(found.filter((status) => status === 429)).to.have.length(9);
    });

    it('counts neither what is malformed nor what is answered from before, and keeps no refusal for a key', async () => {
      for (let i = 0; i < 5; i++) expect((await make(0, { body: { title: 'Acme' } })).status).to.equal(400);
      const headers = { 'idempotency-key': `key-${as}` };
      for (let i = 0; i < 5; i++) expect((await make(0, { headers })).status).to.equal(201);
      expect(await statuses(make(), make())).to.deep.equal([201, 201]);
      const late = { 'idempotency-key': `late-${as}` };
      expect((await make(0, { headers: late })).status).to.equal(429);
      expect((await make(2, { headers: late })).status).to.equal(201);
    });

    it('keeps one document a caller, without a name, that Firestore removes', () => {
      const rates = memory.dump()[collections.rates] ?? {};
      expect(Object.keys(rates).length).to.be.within(callers - 1, callers + 1);
      expect(JSON.stringify(rates)).not.to.include('@');
      for (const data of Object.values(rates)) expect(data).to.have.property('expireAt');
    });
  });

  describe('of bootstraps', () => {
    let server: BootstrapsServer;
    beforeEach(async () => {
      server = await createBootstrapsServer(issuer, { env: { PLINTH_CHANGES_PER_MINUTE } });
    });
    afterEach(async () => {
      await server.settle();
      server.close();
    });
    const begin = (name: string, query = '') =>
      server.fetch('POST', `/bootstraps${query}`, { as: alice, body: makeRequest(name) });

    it('counts dry runs, which cost as many calls as a beginning', async () => {
      for (let i = 0; i < 3; i++) expect((await begin('dry run', '?dryRun=true')).status).to.equal(200);
      expect((await begin('dry run', '?dryRun=true')).status).to.equal(429);
    });

    it('refuses what begins one too many, before anything is made', async () => {
      for (const name of ['first', 'second', 'third']) expect((await begin(name)).status).to.equal(201);
      const { detail, advice } = await server.problem(429, 'POST', '/bootstraps', {
        as: alice,
        body: makeRequest('fourth'),
      });
      expect(detail).to.include('3 changes a minute');
      expect(advice).to.include('again in');
      const listed = await server.json<unknown[]>(200, 'GET', '/bootstraps', { as: alice });
      expect(listed).to.have.length(3);
    });

    it('counts who looks for a lost project, because each look searches through all projects', async () => {
      let searches = 0;
      const search = async () => {
        searches += 1;
        return [];
      };
      Object.assign(server.context.cloud.projects, { search });
      const path = '/lost-projects/any/jumpbox?zone=europe-west4-a';
      for (let i = 0; i < 3; i++) await server.problem(404, 'GET', path, { as: alice });
      await server.problem(429, 'GET', path, { as: alice });
      expect(searches).to.equal(3);
    });

    it('counts what invites and hands on, and never holds up a removal', async () => {
      expect((await begin('first')).status).to.equal(201);
      await server.settle();
      const [{ id = '' } = {}] = await server.json<{ id: string }[]>(200, 'GET', '/bootstraps', { as: alice });
      const share = { as: alice, body: { with: bob } };
      for (let i = 0; i < 2; i++) await server.json(200, 'POST', `/bootstraps/${id}/share`, share);
      await server.problem(429, 'POST', `/bootstraps/${id}/share`, share);
      await server.problem(429, 'POST', `/bootstraps/${id}/transfer`, share);
      await server.json(200, 'POST', `/bootstraps/${id}/unshare`, share);
      await server.json(200, 'POST', `/bootstraps/${id}/remove`, { as: alice });
    });
  });
});
