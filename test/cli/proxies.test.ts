/** The command line in a network that only a proxy leads out of: which way it takes, and what it says where there is none. */
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { agentFor, send } from '../../cli/network/send.js';
import { createStack, type Stack } from '../../local/stack/stack.js';
import { zone } from '../local-cloud/furnished.js';
import { owner, project } from '../local-cloud/ready-cloud.js';
import { iapWorld } from '../remote/iap-world.js';
import { startCollector } from '../support/collector.js';
import { type ForwardProxy, startForwardProxy, startMute, startTlsFront } from '../support/company-network.js';
import { argsOf } from '../support/scene.js';
import { makeCertificate } from './certificate.js';
import { bootstrap, createSandbox, type Sandbox } from './run-cli.js';

const host = 'plinth.example';
const endpoint = `https://${host}`;
const [user, password] = ['robot-in-chief', 'planted word/1'];
const away = 'http://127.0.0.1:9';

describe('the command line behind a proxy', function () {
  this.timeout(60_000);
  let stack: Stack;
  let sandbox: Sandbox;
  let authority: string;
  let certificate: { key: string; cert: string };
  const closing: (() => Promise<unknown>)[] = [];
  before(async () => {
    stack = await createStack();
    sandbox = createSandbox();
    const { file, ...made } = await makeCertificate(sandbox.folder, host);
    [authority, certificate] = [file, made];
  });
  beforeEach(async () => {
    const { idToken } = await stack.tokens('alice@example.com');
    sandbox.env = { ...sandbox.env, PLINTH_TOKEN: idToken, PLINTH_ENDPOINT: endpoint };
  });
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });
  after(async () => {
    sandbox?.remove();
    await stack?.close();
  });

  const during = <T extends { close(): Promise<unknown> }>(made: T): T => {
    closing.push(() => made.close());
    return made;
  };
  /** A proxy that leads to these ports, by what stands behind the host's name: `https` and its port. */
  async function proxyTo(behind: Readonly<Record<string, number>>): Promise<ForwardProxy> {
    const leadsTo: Record<string, number> = {};
    for (const [port, to] of Object.entries(behind)) {
      leadsTo[`${host}:${port}`] = during(await startTlsFront(certificate, to)).port;
    }
    return during(await startForwardProxy({ leadsTo, wants: `${user}:${password}` }));
  }
  const portOf = (url: string): number => Number(new URL(url).port);
  /** Node reads the authorities that it trusts once, as the process starts. */
  const spawn = (args: readonly string[], env: Readonly<Record<string, string>>) =>
    sandbox.spawn(args, { NODE_EXTRA_CA_CERTS: authority, METADATA_SERVER_DETECTION: 'none', ...env }).ended;
  const shows = (text: string): void => {
    for (const secret of [user, password, encodeURIComponent(password)]) expect(text).to.not.include(secret);
  };

  it('calls plinth and sends traces through it, by a CA of the company, and shows none of its credentials', async () => {
    const collector = during(await startCollector());
    const proxy = await proxyTo({ 443: portOf(stack.url), 4318: portOf(collector.url) });
    const traces = { OTEL_EXPORTER_OTLP_ENDPOINT: `${endpoint}:4318` };
    const env = { HTTPS_PROXY: proxy.url, PLINTH_FORGE1_APP_CLIENT_SECRET: 'app-secret', ...traces };
    const made = await spawn([...bootstrap, '--verbose', '--check', ...argsOf('behind-a-proxy')], env);
    expect(made.code, made.stdout + made.stderr).to.equal(0);
    expect(new Set(proxy.asked)).to.deep.equal(new Set([`CONNECT ${host}:443`, `CONNECT ${host}:4318`]));
    expect(collector.spans.map(({ service }) => service)).to.include('plinth');
    shows(made.stdout + made.stderr);
  });

  it('passes a stream on as it comes, and ends it with its caller', async () => {
    let came: IncomingMessage | undefined;
    const server = createServer((asked, response) => {
      came = asked;
      response.writeHead(200, { 'set-cookie': ['a=1', 'b=2'] }).write('first');
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    closing.push(async () => server.close());
    const env = { HTTP_PROXY: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
    const stop = new AbortController();
    const sending = {
      method: 'POST',
      body: new URLSearchParams({ a: 'b' }),
      redirect: 'error',
      signal: stop.signal,
    } as const;
    const response = await send(env, 'http://stream.example/events?x=1', sending);
    expect(response.headers.getSetCookie()).to.deep.equal(['a=1', 'b=2']);
    const reader = response.body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).to.equal('first');
    const { url, method, headers, socket } = came ?? expect.fail('nothing came');
    expect([method, url, headers.host, headers['content-type']]).to.deep.equal([
      'POST',
      'http://stream.example/events?x=1',
      'stream.example',
      'application/x-www-form-urlencoded;charset=UTF-8',
    ]);
    const ended = once(socket, 'close');
    stop.abort(new Error('enough'));
    expect(await reader?.read().catch(({ message }: Error) => message)).to.equal('enough');
    await ended;
  });

  it('keeps a connection for the next request, and not for long where nobody uses it', async () => {
    const server = createServer((_, response) => response.end('answered'));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    closing.push(async () => server.close());
    const leadsTo = { 'kept.example:80': (server.address() as AddressInfo).port };
    const proxy = during(await startForwardProxy({ leadsTo }));
    const agent = await agentFor({ HTTPS_PROXY: proxy.url }, 'https://kept.example');
    if (agent === undefined) throw new Error('no agent');
    const use = async (): Promise<Socket> => {
      const freed = once(agent, 'free');
      const [answer] = (await once(request('http://kept.example', { agent }).end(), 'response')) as [IncomingMessage];
      expect(await text(answer)).to.equal('answered');
      return ((await freed) as [Socket])[0];
    };
    const kept = await use();
    expect(await use()).to.equal(kept);
    // Node ends a socket that is idle for this time.
    expect(kept.timeout).to.equal(4000);
  });

  it('says what to do where the certificate is signed by a company that this computer does not know', async () => {
    const proxy = await proxyTo({ 443: portOf(stack.url) });
    const { code, stderr } = await sandbox.run([...bootstrap, 'list'], { HTTPS_PROXY: proxy.url });
    expect(code).to.equal(6);
    expect(stderr)
      .to.match(/SELF_SIGNED|UNABLE_TO/)
      .and.include('NODE_EXTRA_CA_CERTS');
  });

  it('renews a login, and opens tunnels of IAP, on the same way', async () => {
    const idToken = `h.${Buffer.from(JSON.stringify({ exp: 9_999_999_999 })).toString('base64url')}.s`;
    const issuer = `https://${host}:8443`;
    const provider = createServer(({ url }, response) => {
      const endpoints = { authorization_endpoint: `${issuer}/a`, token_endpoint: `${issuer}/t` };
      response.end(JSON.stringify(url === '/t' ? { id_token: idToken } : { issuer, ...endpoints }));
    });
    await once(provider.listen(0, '127.0.0.1'), 'listening');
    closing.push(async () => provider.close());
    const world = during(await iapWorld());
    const proxy = await proxyTo({ 8443: (provider.address() as AddressInfo).port, 9443: world.cloud.tunnel.port });
    mkdirSync(sandbox.configFolder, { recursive: true, mode: 0o700 });
    const login = {
      schema: 1,
      issuer,
      clientId: 'client',
      email: owner,
      refreshToken: 'refresh-token',
      idToken: 'h.e30.s',
    };
    writeFileSync(join(sandbox.configFolder, 'credentials.json'), JSON.stringify(login), { mode: 0o600 });
    const token = await spawn(['token'], { HTTPS_PROXY: proxy.url, PLINTH_TOKEN: '' });
    expect(token.stdout, token.stderr).to.equal(`${idToken}\n`);

    const dialed = spawn(['beta', 'dial', '--iap', `${project}/${zone}`, 'jumpbox', '22'], {
      HTTPS_PROXY: proxy.url,
      PLINTH_IAP_TUNNEL_URL: `wss://${host}:9443/v4`,
      PLINTH_ACCESS_TOKEN: world.cloud.identity.accessToken(owner),
    });
    expect(await dialed).to.deep.equal({ code: 0, stdout: '', stderr: '' });
    expect(world.vmEnds).to.have.length(1);
    expect(new Set(proxy.asked)).to.deep.equal(new Set([`CONNECT ${host}:8443`, `CONNECT ${host}:9443`]));
  });

  it('reaches this computer directly, whatever the variables say', async () => {
    const env = { HTTPS_PROXY: away, HTTP_PROXY: away, http_proxy: away, PLINTH_ENDPOINT: stack.url };
    const { code, stderr } = await sandbox.run([...bootstrap, 'list'], env);
    expect(code, stderr).to.equal(0);
  });

  it('shows in doctor which way it takes, without the credentials', async () => {
    const proxy = await proxyTo({ 443: portOf(stack.url) });
    const { stdout } = await spawn(['doctor', '--json'], { https_proxy: proxy.url });
    const { checks } = JSON.parse(stdout) as { checks: { name: string; state: string; detail: string }[] };
    const of = (name: string) => checks.find((check) => check.name === name);
    const shown = new URL(proxy.url).host;
    expect(of('proxy')).to.include({
      state: 'ok',
      detail: `${host} through http://${shown}, as https_proxy says`,
    });
    expect(of('bootstrap API')).to.include({ state: 'ok' });
    expect(of(`TLS of ${host}`)).to.include({ state: 'ok' });
    shows(stdout);
    // Two APIs, each asked with and without a token, and the certificate: connections are kept between them.
    expect(proxy.asked.length).to.be.below(5);
    const direct = await sandbox.run(['doctor', '--json'], { HTTPS_PROXY: proxy.url, NO_PROXY: '.example' });
    expect(direct.stdout).to.include(`${host} directly, as NO_PROXY says`);
  });

  const troubles: readonly { readonly name: string; readonly url: () => Promise<string>; readonly says: RegExp }[] = [
    {
      name: 'wants credentials',
      url: async () => during(await startForwardProxy({ refusesWith: 407 })).url.replace('//', `//${user}:wrong-word@`),
      says: /HTTPS_PROXY.* 407 .*user and password/s,
    },
    {
      name: 'forbids the host',
      url: async () => during(await startForwardProxy({ refusesWith: 403 })).url,
      says: /HTTPS_PROXY.* 403 .*NO_PROXY/s,
    },
    {
      name: 'is no proxy',
      url: async () => `http://127.0.0.1:${during(await startMute('SSH-2.0-OpenSSH_9.2\r\n\r\n')).port}`,
      says: /HTTPS_PROXY.* does not speak HTTP/s,
    },
    {
      name: 'is of a kind that is not spoken',
      url: async () => 'socks5://a:word-of-socks@proxy.example:1080',
      says: /HTTPS_PROXY must be http/,
    },
    {
      name: 'is not known',
      url: async () => 'http://nowhere.invalid:3128',
      says: /HTTPS_PROXY.* (ENOTFOUND|EAI_AGAIN)/s,
    },
  ];
  for (const { name, url, says } of troubles) {
    it(`names the variable where the proxy ${name}, and tries no longer`, async () => {
      const { code, stderr } = await sandbox.run([...bootstrap, 'list'], { HTTPS_PROXY: await url() });
      expect([2, 6]).to.include(code);
      expect(stderr).to.match(says);
      shows(stderr);
      expect(stderr).to.not.include('wrong-word').and.not.include('word-of-socks');
    });
  }

  it('ends at Ctrl-C while a proxy says nothing', async () => {
    const mute = during(await startMute());
    const started = sandbox.spawn([...bootstrap, 'list'], { HTTPS_PROXY: `http://127.0.0.1:${mute.port}` });
    await Promise.race([mute.reached, started.ended]);
    started.interrupt();
    expect((await started.ended).code).to.equal(130);
  });
});
