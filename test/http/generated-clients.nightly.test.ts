/**
 * What the world makes of the documents as the services serve them: clients by two generators, one of TypeScript, which is
 * compiled strictly, and one of Python. Each has its packages in a folder of its own beneath tools/clients/.
 */
import { join } from 'node:path';
import { expect } from 'chai';
import { createMemoryStore } from '../../local/functions/memory-store.js';
import { organizationRoutes } from '../../shared/organization/routes.js';
import {
  createOrganizationsServer,
  type OrganizationsServer,
  operator,
} from '../organizations/organizations-server.js';
import { type BootstrapsServer, createBootstrapsServer, makeRequest } from './bootstraps-server.js';
import { type ClientFolder, clientFolder } from './client-folder.js';
import { createIssuer, type Issuer } from './issuer.js';

const alice = 'alice@example.com';

describe('generated clients', () => {
  let issuer: Issuer;
  let bootstraps: BootstrapsServer;
  let organizations: OrganizationsServer;
  before(async () => {
    issuer = await createIssuer();
    bootstraps = await createBootstrapsServer(issuer);
    await bootstraps.json(201, 'POST', '/bootstraps', { body: makeRequest('the first') });
    await bootstraps.settle();
  });
  after(() => {
    bootstraps?.close();
    issuer?.close();
  });
  beforeEach(async () => {
    const env = {
      PLINTH_ORGANIZATION_CREATORS: 'example.com',
      PLINTH_MIGRATION_CONSENT: 'off',
      PLINTH_WEBHOOK_URL: 'http://127.0.0.1:9/hook',
    };
    organizations = await createOrganizationsServer(issuer, { store: createMemoryStore(), env });
  });
  afterEach(() => organizations?.close());

  const tokenOf = (email: string): Promise<string> => issuer.token(email, { claims: { hd: 'example.com' } });
  const tokensOf = async (...names: string[]): Promise<Record<string, string>> =>
    Object.fromEntries(
      await Promise.all(
        names.map(async (name) => [`TOKEN_${name.toUpperCase()}`, await tokenOf(`${name}@example.com`)] as const),
      ),
    );

  async function takeDocuments(client: ClientFolder): Promise<void> {
    for (const [api, { origin }] of Object.entries({ organizations, bootstraps })) {
      const reply = await fetch(`${origin}/openapi.json`);
      client.write(`${api}.json`, await reply.text());
    }
  }

  const environment = async (): Promise<Record<string, string>> => ({
    ORGANIZATIONS_URL: organizations.origin,
    BOOTSTRAPS_URL: bootstraps.origin,
    TOKEN: await tokenOf(alice),
    TOKEN_ALICE: await tokenOf(alice),
    TOKEN_OPERATOR: await tokenOf(operator),
    ...(await tokensOf('dave', 'frank', 'grace')),
  });

  const seen = {
    unknown: 'not-found',
    outsiders: ['zoe@example.org', 'member'],
    teams: ['first', 'second', 'third'],
    organizations: ['by a client: admin'],
    bootstrap: { datacenters: ['the first dc1'], state: 'succeeded', config: 'datacenter: dc1' },
  };

  describe('of @hey-api/openapi-ts', () => {
    let client: ClientFolder;
    before(async () => {
      client = clientFolder('hey-api');
      await client.npmCi();
    });
    after(() => client?.remove());

    let isBuilt = false;
    async function used(script: string): Promise<unknown> {
      if (!isBuilt) {
        await takeDocuments(client);
        for (const each of ['generate', 'build']) await client.run('npm', ['run', '-s', each]);
        isBuilt = true;
      }
      return JSON.parse(await client.run('npm', ['run', '-s', script], await environment()));
    }

    it('compile strictly and do what they say, and follow events', async () => {
      const bootstrap = { ...seen.bootstrap, last: 'end: ended' };
      expect(await used('start')).to.deep.equal({ ...seen, bootstrap });
    });

    it('call every operation of the organization API, and understand each answer', async () => {
      const { called, ...told } = (await used('every-operation')) as {
        readonly called: readonly string[];
      };
      const all = Object.values(organizationRoutes).map(({ method, path }) => `${method} ${path}`);
      expect(called).to.have.members(all);
      expect(told).to.deep.equal({
        removed: ['zoe@example.org'],
        teams: ['second'],
        returns: ['zoe@example.org'],
        restored: ['zoe@example.org'],
        why: ['zoe@example.org: no more needed', 'dave@example.com: no more needed'],
        members: {
          team: [alice, 'carol@example.com'],
          organization: [alice, 'carol@example.com', 'frank@example.com'],
        },
        left: ['renamed', 'second'],
      });
    });
  });

  describe('of openapi-python-client', () => {
    let client: ClientFolder;
    const python = (args: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<string> =>
      client.run('python3', args, { PYTHONPATH: join(client.path, 'packages'), ...more });
    before(async () => {
      client = clientFolder('openapi-python-client');
      const how = ['--quiet', '--disable-pip-version-check', '--only-binary', ':all:', '--require-hashes', '--no-deps'];
      await python(['-m', 'pip', 'install', ...how, '--target', 'packages', '--requirement', 'requirements.txt']);
    });
    after(() => client?.remove());

    /** It narrows no number to one of its values, and takes one name of a schema for another. */
    const leftOut = /(?:Problem|\/BeginReply|\/Bootstrap)$/;

    it('leave out no more than the generator cannot read, and do what they say', async () => {
      await takeDocuments(client);
      for (const api of ['organizations', 'bootstraps']) {
        const how = ['--meta', 'none', '--config', 'config.yaml', '--output-path', `generated/${api}`];
        const said = await python(['-m', 'openapi_python_client', 'generate', '--path', `${api}.json`, ...how]);
        const removed = said.split('\n').filter((line) => line.startsWith('/components/schemas/'));
        expect(removed.filter((schema) => !leftOut.test(schema))).to.deep.equal([]);
        expect(said).not.to.match(/ERROR|Endpoint will not be generated|Unable to parse this part/);
      }
      await python(['-m', 'compileall', '-q', 'generated']);
      expect(JSON.parse(await python(['program.py'], await environment()))).to.deep.equal(seen);
    });
  });
});
