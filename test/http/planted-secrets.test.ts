/** Planted secrets come out of no answer and no log line of the functions, whatever damaged text holds them. */
import { expect } from 'chai';
import { createMemoryStore } from '../../local/functions/memory-store.js';
import type { Route } from '../../shared/api.js';
import { isSecret, type Option, optionNames } from '../../shared/bootstrap/options.js';
import { type BeginReply, bootstrapRoutes } from '../../shared/bootstrap/routes.js';
import { organizationRoutes } from '../../shared/organization/routes.js';
import { createOrganizationsServer } from '../organizations/organizations-server.js';
import { damages, partsIn, secretOf, secretsOf } from '../support/planted.js';
import { type BootstrapsServer, createBootstrapsServer, makeRequest } from './bootstraps-server.js';
import { createIssuer, type Issuer } from './issuer.js';

const alice = 'alice@example.com';
const given = Object.fromEntries(
  optionNames.filter(isSecret).map((option: Option, n) => [option, secretOf(`body ${option}`, n)]),
);
const inFiles = secretsOf('base', 24);
const yaml = (secrets: readonly string[]): string =>
  secrets.map((secret, n) => `password${n}: ${JSON.stringify(secret)}\n`).join('');
const planted = [...Object.values(given), ...inFiles];

const base = (damage: (text: string) => string) => ({
  dc1: {
    config: damage(`override:\n  ${yaml(inFiles.slice(0, 12)).trimEnd().replaceAll('\n', '\n  ')}\n`),
    secrets: damage(yaml(inFiles.slice(12))),
  },
});
const request = (damage: (text: string) => string = (text) => text) =>
  makeRequest('first one', given, { base: base(damage) });

const pathOf = ({ path }: Route, id: string): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name) => (name === 'id' ? id : name === 'sha256' ? 'a'.repeat(64) : 'planted'));

describe('planted secrets in the functions', function () {
  this.timeout(60_000);
  let issuer: Issuer;
  let server: BootstrapsServer;
  let id: string;
  before(async () => {
    issuer = await createIssuer();
    server = await createBootstrapsServer(issuer, { env: { PLINTH_CHANGES_PER_MINUTE: '100000' } });
    const { bootstrap } = await server.json<BeginReply>(201, 'POST', '/bootstraps', { body: makeRequest('first one') });
    ({ id } = bootstrap);
    await server.settle();
  });
  after(async () => {
    await server?.settle();
    server?.close();
    issuer?.close();
  });

  const documents = async (): Promise<string> =>
    JSON.stringify((server.context.store as unknown as { dump?(): unknown }).dump?.() ?? {});

  it('come out of no operation that gets them in a damaged body', async () => {
    const organizations = await createOrganizationsServer(issuer, { store: createMemoryStore() });
    const found: string[] = [];
    const origins = [
      [server.origin, bootstrapRoutes],
      [organizations.origin, organizationRoutes],
    ] as const;
    const token = await issuer.token(alice, { claims: { hd: 'example.com' } });
    let turn = 0;
    for (const [origin, routes] of origins) {
      for (const [operation, route] of Object.entries(routes) as [string, Route][]) {
        if (route.method === 'GET') continue;
        for (const [damage, apply] of Object.entries(damages)) {
          turn += 1;
          const reply = await fetch(`${origin}${pathOf(route, id)}`, {
            method: route.method,
            headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
            body: apply(JSON.stringify(request(), null, 2), ((turn * 7) % 19) / 19),
          });
          const answer = `${JSON.stringify([...reply.headers])}${await reply.text()}`;
          const leaked = partsIn(answer, planted);
          if (leaked.length > 0) found.push(`${operation}, ${damage}: ${leaked[0]}`);
        }
      }
    }
    await server.settle();
    expect(found).to.deep.equal([]);
    expect(partsIn([...server.logged, ...organizations.logged].join('\n'), planted)).to.deep.equal([]);
    organizations.close();
  });

  it('come out of no refusal of damaged files that are sent as a base', async () => {
    let turn = 0;
    for (const [damage, apply] of Object.entries(damages)) {
      turn += 1;
      const damaged = (text: string) => apply(text, ((turn * 7) % 19) / 19).toString();
      const reply = await server.fetch('POST', '/bootstraps', { body: request(damaged) });
      expect(partsIn(await reply.text(), planted), damage).to.deep.equal([]);
      await server.settle();
    }
    expect(partsIn(server.logged.join('\n'), planted)).to.deep.equal([]);
    expect(partsIn(await documents(), planted)).to.deep.equal([]);
  });

  it('come out of no step that reads them damaged from Secret Manager', async () => {
    const before = new Map(server.secrets);
    const payload = JSON.stringify(given);
    for (const [damage, apply] of Object.entries(damages)) {
      for (const [name, versions] of before) {
        const text = /caller|age-identity/.test(name) ? payload : (versions.at(-1) ?? '');
        server.secrets.set(name, [apply(text, 0.4).toString()]);
      }
      const logged = server.logged.length;
      const reply = await server.fetch('POST', `/bootstraps/${id}/restart-vms`, { body: {} });
      const identity = await server.fetch('POST', '/bootstraps', {
        body: makeRequest('first one', {}, { base: base((text) => text) }),
      });
      await server.settle();
      const said = [await reply.text(), await identity.text(), ...server.logged.slice(logged)].join('\n');
      expect(partsIn(said, planted), damage).to.deep.equal([]);
    }
    expect(partsIn(await documents(), planted)).to.deep.equal([]);
    server.secrets.clear();
    for (const [name, versions] of before) server.secrets.set(name, versions);
  });
});
