/** The operators' switch over HTTP: from its answer on nothing new begins, and what stands goes on. */
import { expect } from 'chai';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { collections } from '../../shared/names.js';
import { type BootstrapsServer, createBootstrapsServer, makeRequest } from './bootstraps-server.js';
import { createIssuer, type Issuer } from './issuer.js';

const ops = 'ops@example.com';

describe('the switch that stops new bootstraps', () => {
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
  const stop = (reason: string) => server.json(200, 'POST', '/admission/stop', { as: ops, body: { reason } });
  const start = () => server.json(200, 'POST', '/admission/start', { as: ops });
  const begin = (name: string, status: number) =>
    server.json<{ bootstrap: BootstrapView; created: boolean }>(status, 'POST', '/bootstraps', {
      body: makeRequest(name),
    });

  it('is open where nobody ever switched it, and starting it then changes nothing', async () => {
    expect(await server.json(200, 'GET', '/admission', { as: ops })).to.deep.equal({ state: 'open' });
    expect(await start()).to.deep.equal({ state: 'open' });
    expect(await server.context.store.query({ collection: collections.counters })).to.deep.equal([]);
  });

  it('refuses new ones with who and why, leaves no secret of them, and lets go on what stands', async () => {
    const { bootstrap } = await begin('stands', 201);
    await server.settle();
    const stopped = await stop('  the account is closed  ');
    expect(stopped).to.include({ state: 'stopped', by: ops, reason: 'the account is closed' });
    expect(await server.json(200, 'GET', '/admission', { as: ops })).to.deep.equal(stopped);
    const secrets = server.secrets.size;
    for (const as of ['alice@example.com', ops]) {
      const problem = await server.problem(409, 'POST', '/bootstraps', { as, body: makeRequest('new one') });
      expect(problem).to.include({ code: 'stopped', reason: 'the account is closed', by: ops });
      expect(problem.detail).to.contain('the account is closed');
      expect(problem.advice).to.contain('operator');
    }
    expect(server.secrets.size).to.equal(secrets);
    // A plan makes nothing.
    await server.json(200, 'POST', '/bootstraps?dryRun=true', { body: makeRequest('new one') });
    const resumed = await server.json<{ created: boolean }>(200, 'POST', '/bootstraps', {
      body: makeRequest('stands', { projectTtl: '3h' }),
    });
    expect(resumed.created).to.equal(false);
    await server.settle();
    const removed = await server.json<BootstrapView>(200, 'POST', `/bootstraps/${bootstrap.id}/remove`);
    expect(removed.state).to.be.oneOf(['removing', 'removed']);
    await server.settle();
    expect((await server.json<BootstrapView>(200, 'GET', `/bootstraps/${bootstrap.id}`)).state).to.equal('removed');
    // The removal has written the counters, and the switch stays as it was.
    expect(await server.json(200, 'GET', '/admission', { as: ops })).to.deep.equal(stopped);
    // Its name is free, so this is a new one.
    await server.problem(409, 'POST', '/bootstraps', { body: makeRequest('stands') });
    expect(await stop('another reason')).to.include({ reason: 'another reason' });
    const started = await start();
    expect(started).to.include({ state: 'open', by: ops });
    expect(started).not.to.have.property('reason');
    await begin('stands', 201);
    await server.settle();
  });

  it('lets none begin that had not begun when it was answered, however many ask at the time', async () => {
    const named = async () => (await server.context.store.query({ collection: collections.bootstraps })).length;
    const asked = Array.from({ length: 30 }, (_, i) =>
      server.fetch('POST', '/bootstraps', { body: makeRequest(`at-once-${i}`) }),
    );
    await stop('enough');
    const before = await named();
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    expect(await named()).to.equal(before);
    expect(statuses.filter((status) => status !== 201 && status !== 409)).to.deep.equal([]);
    await start();
    await server.settle();
  });

  it('is for operators, and wants a reason', async () => {
    await server.problem(403, 'GET', '/admission');
    await server.problem(403, 'POST', '/admission/stop', { body: { reason: 'mine' } });
    await server.problem(403, 'POST', '/admission/start');
    for (const body of [{}, { reason: ' ' }, { reason: 'x'.repeat(201) }, { reason: 'x', until: 'y' }]) {
      await server.problem(400, 'POST', '/admission/stop', { as: ops, body });
    }
    expect(await server.json(200, 'GET', '/admission', { as: ops })).to.include({ state: 'open' });
  });
});
