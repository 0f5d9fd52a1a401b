/**
 * What the world makes of the documents as the services serve them: clients by two generators, which are compiled strictly and
 * used, and the opinion of two linters. Each has its packages, TypeScript among them, in a folder of its own beneath tools/clients/.
 */
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { createMemoryStore } from '../../local/functions/memory-store.js';
import { organizationRoutes } from '../../shared/organization/routes.js';
import {
  createOrganizationsServer,
  type OrganizationsServer,
  operator,
} from '../organizations/organizations-server.js';
import { projectFolder } from '../support/recording-store.js';
import { type BootstrapsServer, createBootstrapsServer, makeRequest } from './bootstraps-server.js';
import { createIssuer, type Issuer } from './issuer.js';

const alice = 'alice@example.com';

describe('generated clients', () => {
  let issuer: Issuer;
  let bootstraps: BootstrapsServer;
  let organizations: OrganizationsServer;
  let folder: string;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'plinth-clients-'));
    issuer = await createIssuer();
    bootstraps = await createBootstrapsServer(issuer);
    await bootstraps.json(201, 'POST', '/bootstraps', { body: makeRequest('the first') });
    await bootstraps.settle();
    // They wait for the registry.
    await Promise.all(['openapi-typescript', 'hey-api', 'linters'].map(install));
  });
  after(() => {
    bootstraps?.close();
    issuer?.close();
    rmSync(folder, { recursive: true, force: true });
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

  async function npm(name: string, args: readonly string[], more: Readonly<Record<string, string>> = {}) {
    const cwd = join(folder, name);
    const own = Object.entries(process.env).filter(([variable]) => !/^npm_/i.test(variable));
    const env = { ...Object.fromEntries(own), NO_COLOR: '1', ...more };
    const child = spawn('npm', args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const [stdout, stderr, code] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve)),
    ]);
    expect(code, `npm ${args.join(' ')} in tools/clients/${name}:\n${stdout}${stderr}`).to.equal(0);
    return stdout;
  }

  /** One of tools/clients/, elsewhere. */
  async function install(name: string): Promise<void> {
    cpSync(join(projectFolder, 'tools/clients', name), join(folder, name), { recursive: true });
    await npm(name, ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']);
  }

  const tokenOf = (email: string): Promise<string> => issuer.token(email, { claims: { hd: 'example.com' } });
  const tokensOf = async (...names: string[]): Promise<Record<string, string>> =>
    Object.fromEntries(
      await Promise.all(
        names.map(async (name) => [`TOKEN_${name.toUpperCase()}`, await tokenOf(`${name}@example.com`)] as const),
      ),
    );

  /** Runs its scripts with both documents as they are served; gives what the last one printed. */
  async function run(name: string, ...scripts: string[]): Promise<string> {
    for (const [api, { origin }] of Object.entries({ organizations, bootstraps })) {
      const reply = await fetch(`${origin}/openapi.json`);
      writeFileSync(join(folder, name, `${api}.json`), await reply.text());
    }
    const env = {
      ORGANIZATIONS_URL: organizations.origin,
      BOOTSTRAPS_URL: bootstraps.origin,
      TOKEN: await tokenOf(alice),
      TOKEN_ALICE: await tokenOf(alice),
      TOKEN_OPERATOR: await tokenOf(operator),
      ...(await tokensOf('dave', 'frank', 'grace')),
    };
    let printed = '';
    for (const script of scripts) printed = await npm(name, ['run', '-s', script], env);
    return printed;
  }

  const seen = {
    unknown: 'not-found',
    outsiders: ['zoe@example.org', 'member'],
    teams: ['first', 'second', 'third'],
    organizations: ['by a client: admin'],
    bootstrap: { datacenters: ['the first dc1'], state: 'succeeded', config: 'datacenter: dc1' },
  };

  /** By name: the documents are the same each time. */
  const built = new Map<string, Promise<string>>();
  async function used(name: string, script = 'start'): Promise<unknown> {
    const made = built.get(name) ?? run(name, 'generate', 'build');
    built.set(name, made);
    await made;
    return JSON.parse(await run(name, script));
  }

  it('of openapi-typescript compile strictly and do what they say', async () => {
    expect(await used('openapi-typescript')).to.deep.equal(seen);
  });

  it('of @hey-api/openapi-ts compile strictly and do what they say, and follow events', async () => {
    const bootstrap = { ...seen.bootstrap, last: 'end: ended' };
    expect(await used('hey-api')).to.deep.equal({ ...seen, bootstrap });
  });

  for (const name of ['openapi-typescript', 'hey-api']) {
    it(`of ${name} call every operation of the organization API, and understand each answer`, async () => {
      const { called, ...told } = (await used(name, 'every-operation')) as {
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
  }

  it('are made of documents in which two linters find nothing', async () => {
    expect(await run('linters', 'lint')).to.equal('');
  });
});
