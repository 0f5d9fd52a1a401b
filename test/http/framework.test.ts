import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { createIssuer, type Issuer } from './issuer.js';

/** The framework's own server, as the cloud starts it: one function in one process. */
async function startFramework(env: Readonly<Record<string, string>>): Promise<{ url: string; process: ChildProcess }> {
  const probe = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => probe.once('listening', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  const framework = createRequire(import.meta.url).resolve('@google-cloud/functions-framework');
  const source = fileURLToPath(new URL('../../functions/main.js', import.meta.url));
  const child = spawn(
    process.execPath,
    [framework.replace(/index\.js$/, 'main.js'), '--target=bootstraps', `--source=${source}`, `--port=${port}`],
    { env: { PATH: process.env['PATH'], ...env }, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const url = `http://127.0.0.1:${port}`;
  await new Promise<void>((resolve, reject) => {
    child.stdout?.on('data', (data: Buffer) => {
      if (data.includes('URL:')) resolve();
    });
    child.on('exit', (code) => reject(new Error(`the framework ended with ${code}`)));
  });
  return { url, process: child };
}

describe('the function bootstraps in the framework as it is deployed', function () {
  this.timeout(30_000);
  let issuer: Issuer;
  let child: ChildProcess | undefined;
  before(async () => {
    issuer = await createIssuer();
  });
  afterEach(() => child?.kill('SIGKILL'));
  after(() => issuer.close());

  const settings = () => ({
    PLINTH_PROJECT: 'plinth-test',
    PLINTH_DEPLOYMENT: 'test',
    PLINTH_ISSUER: issuer.url,
    PLINTH_JWKS_URL: issuer.jwksUrl,
    PLINTH_AUDIENCES: issuer.audience,
  });

  async function expectProblem(reply: Response, status: number): Promise<string> {
    const text = await reply.text();
    expect(reply.status, text).to.equal(status);
    expect(reply.headers.get('content-type')).to.equal('application/problem+json');
    return text;
  }

  it('answers malformed JSON and malformed paths itself, from the first request on', async () => {
    const framework = await startFramework(settings());
    child = framework.process;
    const authorization = `Bearer ${await issuer.token('alice@example.com')}`;
    const post = () =>
      fetch(`${framework.url}/bootstraps`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: '{"options":',
      });
    expect(await expectProblem(await post(), 400)).to.contain('not valid JSON');
    await expectProblem(await fetch(`${framework.url}/bootstraps/%zz`), 404);
    await expectProblem(await fetch(`${framework.url}/favicon.ico`), 404);
    await expectProblem(await fetch(`${framework.url}/bootstraps`), 401);
    expect((await fetch(`${framework.url}/problems/not-found`)).status).to.equal(200);
  });

  it('tells nobody which settings it lacks', async () => {
    const framework = await startFramework({});
    child = framework.process;
    const text = await expectProblem(await fetch(`${framework.url}/bootstraps`), 500);
    expect(text).not.to.contain('PLINTH_');
  });
});
