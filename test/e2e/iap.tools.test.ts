/**
 * A bootstrap whose machines are reached through IAP alone: plinth's own commands, OpenSSH's programs and gcloud's ssh come to
 * a jumpbox that has no public address, and through it to a node.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { createServer, type Server } from 'node:tls';
import { expect } from 'chai';
import { homeOf, type PlinthRun, runPlinth } from '../../local/demo/plinth-process.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { sha256 } from '../../shared/sha256.js';
import { makeCertificate } from '../cli/certificate.js';
import { makeExecutable, needMachines } from '../support/machines.js';
import { startRoughRelay } from '../support/rough-relay.js';
import { type Caller, makeScene, type Scene, succeeded } from '../support/scene.js';

const megabytes = 6;

describe('where machines are reached through IAP', function () {
  this.timeout(300_000);
  let scene: Scene;
  let alice: Caller;
  let made: BootstrapView;
  let own: string;

  before(async () => {
    needMachines();
    scene = await makeScene({ machines: 'embedded', settings: { PLINTH_MACHINE_ACCESS: 'iap' } });
    alice = await scene.caller();
    own = makeExecutable(join(alice.folder, 'own-plinth'), 3_000_000);
    made = succeeded(await alice.bootstrap('hidden', { 'remote-cli-binary': own }));
  });
  after(() => scene?.close());

  const run = (program: string, args: readonly string[], env: Readonly<Record<string, string>>): Promise<PlinthRun> =>
    new Promise((resolve) => {
      const all = { PATH: process.env['PATH'] ?? '', HOME: homeOf(alice.folder), ...env };
      execFile(program, args, { env: all, timeout: 120_000 }, (error, stdout, stderr) =>
        resolve({ exitCode: error === null ? 0 : Number(error.code ?? -1), stdout, stderr }),
      );
    });
  const ssh = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    runPlinth(['beta', 'bootstrap-cloud', 'ssh', 'hidden', ...args], { ...alice, env: { ...alice.env, ...env } });

  it('no machine has a public address, and the caller’s file came through the tunnel', async () => {
    for (const vm of made.result.vms) expect(vm.externalIp, vm.name).to.equal(undefined);
    expect(scene.cloud.tunnel.list().length).to.be.above(0);
    const there = await ssh(['--', 'sha256sum', '/usr/local/bin/plinth']);
    expect(there.stdout, there.stderr).to.include(sha256(readFileSync(own)));
  });

  it('plinth’s ssh comes to the jumpbox, and through it to a node', async () => {
    expect(await ssh(['--', 'hostname; whoami'])).to.include({ exitCode: 0, stdout: 'jumpbox\nubuntu\n' });
    expect(await ssh(['k0s-1', '--', 'hostname; whoami'])).to.include({ exitCode: 0, stdout: 'k0s-1\nroot\n' });
  });

  it('takes the token of gcloud itself', async () => {
    const { PLINTH_ACCESS_TOKEN: _, ...env } = alice.env;
    const command = ['beta', 'bootstrap-cloud', 'ssh', 'hidden', '--', 'hostname'];
    const ran = await runPlinth(command, { folder: alice.folder, env });
    expect(ran, ran.stderr).to.include({ exitCode: 0, stdout: 'jumpbox\n' });
    const checked = await runPlinth(['doctor', 'hidden'], { folder: alice.folder, env });
    expect(checked.stdout, checked.stdout + checked.stderr)
      .to.match(/ok +access token for IAP +from gcloud/)
      .and.match(/ok +way to hidden +IAP leads to its jumpbox/);
    expect(checked.stdout + checked.stderr).to.not.include(alice.env['CLOUDSDK_AUTH_ACCESS_TOKEN']);
  });

  it('OpenSSH’s scp carries megabytes to a node and back through a relay that cuts and delays', async () => {
    const rough = { seed: 20, cutWithin: 1_500_000, mostCuts: 8, delayed: 0.02 };
    const relay = await startRoughRelay(scene.cloud.tunnel.port, rough);
    const printed = await ssh(['--print-config'], { PLINTH_IAP_TUNNEL_URL: `ws://127.0.0.1:${relay.port}/v4` });
    const config = printed.stdout.trim();
    expect(readFileSync(config, 'utf8')).to.not.include(alice.env['PLINTH_ACCESS_TOKEN']);
    const bytes = randomBytes(megabytes * 1024 * 1024);
    const [there, back] = [join(alice.folder, 'there'), join(alice.folder, 'back')];
    writeFileSync(there, bytes);
    // What plinth reads of the environment, ssh hands to the ProxyCommand.
    const { PLINTH_ACCESS_TOKEN = '' } = alice.env;
    const sent = await run('scp', ['-F', config, there, 'k0s-1:/root/carried'], { PLINTH_ACCESS_TOKEN });
    expect(sent.exitCode, sent.stderr).to.equal(0);
    const fetched = await run('scp', ['-F', config, 'k0s-1:/root/carried', back], { PLINTH_ACCESS_TOKEN });
    expect(fetched.exitCode, fetched.stderr).to.equal(0);
    expect(readFileSync(back).equals(bytes)).to.equal(true);
    expect(relay.cuts()).to.be.above(0);
    await relay.close();
  });

  it('says in ssh’s place what to run without a token', async () => {
    const { PLINTH_ACCESS_TOKEN: _, CLOUDSDK_AUTH_ACCESS_TOKEN: __, ...env } = alice.env;
    const command = ['beta', 'bootstrap-cloud', 'ssh', 'hidden', '--', 'hostname'];
    const { exitCode, stderr } = await runPlinth(command, { folder: alice.folder, env });
    expect(exitCode).to.equal(255);
    expect(stderr).to.include('There is no Google access token for IAP').and.include('gcloud auth login');
  });

  describe('gcloud', () => {
    let front: Server;
    let env: Record<string, string>;
    let flags: string[];
    before(async () => {
      // gcloud's client takes nothing but TLS.
      const { file, ...pair } = await makeCertificate(alice.folder);
      front = createServer(pair, (inner) => {
        const outer = connect(scene.cloud.tunnel.port, '127.0.0.1');
        for (const one of [inner, outer]) one.on('error', () => [inner, outer].map((each) => each.destroy()));
        inner.pipe(outer).pipe(inner);
      });
      await once(front.listen(0, '127.0.0.1'), 'listening');
      const url = `wss://localhost:${(front.address() as AddressInfo).port}/v4`;
      const home = join(alice.folder, 'gcloud-home');
      mkdirSync(home);
      env = {
        ...alice.env,
        HOME: home,
        CLOUDSDK_CORE_PROJECT: made.projectId,
        CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE: file,
        CLOUDSDK_CORE_DISABLE_USAGE_REPORTING: 'true',
        CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK: 'true',
      };
      flags = [`--zone=${made.zone}`, '--tunnel-through-iap', `--iap-tunnel-url-override=${url}`, '--quiet'];
    });
    after(() => front?.close());

    it('ssh comes to the jumpbox with the host key that it published, and through it to a node', async () => {
      const script = 'hostname; sudo ssh -o BatchMode=yes root@k0s-1 hostname';
      const args = ['ubuntu@jumpbox', '--strict-host-key-checking=yes', `--command=${script}`];
      const ran = await run('gcloud', ['compute', 'ssh', ...args, ...flags], env);
      expect(ran.exitCode, ran.stderr).to.equal(0);
      expect(ran.stdout).to.match(/^jumpbox\nk0s-1\n$/m);
    });
  });
});
