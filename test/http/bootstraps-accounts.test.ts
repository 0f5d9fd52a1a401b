/** A bootstrap is its owner's by e-mail; whose the e-mail is, is settled by the account that first changes something. */
import { expect } from 'chai';
import type { BeginReply } from '../../shared/bootstrap/routes.js';
import { collections } from '../../shared/names.js';
import { type Asked, type BootstrapsServer, createBootstrapsServer, makeRequest } from './bootstraps-server.js';
import { createIssuer, type Issuer } from './issuer.js';

const [alice, bob, ops] = ['alice@example.com', 'bob@example.com', 'ops@example.com'];
const other = 'another-account';

describe("accounts with the e-mail of a bootstrap's people", () => {
  let issuer: Issuer;
  let server: BootstrapsServer;
  let id: string;
  before(async () => {
    issuer = await createIssuer();
  });
  after(() => issuer.close());
  beforeEach(async () => {
    server = await createBootstrapsServer(issuer);
    const { bootstrap } = await server.json<BeginReply>(201, 'POST', '/bootstraps', { body: makeRequest('first one') });
    ({ id } = bootstrap);
    await server.settle();
  });
  afterEach(async () => {
    await server.settle();
    server.close();
  });

  const at = (path: string): string => `/bootstraps/${id}${path}`;
  const sees = async (as: string, subject?: string): Promise<number> =>
    (await server.fetch('GET', at(''), { as, ...(subject !== undefined && { subject }) })).status;
  const extend = (ttl: string, asked: Asked) => server.json(200, 'POST', at('/extend'), { ...asked, body: { ttl } });
  const give = (verb: 'share' | 'unshare' | 'transfer', to: string, as = alice) =>
    server.json(200, 'POST', at(`/${verb}`), { as, body: { with: to } });

  it('inherit nothing of what its owner began', async () => {
    const until = new Date(Date.now() + 3_600_000).toISOString();
    const before = await server.context.store.get(collections.bootstraps, id);
    for (const [method, path, body] of [
      ['GET', ''],
      ['GET', '/events'],
      ['GET', '/logs'],
      ['GET', '/config'],
      ['GET', '/secrets'],
      ['POST', '/age-identity'],
      ['POST', '/cancel'],
      ['POST', '/instances/project/wake'],
      ['POST', '/restart-vms', {}],
      ['POST', '/extend', { ttl: '3h' }],
      ['POST', '/protect', { until, reason: 'mine' }],
      ['POST', '/unprotect'],
      ['POST', '/share', { with: bob }],
      ['POST', '/unshare', { with: bob }],
      ['POST', '/transfer', { with: bob }],
      ['POST', '/remove'],
    ] as const) {
      const { detail } = await server.problem(403, method, at(path), { subject: other, ...(body && { body }) });
      expect(detail, path).to.contain('of another account');
    }
    const resumed = makeRequest('first one', { projectTtl: '3h' });
    await server.problem(403, 'POST', '/bootstraps', { subject: other, body: resumed });
    expect(await server.json(200, 'GET', '/bootstraps', { subject: other })).to.deep.equal([]);
    expect(await server.context.store.get(collections.bootstraps, id)).to.deep.equal(before);
    // Operators read of it; who it was is not said.
    expect(server.logged.filter((line) => line.includes('"WARNING"') && line.includes(id))).not.to.be.empty;
    expect(server.logged.join()).not.to.contain(other);
    expect(await server.json(200, 'GET', '/bootstraps')).to.have.length(1);
  });

  it('are nothing that a view shows', async () => {
    const shown = [await server.json(200, 'GET', at('')), await server.json(200, 'GET', '/bootstraps')];
    expect(JSON.stringify(shown)).not.to.contain(issuer.url);
  });

  it('all work for a new owner until one of them has changed something', async () => {
    await give('transfer', bob);
    expect(await sees(alice)).to.equal(404);
    for (const subject of ['first', 'second']) expect(await sees(bob, subject)).to.equal(200);
    await extend('3h', { as: bob, subject: 'first' });
    expect(await sees(bob, 'first')).to.equal(200);
    expect(await sees(bob, 'second')).to.equal(403);
  });

  it('are one when two of them change something at once', async () => {
    await give('transfer', bob);
    const subjects = ['first', 'second'];
    const replies = await Promise.all(
      subjects.map((subject) => server.fetch('POST', at('/extend'), { as: bob, subject, body: { ttl: '3h' } })),
    );
    const statuses = replies.map(({ status }) => status);
    expect(statuses).to.have.members([200, 403]);
    expect(await Promise.all(subjects.map((subject) => sees(bob, subject)))).to.deep.equal(statuses);
  });

  it('are let in by an operator who transfers it away and back', async () => {
    expect(await sees(alice, other)).to.equal(403);
    await give('transfer', bob, ops);
    await give('transfer', alice, ops);
    expect(await sees(alice, other)).to.equal(200);
  });

  it('all work for whom it is shared with, until one has extended it; shared again, they do so anew', async () => {
    await give('share', bob);
    for (const subject of ['first', 'second']) expect(await sees(bob, subject)).to.equal(200);
    await extend('3h', { as: bob, subject: 'first' });
    expect(await sees(bob, 'second')).to.equal(403);
    expect(await sees(alice)).to.equal(200);
    await give('unshare', bob);
    await give('share', bob);
    expect(await sees(bob, 'second')).to.equal(200);
  });

  it('stay out where it is transferred to one who has changed something in it', async () => {
    await give('share', bob);
    await extend('3h', { as: bob, subject: 'first' });
    await give('transfer', bob);
    expect(await sees(bob, 'first')).to.equal(200);
    expect(await sees(bob, 'second')).to.equal(403);
  });

  for (const [what, change] of Object.entries({
    'extends it': () => extend('3h', {}),
    'resumes it': () =>
      server.json(200, 'POST', '/bootstraps', { body: makeRequest('first one', { projectTtl: '3h' }) }),
  })) {
    it(`all work for the owner of one that an earlier release began, until one of them ${what}`, async () => {
      await server.context.store.commit([
        { kind: 'update', collection: collections.bootstraps, id, data: { boundTo: undefined } },
      ]);
      expect(await sees(alice, other)).to.equal(200);
      await change();
      expect(await sees(alice)).to.equal(200);
      expect(await sees(alice, other)).to.equal(403);
    });
  }

  it('are not asked for of operators, who are so by a setting', async () => {
    for (const subject of ['first', 'second']) {
      expect(await sees(ops, subject)).to.equal(200);
      await extend(subject === 'first' ? '3h' : '4h', { as: ops, subject });
    }
    expect(await sees(alice)).to.equal(200);
  });
});
