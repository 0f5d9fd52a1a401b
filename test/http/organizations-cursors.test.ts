/** Only a deployment makes cursors for its lists: they are sealed under a key of its own, in its Secret Manager. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { createMemoryStore } from '../../local/functions/memory-store.js';
import type { Organization } from '../../shared/organization/organization.js';
import { Problem, type ProblemBody } from '../../shared/problems.js';
import {
  createOrganizationsServer,
  makeSecrets,
  type OrganizationsServer,
  type Secrets,
} from '../organizations/organizations-server.js';
import { createIssuer, type Issuer } from './issuer.js';
import { alice, bob, carol } from './organizations-world.js';

const secret = 'plinth-cursor-key';
const key = 'k'.repeat(44);

describe('cursors', () => {
  let issuer: Issuer;
  let params: { readonly organizationId: string };
  let servers: OrganizationsServer[] = [];
  const store = createMemoryStore();

  /** An instance of the function, in a deployment with these secrets. */
  async function serve(secrets: Secrets): Promise<OrganizationsServer> {
    const server = await createOrganizationsServer(issuer, {
      store,
      secrets,
      env: { PLINTH_ORGANIZATION_CREATORS: 'example.com' },
    });
    servers.push(server);
    return server;
  }
  const holding = (...versions: string[]): Secrets => {
    const secrets = makeSecrets();
    secrets.versions.set(secret, versions);
    return secrets;
  };

  const list = (server: OrganizationsServer, query: Record<string, string>) =>
    server.ask('listOrganizationMembers', { params, query });
  async function nextOf(server: OrganizationsServer, query: Record<string, string> = { limit: '1' }): Promise<string> {
    const { status, headers, body } = await list(server, query);
    expect(status, JSON.stringify(body)).to.equal(200);
    return /[?&]cursor=([^&>]+)/.exec(headers.get('link') ?? '')?.[1] ?? '';
  }
  async function refused(server: OrganizationsServer, cursor: string): Promise<void> {
    const { status, body } = await list(server, { limit: '1', cursor });
    expect(status, JSON.stringify(body)).to.equal(400);
    expect((body as ProblemBody).errors?.map(({ path }) => path)).to.deep.equal(['query.cursor']);
  }

  before(async () => {
    issuer = await createIssuer();
    const server = await serve(holding(key));
    const { id } = await server.expect<Organization>(201, 'createOrganization', { body: { name: 'Acme' } });
    params = { organizationId: id };
    for (const email of [bob, carol]) {
      await server.expect(201, 'addOrganizationMember', { params, body: { email, role: 'member' } });
    }
  });
  afterEach(() => {
    for (const server of servers) server.close();
    servers = [];
  });
  after(() => issuer.close());

  it('that somebody seals without the key are refused', async () => {
    const server = await serve(holding(key));
    const place = Buffer.from(JSON.stringify([alice])).toString('base64url');
    const sealed = JSON.stringify([alice, `/organizations/${params.organizationId}/members`, place]);
    const seal = createHash('sha256').update(sealed).digest('base64url').slice(0, 22);
    await refused(server, `${place}.${seal}`);
  });

  it('of another key are refused', async () => {
    const cursor = await nextOf(await serve(holding('o'.repeat(44))));
    await refused(await serve(holding(key)), cursor);
  });

  it('with another seal, or more or less of theirs, are refused', async () => {
    const server = await serve(holding(key));
    const cursor = await nextOf(server);
    const [place = '', seal = ''] = cursor.split('.');
    const turned = `${seal.startsWith('A') ? 'B' : 'A'}${seal.slice(1)}`;
    for (const wrong of [turned, seal.slice(0, -1), `${seal}A`, '', 'é'.repeat(seal.length)]) {
      await refused(server, `${place}.${wrong}`);
    }
    await refused(server, place);
  });

  it('lead on at every instance of their deployment, and name no key', async () => {
    const secrets = holding(key);
    const [one, other] = [await serve(secrets), await serve(secrets)];
    const first = await nextOf(one);
    const second = await nextOf(other, { limit: '1', cursor: first });
    expect(await nextOf(one, { limit: '1', cursor: second })).to.equal('');
    expect(`${first}${second}`).not.to.include(key);
  });

  it('take a key that is made with the first of them, once for all instances', async () => {
    const secrets = makeSecrets();
    const instances = [await serve(secrets), await serve(secrets)];
    const cursors = await Promise.all(instances.map((each) => nextOf(each)));
    // Who was second may have added a version, which nobody takes.
    expect(secrets.versions.get(secret)?.[0]).to.match(/^[\w+/]{43}=$/);
    expect(cursors[0]).to.equal(cursors[1]);
  });

  it('alone cost a look at the key, once an instance', async () => {
    const secrets = holding(key);
    const server = await serve(secrets);
    await list(server, {});
    await list(server, { limit: '200' });
    expect(secrets.asked).to.equal(0);
    const cursor = await nextOf(server);
    const { asked } = secrets;
    expect(asked).to.be.within(1, 2);
    await Promise.all([list(server, { limit: '1', cursor }), list(server, { limit: '1' }), refused(server, 'x.y')]);
    expect(secrets.asked).to.equal(asked);
  });

  it('are not made without a key, which is told, and are again once it can be read', async () => {
    const secrets = holding(key);
    const server = await serve(secrets);
    secrets.fault = new Problem('cloud-permission', 'Could not read version 1 of the secret: it is denied.');
    const { status, body } = await list(server, { limit: '1' });
    const { detail, advice } = body as ProblemBody;
    expect(status).to.equal(503);
    expect(detail).to.include('key');
    expect(advice).to.include(secret);
    expect((await list(server, {})).status).to.equal(200);
    secrets.fault = undefined;
    expect(await nextOf(server)).not.to.equal('');
  });

  for (const [title, version] of [
    ['nothing', ''],
    ['too little to be one', 'short'],
  ] as const) {
    it(`are not made where the secret holds ${title}`, async () => {
      const { status, body } = await list(await serve(holding(version)), { limit: '1' });
      expect(status).to.equal(503);
      expect((body as ProblemBody).advice).to.include(secret);
    });
  }
});
