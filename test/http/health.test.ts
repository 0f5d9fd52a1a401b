/** `GET /health` of both APIs: for anybody, by what the process knows alone. */
import { expect } from 'chai';
import { createMemoryStore } from '../../local/functions/memory-store.js';
import { healthRoutes } from '../../shared/api.js';
import { version } from '../../shared/version.js';
import { createOrganizationsServer } from '../organizations/organizations-server.js';
import { checkReply } from '../support/contract.js';
import { createBootstrapsServer } from './bootstraps-server.js';
import { createIssuer, type Issuer } from './issuer.js';

describe('the health of', () => {
  let issuer: Issuer;
  before(async () => {
    issuer = await createIssuer();
  });
  after(() => issuer.close());

  const broken = new Proxy(createMemoryStore(), {
    get: () => () => Promise.reject(new Error('The store cannot be reached')),
  });
  const apis: Readonly<
    Record<
      string,
      (env?: Record<string, string>) => Promise<{ readonly origin: string; readonly logged: string[]; close(): void }>
    >
  > = {
    bootstraps: (env = {}) => createBootstrapsServer(issuer, { env }),
    api: (env = {}) => createOrganizationsServer(issuer, { store: broken, env }),
  };
  for (const [name, create] of Object.entries(apis)) {
    it(`${name} is told to anybody, whatever is behind it, and says nothing but its version`, async () => {
      const server = await create();
      try {
        const reply = await fetch(`${server.origin}/health`);
        const text = await reply.text();
        checkReply(healthRoutes.checkHealth, { status: reply.status, headers: reply.headers, text });
        expect(reply.status).to.equal(200);
        expect(JSON.parse(text)).to.deep.equal({ status: 'ok', version });
        expect(server.logged).to.deep.equal([]);
        // No way to have more asked.
        expect((await fetch(`${server.origin}/health?deep=1`)).status).to.equal(400);
        expect((await fetch(`${server.origin}/health`, { method: 'POST' })).status).to.equal(405);
      } finally {
        server.close();
      }
    });

    it(`${name} names the release that was deployed, where that is known`, async () => {
      const server = await create({ PLINTH_RELEASE: 'a1b2c3d' });
      try {
        const reply = await fetch(`${server.origin}/health`);
        const text = await reply.text();
        checkReply(healthRoutes.checkHealth, { status: reply.status, headers: reply.headers, text });
        expect(JSON.parse(text)).to.deep.equal({ status: 'ok', version, release: 'a1b2c3d' });
      } finally {
        server.close();
      }
    });
  }
});
