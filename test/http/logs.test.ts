/** The logs of a bootstrap over HTTP: for whom it is, page by page, and never with a secret in it. */
import { expect } from 'chai';
import { createStepLog } from '../../functions/engine/record/log.js';
import type { LogPage, LogView } from '../../shared/bootstrap/log.js';
import type { BeginReply } from '../../shared/bootstrap/routes.js';
import { redactorOf } from '../support/redactor.js';
import { type BootstrapsServer, createBootstrapsServer, makeRequest } from './bootstraps-server.js';
import { createIssuer, type Issuer } from './issuer.js';

const [alice, bob] = ['alice@example.com', 'bob@example.com'];

describe('GET /bootstraps/{id}/logs', () => {
  let issuer: Issuer;
  let server: BootstrapsServer;
  before(async () => {
    issuer = await createIssuer();
    server = await createBootstrapsServer(issuer);
  });
  after(async () => {
    await server?.settle();
    server?.close();
    issuer?.close();
  });

  it('tells its owner and those it is shared with, and nobody else, without secrets', async () => {
    const body = makeRequest('first one');
    const { bootstrap } = await server.json<BeginReply>(201, 'POST', '/bootstraps', { as: alice, body });
    await server.settle();
    const path = `/bootstraps/${bootstrap.id}/logs`;
    const log = createStepLog(
      server.context,
      { bootstrapId: bootstrap.id, instance: 'install:dc1', generation: 1, expireAt: bootstrap.deadlineAt },
      redactorOf('planted-secret'),
    );
    await log.append('job', 0, Buffer.from('with planted-secret\nand planted-sec'), false);
    await log.append('job', 24, Buffer.from('planted-secret again\n'), true);
    const text = 'with <secret>\nand <secret> again\n';
    const listed = await server.json<LogView[]>(200, 'GET', path, { as: alice });
    expect(listed).to.deep.equal([{ instance: 'install:dc1', generation: 1, begins: 0, bytes: text.length }]);
    await server.problem(404, 'GET', path, { as: bob });
    await server.problem(404, 'GET', `${path}?instance=install:dc1`, { as: bob });
    await server.json(200, 'POST', `/bootstraps/${bootstrap.id}/share`, { as: alice, body: { with: bob } });
    const page = await server.json<LogPage>(200, 'GET', `${path}?instance=install:dc1`, { as: bob });
    expect(page.chunks.map((chunk) => chunk.text).join('')).to.equal(text);
    const rest = await server.json<LogPage>(200, 'GET', `${path}?instance=install:dc1&offset=${page.next}`, {
      as: bob,
    });
    expect(rest).to.deep.include({ chunks: [], next: text.length, more: false });
    await server.problem(400, 'GET', `${path}?instance=install:dc1&offset=-1`, { as: alice });
  }).timeout(240_000);
});
