/** The command line at functions that Google's front end guards: a stand-in for it over TLS, with a whole stack behind. */
import { request as ask, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { local } from '../../local/stack/deployment.js';
import { createStack, type Stack } from '../../local/stack/stack.js';
import { argsOf } from '../support/scene.js';
import { makeCertificate } from './certificate.js';
import { bootstrap, createSandbox, type Ran, type Sandbox } from './run-cli.js';

/**
 * As Cloud Run does where not everybody may invoke: one header's token is looked at, X-Serverless-Authorization before
 * Authorization, and what stands behind gets that one without its signature.
 * https://docs.cloud.google.com/run/docs/authenticating/service-to-service
 */
function guarding({ url, record }: Stack) {
  const keys = createRemoteJWKSet(new URL(`${record.issuerUrl}/.well-known/jwks.json`));
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const refuse = (status: number) => void response.writeHead(status, { 'content-type': 'text/html' }).end('<h1>');
    const looked = 'x-serverless-authorization' in request.headers ? 'x-serverless-authorization' : 'authorization';
    const token = /^Bearer (\S+)$/i.exec(String(request.headers[looked]))?.[1];
    if (token === undefined) return refuse(403);
    try {
      await jwtVerify(token, keys, { issuer: record.issuerUrl, audience: local.oauthClient });
    } catch {
      return refuse(401);
    }
    const unsigned = `Bearer ${token.replace(/[^.]+$/, 'SIGNATURE_REMOVED_BY_GOOGLE')}`;
    const { method, headers } = request;
    const onward = ask(`${url}${request.url}`, { method, headers: { ...headers, [looked]: unsigned } });
    onward.on('response', (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(response);
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  };
}

describe('the command line at a front end that asks for tokens itself', function () {
  this.timeout(60_000);
  let stack: Stack;
  let sandbox: Sandbox;
  let front: Server;
  before(async () => {
    stack = await createStack();
    sandbox = createSandbox();
    const { key, cert, file } = await makeCertificate(sandbox.folder);
    front = createServer({ key, cert }, guarding(stack));
    await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
    sandbox.env = {
      ...sandbox.env,
      PLINTH_ENDPOINT: `https://localhost:${(front.address() as AddressInfo).port}`,
      NODE_EXTRA_CA_CERTS: file,
      PLINTH_TOKEN: '',
      PLINTH_ISSUER: stack.record.issuerUrl,
      PLINTH_OAUTH_CLIENT_ID: local.oauthClient,
    };
  });
  after(async () => {
    front?.closeAllConnections();
    front?.close();
    sandbox?.remove();
    await stack?.close();
  });
  /** Node reads of its environment which authorities it trusts, once, as the process starts. */
  const run = (...args: Parameters<Sandbox['run']>) => sandbox.spawn(...args).ended;
  const well = ({ code, stdout, stderr }: Ran): string => {
    expect(code, stdout + stderr).to.equal(0);
    return stdout;
  };

  it('is refused with a token of nobody', async () => {
    const { code, stderr } = await run(['org', 'list'], { PLINTH_TOKEN: 'a.b.c' });
    expect(code, stderr).to.equal(3);
  });

  it('logs in, changes and lists at both APIs, and follows a bootstrap to its end', async () => {
    const started = sandbox.spawn(['login']);
    await started.saw(/code_challenge\S+/);
    const address = new URL(/https?:\S+code_challenge\S+/.exec(started.text())?.[0] ?? '');
    address.searchParams.set('email', 'alice@example.com');
    await fetch(address);
    expect(well(await started.ended)).to.include('Logged in as alice@example.com.');
    well(await run(['org', 'create', 'acme']));
    expect(well(await run(['org', 'list']))).to.include('acme');
    const stdout = well(
      await run([...bootstrap, '--json', ...argsOf('guarded')], { PLINTH_FORGE1_APP_CLIENT_SECRET: 'secret' }),
    );
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(events.filter(({ type, state }) => type === 'instance' && state === 'done')).to.not.have.lengthOf(0);
    expect(events.at(-1)).to.include({ type: 'result', exitCode: 0 });
    expect(well(await run([...bootstrap, 'list']))).to.include('guarded');
  });

  it('is found in order by doctor', async () => {
    const stdout = well(await run(['doctor']));
    for (const api of ['bootstrap', 'organization'])
      expect(stdout).to.match(new RegExp(`ok +token at the ${api} API `));
  });
});
