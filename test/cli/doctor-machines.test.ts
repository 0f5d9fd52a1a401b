/** `plinth doctor` where machines are reached through IAP: the access token, whose it is, and the way to a named jumpbox. */
import { join } from 'node:path';
import { expect } from 'chai';
import { createPair } from '../../local/machines/network/streams.js';
import { createStack, type Stack } from '../../local/stack/stack.js';
import { makeExecutable } from '../support/machines.js';
import { runAt } from '../support/plinth-here.js';
import { argsOf, type Caller, makeCaller, succeeded } from '../support/scene.js';
import { playBrokenGcloud, playGcloud } from './played-gcloud.js';
import { createSandbox, type Sandbox } from './run-cli.js';

interface Check {
  readonly name: string;
  readonly state: string;
  readonly detail: string;
  readonly advice?: string;
}

const alice = 'alice@example.com';
const tokenCheck = 'access token for IAP';

describe('plinth doctor, where machines are reached through IAP', function () {
  this.timeout(90_000);
  let stack: Stack;
  let caller: Caller;
  let sandbox: Sandbox;
  before(async () => {
    stack = await createStack({ settings: { PLINTH_MACHINE_ACCESS: 'iap' } });
    caller = await makeCaller(stack, alice);
    succeeded(await caller.bootstrap('faraway'));
  });
  after(() => stack?.close());
  beforeEach(() => {
    sandbox = createSandbox(stack.url);
    // No gcloud of this computer is asked.
    sandbox.env = { ...sandbox.env, PATH: sandbox.folder, PLINTH_IAP_TUNNEL_URL: stack.record.iapTunnelUrl };
  });
  afterEach(() => sandbox.remove());

  const examine = async (email: string, words: readonly string[] = [], env: Record<string, string> = {}) => {
    const { idToken } = await stack.tokens(email);
    const ran = await sandbox.run(['doctor', ...words, '--json'], { PLINTH_TOKEN: idToken, ...env });
    const { checks } = JSON.parse(ran.stdout) as { checks: readonly Check[] };
    return { ...ran, of: (name: string) => checks.find((check) => check.name === name) };
  };
  const tokenOf = async (email: string) => (await stack.tokens(email)).accessToken;

  it('says whose token gcloud has, and shows none', async () => {
    const token = await tokenOf(alice);
    playGcloud(sandbox.folder, 'Alice@example.com', [token]);
    const { of, stdout, stderr } = await examine(alice);
    expect(of(tokenCheck)).to.include({ state: 'ok', detail: 'of Alice@example.com, from gcloud' });
    expect(stdout + stderr).to.not.include(token);
  });

  it('warns where gcloud is somebody else than the caller, and names the command', async () => {
    playGcloud(sandbox.folder, 'bob@example.com', [await tokenOf('bob@example.com')]);
    const { of } = await examine(alice);
    expect(of(tokenCheck)).to.include({ state: 'warning' });
    expect(of(tokenCheck)?.detail).to.equal(`of bob@example.com, from gcloud; to plinth you are ${alice}`);
    expect(of(tokenCheck)?.advice).to.include(`gcloud config set account ${alice}`);
  });

  it('fails without a token, and then does not try the way', async () => {
    playBrokenGcloud(sandbox.folder, 'ERROR: (gcloud.config.config-helper) Reauthentication failed.');
    const { code, of } = await examine(alice, ['faraway']);
    expect(code).to.equal(3);
    expect(of(tokenCheck)).to.include({ state: 'failed' });
    expect(of(tokenCheck)?.detail).to.include('gcloud says: Reauthentication failed;');
    expect(of(tokenCheck)?.advice).to.include('gcloud auth login');
    expect(of('way to faraway')).to.include({ state: 'skipped' });
  });

  it('says why IAP leads to no jumpbox, and that it does', async () => {
    const { tunnel } = stack.cloudHalf?.cloud ?? {};
    const env = { PLINTH_ACCESS_TOKEN: await tokenOf(alice) };
    const closed = await examine(alice, ['faraway'], env);
    expect(closed.code, closed.stdout).to.equal(6);
    expect(closed.of(tokenCheck)).to.include({ state: 'ok' });
    expect(closed.of('way to faraway')).to.include({ state: 'failed' });
    expect(closed.of('way to faraway')?.detail).to.include('35.235.240.0/20');
    tunnel?.leadTo(async () => ({ kind: 'open', stream: createPair()[0] }));
    const open = await examine(alice, ['faraway'], env);
    expect(open.of('way to faraway')).to.include({ state: 'ok', detail: 'IAP leads to its jumpbox' });
    const stranger = await examine(alice, ['faraway'], { PLINTH_ACCESS_TOKEN: await tokenOf('bob@example.com') });
    expect(stranger.of('way to faraway')).to.include({ state: 'failed' });
    expect(stranger.of('way to faraway')?.advice).to.include('roles/iap.tunnelResourceAccessor');
  });

  it('a bootstrap that needs machines is refused without a token, before anything is made', async () => {
    const file = makeExecutable(join(caller.folder, 'own-plinth'), 1000);
    const { PLINTH_ACCESS_TOKEN: _, ...env } = caller.env;
    const args = [...argsOf('unmade', { 'remote-cli-binary': file })];
    const here = { ...caller, env: { ...env, PATH: sandbox.folder } };
    const refused = await runAt(['beta', 'bootstrap-cloud', ...args], here);
    expect(refused.exitCode, refused.stderr).to.equal(3);
    expect(refused.stderr).to.include('There is no Google access token for IAP').and.include('gcloud');
    expect((await caller.plinth('list')).stdout).to.not.include('unmade');
  });

  it('says that there is no such project', async () => {
    const { code, of } = await examine(alice, ['nothing']);
    expect(code).to.equal(4);
    expect(of('project')).to.include({ state: 'failed' });
  });
});
