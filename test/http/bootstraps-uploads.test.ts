/** How a file of the caller's gets to the jumpbox, over HTTP: who may ask, and when. */
import { expect } from 'chai';
import type { BeginReply } from '../../shared/bootstrap/routes.js';
import type { UploadWay } from '../../shared/bootstrap/upload-way.js';
import { type BootstrapsServer, createBootstrapsServer, makeRequest } from './bootstraps-server.js';
import { createIssuer, type Issuer } from './issuer.js';

const sha256 = 'a'.repeat(64);

describe('the way of a file to the jumpbox', () => {
  let issuer: Issuer;
  let server: BootstrapsServer;
  let path: string;
  let id: string;

  before(async () => {
    issuer = await createIssuer();
  });
  after(() => issuer.close());
  beforeEach(async () => {
    server = await createBootstrapsServer(issuer, { env: { PLINTH_UPLOADS_BUCKET: 'uploads' } });
    server.world.closed = true;
    const remoteCliBinary = `own-plinth@sha256:${sha256}:20000000`;
    const body = makeRequest('with a file', { remoteCliBinary });
    ({ id } = (await server.json<BeginReply>(201, 'POST', '/bootstraps', { body })).bootstrap);
    path = `/bootstraps/${id}/uploads/${sha256}`;
  });
  afterEach(async () => {
    server.world.closed = false;
    await server.settle();
    server.close();
  });

  it('is SSH where the jumpbox has an address of its own', async () => {
    expect(await server.json<UploadWay>(200, 'POST', path)).to.deep.equal({ by: 'ssh' });
  });

  it('is told to nobody but the owner and operators', async () => {
    expect(await server.json<UploadWay>(200, 'POST', path, { as: 'ops@example.com' })).to.deep.equal({ by: 'ssh' });
    await server.problem(404, 'POST', path, { as: 'mallory@example.org' });
    await server.json(200, 'POST', `/bootstraps/${id}/share`, { body: { with: 'bob@example.com' } });
    await server.problem(403, 'POST', path, { as: 'bob@example.com' });
  });

  it('is for files that the bootstrap names alone', async () => {
    const { detail, advice } = await server.problem(404, 'POST', path.replace(sha256, 'b'.repeat(64)));
    expect(detail).to.include('names no file with the SHA-256 bbbb');
    expect(advice).to.include('with the flag that names the file');
    await server.problem(400, 'POST', path.replace(sha256, 'no-hash'));
  });

  it('is refused once nothing waits for it', async () => {
    await server.json(200, 'POST', `/bootstraps/${id}/cancel`);
    server.world.closed = false;
    await server.settle();
    const { detail, advice } = await server.problem(409, 'POST', path);
    expect(detail).to.include('own-plinth');
    expect(advice).to.include('Run the same command again');
  });
});
