/** `plinth beta bootstrap-cloud ssh` with OpenSSH's own client, to the machines of a bootstrap; and the config that it leaves for ssh -F. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { homeOf, runPlinth, startPlinth } from '../../local/demo/plinth-process.js';
import { needMachines } from '../support/machines.js';
import { cliPath } from '../support/plinth-here.js';
import { type Caller, makeScene, type Scene, succeeded } from '../support/scene.js';

describe('plinth beta bootstrap-cloud ssh', function () {
  this.timeout(240_000);
  let scene: Scene;
  let alice: Caller;

  before(async () => {
    needMachines();
    scene = await makeScene({ machines: 'embedded' });
    alice = await scene.caller();
    succeeded(await alice.bootstrap('reached'));
  });
  after(() => scene?.close());

  const ssh = (...args: string[]) => alice.env && runPlinth(['beta', 'bootstrap-cloud', 'ssh', ...args], alice);
  const configFolder = () => join(homeOf(alice.folder), '.config', 'plinth');

  it('runs commands on the jumpbox and through it on the nodes, each as who may log in there', async () => {
    expect(await ssh('reached', '--', 'hostname; whoami')).to.include({ exitCode: 0, stdout: 'jumpbox\nubuntu\n' });
    expect(await ssh('reached', 'k0s-2', '--', 'hostname;', 'whoami')).to.include({
      exitCode: 0,
      stdout: 'k0s-2\nroot\n',
    });
  });

  it('passes input, output and exit code on, and what looks like a flag of its own', async () => {
    expect(await ssh('reached', '--', 'exit 7')).to.include({ exitCode: 7 });
    expect((await ssh('reached', 'ceph-1', '--', 'echo', '--json', '--', '-v')).stdout).to.equal('--json -- -v\n');
    const cat = spawn(
      process.execPath,
      [cliPath, 'beta', 'bootstrap-cloud', 'ssh', 'reached', '--', 'cat; echo e >&2'],
      {
        env: { PATH: process.env['PATH'] ?? '', HOME: homeOf(alice.folder), ...alice.env },
      },
    );
    let [out, err] = ['', ''];
    cat.stdout.on('data', (text) => {
      out += text;
    });
    cat.stderr.on('data', (text) => {
      err += text;
    });
    cat.stdin.end('line one\nline two\n');
    await once(cat, 'close');
    expect({ out, err, code: cat.exitCode }).to.deep.equal({ out: 'line one\nline two\n', err: 'e\n', code: 0 });
  });

  it('leaves a config for its owner alone, for ssh -F from any shell', async () => {
    const { stdout } = await ssh('reached', '--print-config');
    const path = stdout.trim();
    expect(path.startsWith(configFolder())).to.equal(true);
    expect(statSync(path).mode & 0o777).to.equal(0o600);
    const said = await promisify(execFile)('ssh', ['-F', path, 'postgres', 'hostname'], {
      env: { PATH: process.env['PATH'] ?? '', HOME: homeOf(alice.folder) },
    });
    expect(said.stdout).to.equal('postgres\n');
    expect(readFileSync(path, 'utf8')).to.include('StrictHostKeyChecking yes').and.to.include('ProxyJump jumpbox');
  });

  it('refuses a machine that shows another host key than the one it published', async () => {
    const { stdout } = await ssh('reached', '--print-config');
    const known = join(stdout.trim(), '..', 'known_hosts');
    const lines = readFileSync(known, 'utf8').split('\n');
    const keyOf = (name: string) =>
      lines
        .find((line) => line.startsWith(`${name}.`))
        ?.split(' ')
        .slice(1)
        .join(' ') ?? '';
    writeFileSync(known, lines.map((line) => line.replace(keyOf('k0s-1'), keyOf('k0s-2'))).join('\n'));
    const run = promisify(execFile)('ssh', ['-F', stdout.trim(), 'k0s-1', 'true'], {
      env: { PATH: process.env['PATH'] ?? '', HOME: homeOf(alice.folder) },
    }).catch((error: { code: number; stderr: string }) => error);
    expect(await run)
      .to.include({ code: 255 })
      .and.to.have.property('stderr')
      .that.includes('Host key verification failed');
    // The next call writes it anew.
    expect((await ssh('reached', 'k0s-1', '--', 'hostname')).stdout).to.equal('k0s-1\n');
  });

  it('takes the key that ssh-agent holds', async () => {
    const own = join(configFolder(), 'ssh', 'id_ed25519');
    const agent = spawn('ssh-agent', ['-D', '-a', join(alice.folder, 'agent.sock')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(agent.stdout, 'data');
    const env = { ...process.env, SSH_AUTH_SOCK: join(alice.folder, 'agent.sock') };
    try {
      await promisify(execFile)('ssh-add', [own], { env });
      const other = await scene.caller('alice@example.com');
      const run = await runPlinth(['beta', 'bootstrap-cloud', 'ssh', 'reached', 'k0s-3', '--', 'hostname'], {
        folder: other.folder,
        env: { ...other.env, SSH_AUTH_SOCK: env.SSH_AUTH_SOCK },
      });
      expect(run, run.stderr).to.include({ exitCode: 0, stdout: 'k0s-3\n' });
    } finally {
      agent.kill();
    }
  });

  it('says what is wrong and what to do: no such machine, project or key, no ssh, a stray word', async () => {
    const strange = await ssh('reached', 'k0s-9');
    expect(strange.exitCode).to.equal(4);
    expect(strange.stderr).to.include('no machine "k0s-9"').and.to.include('jumpbox, postgres, ceph-1');
    expect(await ssh('nobody')).to.include({ exitCode: 4 });
    expect((await ssh('reached', 'jumpbox', 'uptime')).stderr).to.include('a command stands after --');

    const bob = await scene.caller('alice@example.com');
    const keyless = await runPlinth(['beta', 'bootstrap-cloud', 'ssh', 'reached'], bob);
    expect(keyless.exitCode).to.equal(2);
    expect(keyless.stderr).to.include('--ssh-private-key-path');

    const noSsh = join(alice.folder, 'empty');
    const without = await runPlinth(['beta', 'bootstrap-cloud', 'ssh', 'reached'], {
      folder: alice.folder,
      env: { ...alice.env, PATH: noSsh },
    });
    expect(without.exitCode).to.equal(2);
    expect(without.stderr).to.include('openssh-client');
  });

  it('leaves Ctrl-C to ssh, and ends with it when it is asked to', async () => {
    const { child, ended } = startPlinth(
      ['beta', 'bootstrap-cloud', 'ssh', 'reached', '--', 'echo on; sleep 100'],
      alice,
    );
    await once(child.stdout as NodeJS.ReadableStream, 'data');
    child.kill('SIGINT');
    child.kill('SIGINT');
    child.kill('SIGTERM');
    expect((await ended).exitCode).to.equal(255);
  });
});
