/** Browsers are told to reach both APIs by HTTPS alone, in every kind of answer. */
import { expect } from 'chai';
import { createMemoryStore } from '../../local/functions/memory-store.js';
import { createOrganizationsServer, type OrganizationsServer } from '../organizations/organizations-server.js';
import { type BootstrapsServer, createBootstrapsServer, makeRequest } from './bootstraps-server.js';
import { createIssuer, type Issuer } from './issuer.js';

const alice = 'alice@example.com';
const consoleUrl = 'https://plinth.example.com';
const policy = 'max-age=31536000';

interface Kind {
  readonly status: number;
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Without a token. */
  readonly anyone?: true;
}

describe('strict-transport-security', () => {
  let issuer: Issuer;
  let bootstraps: BootstrapsServer;
  let organizations: OrganizationsServer;
  let id: string;
  before(async () => {
    issuer = await createIssuer();
    const env = {
      PLINTH_CONSOLE_CLIENT_ID: 'client',
      PLINTH_CONSOLE_URL: consoleUrl,
      PLINTH_BOOTSTRAPS_URL: 'https://bootstraps.example.com',
    };
    bootstraps = await createBootstrapsServer(issuer, { env });
    organizations = await createOrganizationsServer(issuer, { store: createMemoryStore(), env });
    const { bootstrap } = await bootstraps.json<{ bootstrap: { id: string } }>(201, 'POST', '/bootstraps', {
      as: alice,
      body: makeRequest('hers'),
    });
    ({ id } = bootstrap);
    await bootstraps.settle();
  });
  after(() => {
    bootstraps.close();
    organizations.close();
    issuer.close();
  });

  async function seen(origin: string, { method = 'GET', path, headers = {}, body, anyone }: Kind) {
    const authorization = `Bearer ${await issuer.token(alice)}`;
    const reply = await fetch(origin + path.replace('{id}', id), {
      method,
      headers: { ...(anyone ? {} : { authorization }), ...headers },
      body: body ?? null,
    });
    await reply.body?.cancel();
    return [reply.status, reply.headers.get('strict-transport-security')];
  }

  const json = { 'content-type': 'application/json' };
  const ofBoth: readonly Kind[] = [
    { status: 200, path: '/health', anyone: true },
    { status: 200, method: 'HEAD', path: '/health', anyone: true },
    { status: 200, path: '/openapi.json', anyone: true },
    { status: 200, path: '/problems/too-many', anyone: true },
    { status: 404, path: '/nothing/here' },
    { status: 405, method: 'DELETE', path: '/health' },
  ];
  const ofBootstraps: readonly Kind[] = [
    ...ofBoth,
    { status: 200, path: '/bootstraps' },
    { status: 200, path: '/bootstraps/{id}/events', headers: { accept: 'text/event-stream' } },
    { status: 200, path: '/bootstraps', headers: { origin: consoleUrl } },
    {
      status: 204,
      method: 'OPTIONS',
      path: '/bootstraps',
      headers: { origin: consoleUrl, 'access-control-request-method': 'GET' },
      anyone: true,
    },
    { status: 401, path: '/bootstraps', anyone: true },
    { status: 400, method: 'POST', path: '/bootstraps', headers: json, body: '{' },
    { status: 413, method: 'POST', path: '/bootstraps', headers: json, body: ' '.repeat(3 * 1024 * 1024) },
    { status: 415, method: 'POST', path: '/bootstraps', headers: { 'content-type': 'text/plain' }, body: 'x' },
  ];
  const ofOrganizations: readonly Kind[] = [
    ...ofBoth,
    { status: 200, path: '/organizations' },
    { status: 200, path: '/docs', anyone: true },
    { status: 200, path: '/', anyone: true },
    { status: 401, path: '/organizations', anyone: true },
    { status: 403, method: 'POST', path: '/organizations', headers: json, body: '{"name":"acme"}' },
  ];
  const titleOf = ({ status, method = 'GET', path, headers = {} }: Kind) =>
    [status, method, path, ...Object.keys(headers)].join(' ');
  for (const kind of ofBootstraps) {
    const title = titleOf(kind);
    it(`is in the answer of bootstraps: ${title}`, async () => {
      expect(await seen(bootstraps.origin, kind)).to.deep.equal([kind.status, policy]);
    });
  }
  for (const kind of ofOrganizations) {
    const title = titleOf(kind);
    it(`is in the answer of api: ${title}`, async () => {
      expect(await seen(organizations.origin, kind)).to.deep.equal([kind.status, policy]);
    });
  }
});
