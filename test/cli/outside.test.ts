/** What the command line says and does where the outside is not as it should be: no service, another service, no credentials, a full disk. */
import { spawnSync } from 'node:child_process';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { cliPath } from '../support/plinth-here.js';
import { bootstrap, createSandbox, type Sandbox } from './run-cli.js';

describe('plinth, where the outside is not as it should be,', function () {
  this.timeout(60_000);
  let sandbox: Sandbox;
  const servers: Server[] = [];
  beforeEach(() => {
    sandbox = createSandbox();
  });
  afterEach(() => {
    sandbox.remove();
    for (const server of servers.splice(0)) server.close();
  });

  const portOf = (server: Server): number => (server.address() as AddressInfo).port;
  async function serve(listener: RequestListener, port = 0): Promise<Server> {
    const server = createServer(listener);
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    return server;
  }
  async function freePort(): Promise<number> {
    const server = await serve(() => undefined);
    const port = portOf(server);
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
  const none: RequestListener = (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('[]');
  };
  const list = (endpoint: string) => sandbox.start([...bootstrap, 'list'], { PLINTH_ENDPOINT: endpoint });

  describe('a service that is away when it begins', () => {
    it('is waited for, and that is said', async () => {
      const port = await freePort();
      const started = list(`http://127.0.0.1:${port}`);
      await started.saw(/half a minute/);
      await serve(none, port);
      const { code, stderr } = await started.ended;
      expect(code, stderr).to.equal(0);
      expect(stderr).to.include(`plinth at http://127.0.0.1:${port} cannot be reached: ECONNREFUSED`);
    });

    it('is waited for behind a front end that says so', async () => {
      // More often than other refusals are met with a retry.
      let refusals = 10;
      const server = await serve((request, response) => {
        if (refusals-- <= 0) return none(request, response);
        const headers = { 'content-type': 'text/html', 'retry-after': '0.05' };
        response.writeHead(503, headers).end('<html>Service Unavailable');
      });
      const { code, stderr } = await list(`http://127.0.0.1:${portOf(server)}`).ended;
      expect(code, stderr).to.equal(0);
      expect(stderr).to.match(/503.*half a minute/s);
    });

    for (const [what, endpoint, says] of [
      ['an unknown host', 'https://plinth.invalid', /plinth\.invalid is not known|ENOTFOUND|EAI_AGAIN/],
      ['a port that nobody may use', 'http://127.0.0.1:9', /port 9/],
    ] as const) {
      it(`is not waited for at ${what}`, async () => {
        const { code, stderr } = await list(endpoint).ended;
        expect(code).to.equal(6);
        expect(stderr).to.match(says).and.include('--endpoint').and.not.include('half a minute');
      });
    }
  });

  it('says of an endpoint that is no plinth what answers there', async () => {
    const server = await serve((_, response) => {
      response.writeHead(404, { 'content-type': 'text/html' }).end('<html>not here');
    });
    const { stderr } = await list(`http://127.0.0.1:${portOf(server)}`).ended;
    expect(stderr)
      .to.include(`http://127.0.0.1:${portOf(server)} is no plinth`)
      .and.include('404')
      .and.include('--endpoint');
  });

  it('says which token is not taken, and nothing of headers', async () => {
    const server = await serve((_, response) => {
      const problem = {
        code: 'unauthenticated',
        detail: 'The token is not valid.',
        advice: 'Send an ID token for this endpoint: Authorization: Bearer <token>.',
      };
      response.writeHead(401, { 'content-type': 'application/problem+json' }).end(JSON.stringify(problem));
    });
    const { code, stderr } = await list(`http://127.0.0.1:${portOf(server)}`).ended;
    expect(code).to.equal(3);
    expect(stderr).to.include('PLINTH_TOKEN').and.not.include('Authorization');
  });

  it('says nothing of metadata servers where there are no credentials', () => {
    const { PLINTH_TOKEN: _, ...env } = sandbox.env;
    const ran = spawnSync(process.execPath, [cliPath, ...bootstrap, 'list'], {
      cwd: sandbox.folder,
      env: { ...env, PLINTH_ENDPOINT: 'https://plinth.example.com' },
      encoding: 'utf8',
    });
    expect(ran.status).to.equal(3);
    expect(ran.stderr)
      .to.include('plinth login')
      .and.not.match(/warning|metadata/i);
  });

  it('takes no flag for another that is as short', async () => {
    const { stderr } = await sandbox.run([...bootstrap, 'list', '--nope']);
    expect(stderr).to.include('--nope is no known flag').and.not.include('--zone');
  });

  for (const args of [['--help'], ['--version'], ['--version', '--json'], ['completion', 'bash']]) {
    it(`says in one line that its output cannot be written: ${args.join(' ')}`, () => {
      const words = ['-c', 'exec "$@" > /dev/full', 'sh', process.execPath, cliPath, ...args];
      const ran = spawnSync('/bin/sh', words, { cwd: sandbox.folder, env: sandbox.env, encoding: 'utf8' });
      expect(ran.status).to.equal(1);
      expect(ran.stderr.trimEnd().split('\n'), ran.stderr).to.have.length(1);
      expect(ran.stderr).to.include('cannot be written').and.include('ENOSPC');
    });
  }
});
