/** What the bootstrap API tells a caller about themselves, and which version every reply names. */
import { expect } from 'chai';
import { version, versionHeader } from '../../shared/version.js';
import { type BootstrapsServer, createBootstrapsServer, makeRequest } from './bootstraps-server.js';
import { createIssuer, type Issuer } from './issuer.js';

const ops = 'ops@example.com';

describe('GET /caller', () => {
  let issuer: Issuer;
  let server: BootstrapsServer;
  before(async () => {
    issuer = await createIssuer();
    server = await createBootstrapsServer(issuer);
  });
  after(() => {
    server?.close();
    issuer?.close();
  });
  const standing = (as: string) => server.json<Record<string, unknown>>(200, 'GET', '/caller', { as });

  it('says who they are, what they may, and how many they have', async () => {
    const before = {
      email: 'alice@example.com',
      operator: false,
      mayBootstrap: true,
      living: 0,
      livingLimit: 50,
      machineAccess: 'direct',
    };
    expect(await standing('alice@example.com')).to.deep.include(before);
    await server.json(201, 'POST', '/bootstraps', { body: makeRequest('mine') });
    await server.settle();
    expect(await standing('alice@example.com')).to.deep.include({ ...before, living: 1 });
    expect(await standing(ops)).to.deep.include({ email: ops, operator: true, mayBootstrap: true, living: 0 });
    expect(await standing('stranger@elsewhere.com')).to.deep.include({ operator: false, mayBootstrap: false });
  });

  it('names what those who may bootstrap may use here, and nothing of it to others', async () => {
    const limited = await createBootstrapsServer(issuer, {
      env: {
        PLINTH_BILLING_ACCOUNTS: '012345-6789AB-CDEF01,*',
        PLINTH_PARENTS: 'folders/100,folders/200',
        PLINTH_DNS_ZONES: 'dns-project/shared',
        PLINTH_MAX_TTL_SECONDS: '7200',
      },
    });
    try {
      const asked = (as: string) => limited.json<Record<string, unknown>>(200, 'GET', '/caller', { as });
      expect((await asked('alice@example.com'))['mayUse']).to.deep.equal({
        billingAccounts: ['012345-6789AB-CDEF01'],
        parents: ['folders/100', 'folders/200'],
        defaultParent: 'folders/100',
        dnsZones: ['dns-project/shared'],
        longestSeconds: 7200,
      });
      expect(await asked('stranger@elsewhere.com')).to.not.have.property('mayUse');
    } finally {
      limited.close();
    }
  });

  it('says to anybody whether new ones are stopped and why, and to none by whom', async () => {
    await server.json(200, 'POST', '/admission/stop', { as: ops, body: { reason: 'the account is closed' } });
    expect((await standing('alice@example.com'))['admission']).to.deep.equal({
      state: 'stopped',
      reason: 'the account is closed',
    });
    await server.json(200, 'POST', '/admission/start', { as: ops });
    expect((await standing('alice@example.com'))['admission']).to.deep.equal({ state: 'open' });
  });

  it('is for nobody without a token', async () => {
    await server.problem(401, 'GET', '/caller', { as: null });
  });

  it('like every reply names the version of the service, refusals too', async () => {
    for (const path of ['/caller', '/nowhere', '/problems/internal']) {
      const { headers } = await fetch(`${server.origin}${path}`);
      expect(headers.get(versionHeader), path).to.equal(version);
    }
  });
});
