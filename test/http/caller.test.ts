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
