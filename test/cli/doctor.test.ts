/** `plinth doctor` at a whole stack, at services that are not as they should be, and on computers that are not. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { createStack, type Stack } from '../../local/stack/stack.js';
import { version, versionHeader } from '../../shared/version.js';
import { makeCertificate } from './certificate.js';
import { createSandbox, type Ran, type Sandbox } from './run-cli.js';

interface Check {
  readonly name: string;
  readonly state: string;
  readonly detail: string;
  readonly advice?: string;
}

describe('plinth doctor', function () {
  this.timeout(60_000);
  let stack: Stack;
  let sandbox: Sandbox;
  const servers: Server[] = [];
  before(async () => {
    stack = await createStack();
  });
  after(() => stack?.close());
  beforeEach(() => {
    sandbox = createSandbox(stack.url);
  });
  afterEach(() => {
    sandbox.remove();
    for (const server of servers.splice(0)) server.close();
  });

  const as = async (email: string) => ({ PLINTH_TOKEN: (await stack.tokens(email)).idToken });
  const checksOf = ({ stdout }: Ran): Check[] => JSON.parse(stdout).checks;
  const examine = async (
    env: Readonly<Record<string, string>>,
    run = sandbox.run,
  ): Promise<{ code: number | null; of: (name: string) => Check }> => {
    const ran = await run(['doctor', '--json'], env);
    const checks = checksOf(ran);
    return {
      code: ran.code,
      of(name) {
        const found = checks.find((check) => check.name === name);
        if (found === undefined) throw new Error(`no ${name} in ${ran.stdout}`);
        return found;
      },
    };
  };
  /** For what Node and Google's library read of the environment of their process. */
  const asProcess = (...args: Parameters<Sandbox['run']>) => sandbox.spawn(...args).ended;
  const serve = async (listener: RequestListener): Promise<string> => {
    const server = createServer(listener);
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  /** What a plinth answers to who bears no token, with such headers. */
  const refusing =
    (headers: Readonly<Record<string, string>>): RequestListener =>
    (_, response) => {
      const body = JSON.stringify({ code: 'unauthenticated', detail: 'The request bears no token.' });
      response.writeHead(401, { 'content-type': 'application/problem+json', [versionHeader]: version, ...headers });
      response.end(body);
    };

  it('finds everything in order, says who is calling, shows no token, and asks for none of IAP where VMs have public addresses', async () => {
    // No gcloud of this computer is asked.
    const env = { ...(await as('alice@example.com')), PATH: sandbox.folder };
    const { code, stdout, stderr } = await sandbox.run(['doctor'], env);
    expect(code, stdout + stderr).to.equal(0);
    expect(stdout)
      .to.match(/ok +bootstrap API +http\S+ answers/)
      .and.match(/ok +organization API /)
      .and.match(/ok +versions +\S+ here and there/)
      .and.match(/ok +clock +agrees/)
      .and.match(/ok +token at the bootstrap API +accepted, alice@example\.com/)
      .and.match(/ok +token at the organization API +accepted/)
      .and.match(/ok +role +may bootstrap/)
      .and.match(/ok +quota +0 of \d+ bootstraps/);
    expect(stdout + stderr).to.not.include(env.PLINTH_TOKEN);
    const { stdout: asJson } = await sandbox.run(['doctor', '--json'], env);
    expect(asJson).to.not.include('access token for IAP');
  });

  it('tells an operator, and somebody who may not bootstrap', async () => {
    expect((await examine(await as('admin@example.com'))).of('role')).to.include({ state: 'ok', detail: 'operator' });
    const stranger = await examine(await as('stranger@elsewhere.org'));
    expect(stranger.code).to.equal(0);
    expect(stranger.of('role')).to.include({ state: 'warning' });
    expect(stranger.of('role').advice).to.include('operator');
  });

  it('says that a token is refused and why, and what to do', async () => {
    const { code, of } = await examine({});
    expect(code).to.equal(3);
    for (const api of ['bootstrap', 'organization']) {
      const check = of(`token at the ${api} API`);
      expect(check).to.include({ state: 'failed' });
      expect(check.detail).to.match(/token/);
      expect(check.advice).to.include('plinth login');
    }
  });

  it('says that nobody is logged in', async () => {
    const { code, of } = await examine(
      { PLINTH_TOKEN: '', GOOGLE_APPLICATION_CREDENTIALS: '/nowhere.json' },
      asProcess,
    );
    expect(code).to.equal(3);
    expect(of('credentials')).to.include({ state: 'failed' });
    expect(of('credentials').advice).to.include('plinth login');
  });

  it('ends with 6 where nobody answers, and goes on with the rest', async () => {
    const { code, of } = await examine({ PLINTH_ENDPOINT: 'http://127.0.0.1:29' });
    expect(code).to.equal(6);
    expect(of('bootstrap API')).to.include({ state: 'failed' });
    expect(of('bootstrap API').detail).to.match(/cannot be reached: ECONNREFUSED/);
    expect(of('token at the bootstrap API').state).to.equal('skipped');
    expect(of('SSH key').state).to.not.equal('skipped');
  });

  it('knows plinth from something else, and one API of it from the other', async () => {
    const stranger = await serve((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'));
    expect((await examine({ PLINTH_ENDPOINT: stranger })).of('bootstrap API').detail).to.include('is not plinth');
    // The one half of the local origin, as its own function would answer.
    const other = await serve((_, response) => {
      response.writeHead(404, { 'content-type': 'application/problem+json', [versionHeader]: version });
      response.end(JSON.stringify({ code: 'not-found', detail: 'Nothing is served at this path.' }));
    });
    mkdirSync(sandbox.configFolder, { recursive: true });
    const file = join(sandbox.configFolder, 'config.yaml');
    writeFileSync(file, `endpoints:\n  bootstraps: ${stack.url}\n  api: ${other}\n`);
    const { code, of } = await examine({ ...(await as('alice@example.com')), PLINTH_ENDPOINT: '' });
    expect(code).to.equal(4);
    expect(of('bootstrap API').state).to.equal('ok');
    expect(of('organization API').detail).to.include('another API of plinth');
    expect(of('organization API').advice).to.include('plinth configure');
  });

  it('has a token for each endpoint, as those of service accounts are for one alone', async () => {
    const text = { 'metadata-flavor': 'Google', 'content-type': 'text/plain' };
    const metadata = await serve(({ url = '' }, response) => {
      const aud = new URL(url, 'http://metadata').searchParams.get('audience');
      const claims = { aud, exp: Math.floor(Date.now() / 1000) + 3600 };
      response.writeHead(200, text).end(`h.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.s`);
    });
    /** Takes what was made for itself. */
    const strict: RequestListener = (request, response) => {
      const { host, authorization = '' } = request.headers;
      const claims = Buffer.from(authorization.split('.')[1] ?? '', 'base64url').toString() || '{}';
      if ((JSON.parse(claims) as { aud?: string }).aud !== `http://${host}`) return refusing({})(request, response);
      response.writeHead(200, { 'content-type': 'application/json', [versionHeader]: version }).end('{}');
    };
    const [bootstraps, api] = [await serve(strict), await serve(strict)];
    mkdirSync(sandbox.configFolder, { recursive: true });
    const file = join(sandbox.configFolder, 'config.yaml');
    writeFileSync(file, `endpoints:\n  bootstraps: ${bootstraps}\n  api: ${api}\n`);
    const env = {
      PLINTH_ENDPOINT: '',
      PLINTH_TOKEN: '',
      GCE_METADATA_HOST: new URL(metadata).host,
      METADATA_SERVER_DETECTION: 'assume-present',
    };
    const { of } = await examine(env, asProcess);
    expect(of('credentials').detail).to.equal('Application Default Credentials');
    for (const name of ['bootstrap', 'organization']) {
      expect(of(`token at the ${name} API`)).to.include({ state: 'ok' });
    }
  });

  it('compares versions and clocks', async () => {
    const late = new Date(Date.now() - 90_000).toUTCString();
    const { of } = await examine({ PLINTH_ENDPOINT: await serve(refusing({ [versionHeader]: '2.9.1', date: late })) });
    expect(of('versions')).to.include({ state: 'warning' });
    expect(of('versions').detail).to.equal(`${version} here, 2.9.1 there`);
    expect(of('versions').advice).to.include('Use plinth 2.9.1 here');
    expect(of('clock')).to.include({ state: 'warning' });
    expect(of('clock').detail).to.match(/^(?:89|9[0-2]) s ahead of the service$/);
    const ahead = new Date(Date.now() + 900_000).toUTCString();
    const far = await examine({ PLINTH_ENDPOINT: await serve(refusing({ date: ahead })) });
    expect(far.of('clock')).to.include({ state: 'failed' });
    expect(far.of('clock').detail).to.match(/s behind the service/);
  });

  it('looks at the certificate', async () => {
    const { key, cert, file } = await makeCertificate(sandbox.folder);
    const server = createTlsServer({ key, cert }, refusing({}));
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const env = { PLINTH_ENDPOINT: `https://localhost:${port}` };
    const unknown = await examine(env);
    expect(unknown.code).to.equal(6);
    expect(unknown.of(`TLS of localhost:${port}`)).to.include({ state: 'failed' });
    expect(unknown.of(`TLS of localhost:${port}`).advice).to.include('NODE_EXTRA_CA_CERTS');
    const trusted = await examine({ ...env, NODE_EXTRA_CA_CERTS: file }, asProcess);
    expect(trusted.of(`TLS of localhost:${port}`)).to.include({ state: 'ok' });
    expect(trusted.of(`TLS of localhost:${port}`).detail).to.match(
      /^TLSv1\.3, certificate good until \d{4}-\d\d-\d\d \d\d:\d\d UTC$/,
    );
    expect(trusted.of('bootstrap API').state).to.equal('ok');
  });

  it('looks at config file, settings, SSH client and key', async () => {
    mkdirSync(sandbox.configFolder, { recursive: true });
    const file = join(sandbox.configFolder, 'config.yaml');
    writeFileSync(file, 'oauth:\n  clientId: c\n  clientSecret: planted-secret\n');
    chmodSync(file, 0o644);
    const open = await sandbox.run(['doctor', '--json'], { PATH: '', PLINTH_SSH_PROXY: 'proxy' });
    expect(open.code).to.equal(2);
    expect(open.stdout + open.stderr).to.not.include('planted-secret');
    const of = (name: string) => checksOf(open).find((check) => check.name === name);
    expect(of('config file')).to.deep.include({ state: 'warning', advice: `chmod 600 ${file}` });
    expect(of('settings')).to.include({ state: 'failed' });
    expect(of('SSH client')).to.include({ state: 'warning' });
    // The sandbox has a public half alone.
    expect(of('SSH key')).to.include({ state: 'warning' });
    writeFileSync(file, 'endpoints: [');
    const broken = await examine({});
    expect(broken.of('config file')).to.include({ state: 'failed' });
  });
});
