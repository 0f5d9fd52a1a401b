/** The functions framework runs requests in domains, which slow down whatever is awaited. */
import { expect } from 'chai';
import { createMemoryStore } from '../../local/functions/memory-store.js';
import {
  createOrganizationsServer,
  type OrganizationsServer,
  operator,
} from '../organizations/organizations-server.js';
import { createIssuer, type Issuer } from './issuer.js';

describe('a request to the API of organizations', () => {
  const memory = createMemoryStore();
  const domains: unknown[] = [];
  let issuer: Issuer;
  let server: OrganizationsServer;
  before(async () => {
    issuer = await createIssuer();
    const store: typeof memory = {
      ...memory,
      get(...place) {
        domains.push((process as { readonly domain?: unknown }).domain ?? 'none');
        return memory.get(...place);
      },
    };
    server = await createOrganizationsServer(issuer, { store });
  });
  after(() => {
    server.close();
    issuer.close();
  });

  it('reads outside of any domain', async () => {
    const { id } = await server.expect<{ id: string }>(201, 'createOrganization', {
      as: operator,
      body: { name: 'Acme' },
    });
    await server.expect(200, 'getOrganization', { as: operator, params: { organizationId: id } });
    expect(domains).to.have.property('length').above(0);
    expect(new Set(domains)).to.deep.equal(new Set(['none']));
  });
});
