/** `plinth beta dial --iap` as a process: what it carries through the simulated tunnel, and whose access token it brings. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { zone } from '../local-cloud/furnished.js';
import { owner, project, stranger } from '../local-cloud/ready-cloud.js';
import { type IapWorld, iapWorld } from '../remote/iap-world.js';
import { cliPath } from '../support/plinth-here.js';
import { playBrokenGcloud, playGcloud, playOtherGcloud } from './played-gcloud.js';
import { createSandbox, type Sandbox } from './run-cli.js';

const place = `${project}/${zone}`;
const words = ['beta', 'dial', '--iap', place, 'jumpbox', '22'];

describe('plinth beta dial --iap', function () {
  this.timeout(30_000);
  let world: IapWorld;
  let sandbox: Sandbox;
  before(async () => {
    world = await iapWorld();
  });
  beforeEach(() => {
    sandbox = createSandbox();
  });
  afterEach(() => {
    world.cloud.tunnel.forget();
    sandbox.remove();
  });
  after(() => world?.close());

  /** No gcloud of this computer is asked. */
  const environment = (more: Readonly<Record<string, string>>) => ({
    PATH: sandbox.folder,
    HOME: sandbox.home,
    PLINTH_IAP_TUNNEL_URL: world.cloud.tunnel.url,
    METADATA_SERVER_DETECTION: 'none',
    ...more,
  });
  const start = (env: Readonly<Record<string, string>>, args = words): ChildProcessWithoutNullStreams =>
    spawn(process.execPath, [cliPath, ...args], { cwd: sandbox.folder, env: environment(env) });
  const ended = async (child: ChildProcessWithoutNullStreams) => {
    child.stdin.on('error', () => undefined).end();
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    if (child.exitCode === null) await once(child, 'close');
    return { code: child.exitCode, stdout, stderr };
  };
  const vmEnd = async (count: number): Promise<Duplex> => {
    for (let tries = 0; world.vmEnds.length <= count && tries < 1000; tries += 1) await sleep(10);
    const end = world.vmEnds[count];
    if (end === undefined) throw new Error('nothing reached the VM');
    return end;
  };
  /** Both ways, and to the end. */
  async function carries(
    child: ChildProcessWithoutNullStreams,
    count: number,
    meanwhile = async () => undefined as unknown,
  ) {
    const vm = await vmEnd(count);
    child.stdin.write('hello');
    expect(String((await once(vm, 'data'))[0])).to.equal('hello');
    await meanwhile();
    child.stdin.write('again');
    expect(String((await once(vm, 'data'))[0])).to.equal('again');
    vm.end('bye');
    const ran = await ended(child);
    expect(ran, ran.stderr).to.deep.equal({ code: 0, stdout: 'bye', stderr: '' });
  }

  const gcloud = (...tokens: readonly string[]) => playGcloud(sandbox.folder, owner, tokens);

  it('carries both ways with the token in PLINTH_ACCESS_TOKEN, and asks no gcloud', async () => {
    const asked = gcloud('ya29.other');
    const count = world.vmEnds.length;
    await carries(start({ PLINTH_ACCESS_TOKEN: world.cloud.identity.accessToken(owner) }), count);
    expect(asked()).to.deep.equal([]);
  });

  it('takes the token of gcloud, and asks it once', async () => {
    const asked = gcloud(world.cloud.identity.accessToken(owner));
    const count = world.vmEnds.length;
    await carries(start({}), count, async () => world.cloud.tunnel.cut());
    expect(asked()).to.deep.equal(['config config-helper --format=json --min-expiry=10m']);
  });

  it('has gcloud renew a token that Google refuses, also while the connection lives', async () => {
    const { identity, tunnel } = world.cloud;
    const asked = gcloud(identity.accessToken(owner, -1), identity.accessToken(owner), identity.accessToken(owner));
    const count = world.vmEnds.length;
    await carries(start({}), count, async () => tunnel.cut('reauthenticate'));
    const renew = 'config config-helper --format=json --force-auth-refresh';
    expect(asked().slice(1)).to.deep.equal([renew, renew]);
  });

  it('takes the token of Application Default Credentials where there is no gcloud', async () => {
    const token = { access_token: world.cloud.identity.accessToken(owner), expires_in: 3599, token_type: 'Bearer' };
    const metadata = createServer(({ url = '' }, response) => {
      const type = url.includes('/token') ? 'application/json' : 'application/text';
      response.writeHead(200, { 'metadata-flavor': 'Google', 'content-type': type });
      response.end(url.includes('/token') ? JSON.stringify(token) : project);
    });
    await once(metadata.listen(0, '127.0.0.1'), 'listening');
    const { port } = metadata.address() as AddressInfo;
    const count = world.vmEnds.length;
    const env = { GCE_METADATA_HOST: `127.0.0.1:${port}`, METADATA_SERVER_DETECTION: 'assume-present' };
    await carries(start(env), count);
    metadata.close();
  });

  it('says what to run where there is no token, with why', async () => {
    const none = await ended(start({}));
    expect(none.code).to.equal(3);
    expect(none.stderr).to.include('gcloud is not on the PATH').and.include('gcloud auth login');
    expect(none.stderr).to.include('PLINTH_ACCESS_TOKEN');
    playBrokenGcloud(
      sandbox.folder,
      'ERROR: (gcloud.config.config-helper) You do not currently have an active account selected.\nPlease run:\n',
    );
    const loggedOut = await ended(start({}));
    expect(loggedOut.code).to.equal(3);
    expect(loggedOut.stderr).to.include('gcloud says: You do not currently have an active account selected;');
    expect(loggedOut.stderr).to.include('“gcloud auth login”');
  });

  it('shows no token of a gcloud that answers in another form', async () => {
    playOtherGcloud(sandbox.folder, '{"access_token":"ya29.planted"}');
    const { code, stdout, stderr } = await ended(start({}));
    expect(code).to.equal(3);
    expect(stdout + stderr)
      .to.include('answers in another form')
      .and.not.include('planted');
  });

  it('says that a token in PLINTH_ACCESS_TOKEN is refused, or is none', async () => {
    const refused = await ended(start({ PLINTH_ACCESS_TOKEN: 'ya29.planted' }));
    expect(refused.code).to.equal(3);
    expect(refused.stderr).to.include('refuses the token in PLINTH_ACCESS_TOKEN').and.include('gcloud auth login');
    const broken = await ended(start({ PLINTH_ACCESS_TOKEN: 'ya29.planted\nline' }));
    expect(broken.code).to.equal(3);
    expect(broken.stderr).to.include('PLINTH_ACCESS_TOKEN holds a character');
    expect(refused.stderr + broken.stderr).to.not.include('planted');
  });

  it('says who may not, and who gives them what', async () => {
    const { code, stderr } = await ended(start({ PLINTH_ACCESS_TOKEN: world.cloud.identity.accessToken(stranger) }));
    expect(code).to.equal(3);
    expect(stderr).to.include('IAP does not let the caller connect').and.include('roles/iap.tunnelResourceAccessor');
  });

  const wrong: readonly [
    title: string,
    args: readonly string[],
    env: Record<string, string>,
    said: readonly string[],
  ][] = [
    ['a place without a zone', ['--iap', project, 'jumpbox', '22'], {}, ['--iap must be <project>/<zone>']],
    ['an address in place of a name', ['--iap', place, '10.1.2.3', '22'], {}, ['<address> must be the name of a VM']],
    ['all of it at once', ['--iap', 'x', 'Jumpbox', 'ssh'], {}, ['--iap must', '<address> must', '<port> must']],
    [
      'a tunnel that is not encrypted',
      ['--iap', place, 'jumpbox', '22'],
      { PLINTH_IAP_TUNNEL_URL: 'ws://tunnel.example.com/v4' },
      ['PLINTH_IAP_TUNNEL_URL must be a wss URL'],
    ],
  ];
  for (const [title, args, env, said] of wrong) {
    it(`refuses ${title}`, async () => {
      const { code, stderr } = await ended(start({ PLINTH_ACCESS_TOKEN: 'ya29.x', ...env }, ['beta', 'dial', ...args]));
      expect(code, stderr).to.equal(2);
      for (const each of said) expect(stderr).to.include(each);
    });
  }
});
