/** Simulated VMs as real hosts: OpenSSH's own server, systemd as first process, a network whose rules nft enforces, and nothing left of them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { JsonObject } from '../../local/cloud/kernel/api.js';
import { makeBase } from '../real-hosts/base.js';
import { realHosts } from '../real-hosts/index.js';
import { needMachines } from '../support/machines.js';
import { itKnowsItself } from './guest-identity.js';
import { type MachineWorld, makeMachineWorld, nat, routersPath } from './machine-world.js';

/** Whether anything on this computer runs `sleep` so long. */
const sleeps = (seconds: number): boolean =>
  readdirSync('/proc').some((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').endsWith(`sleep\0${seconds}\0`);
    } catch {
      return false;
    }
  });

async function until(what: () => boolean, seconds = 20): Promise<boolean> {
  for (const end = Date.now() + seconds * 1000; Date.now() < end; await sleep(50)) if (what()) return true;
  return what();
}

const groupsOf = (pid: number): string[] => {
  const [, folder = ''] = /^\S+ (\S+) cgroup2 /m.exec(readFileSync('/proc/mounts', 'utf8')) ?? [];
  return folder === '' ? [] : readdirSync(folder).filter((name) => name.startsWith(`plinth-${pid}-`));
};

describe('a real host', function () {
  this.timeout(600_000);
  let world: MachineWorld;
  before(async () => {
    needMachines(realHosts);
    await makeBase((note) => void process.stderr.write(`${note}\n`));
    world = await makeMachineWorld(['node-1', 'node-2'], realHosts);
  });
  after(() => world?.close());

  const said = async (login: string, command: string, options?: Parameters<MachineWorld['ssh']>[2]) => {
    const run = await world.ssh(login, command, options);
    expect(run.code, run.stderr).to.equal(0);
    return run.stdout.trim();
  };
  const impatient = { args: ['-o', 'ConnectTimeout=2'], timeoutSeconds: 4 };
  const dropped = async (login: string): Promise<boolean> => (await world.ssh(login, 'true', impatient)).code !== 0;
  const allowInternal = {
    name: 'allow-internal',
    network: 'global/networks/net',
    allowed: [{ IPProtocol: 'all' }],
    sourceRanges: ['10.10.0.0/20'],
  };

  it('is Debian with systemd and OpenSSH, and shows the host key that the VM published', async () => {
    expect(await said('ubuntu@jumpbox', 'hostname; id -un; cat /proc/1/comm; sudo id -u')).to.equal(
      'jumpbox\nubuntu\nsystemd\n0',
    );
    const state = 'systemctl is-system-running --wait; systemctl --failed --no-legend';
    expect(await said('root@node-1', state)).to.equal('running');
    expect(await said('root@node-1', 'ssh -V 2>&1; node --version')).to.match(/^OpenSSH_9.*\nv\d+/);
  });

  it('lets in whose key is in its metadata, as that is now', async () => {
    for (const [login, key] of [
      ['root@jumpbox', 'ours'],
      ['ubuntu@jumpbox', 'other'],
    ] as const) {
      const run = await world.ssh(login, 'true', { key });
      expect(run.stderr, login).to.contain('Permission denied (publickey)');
    }
    const set = async (key: 'ours' | 'other') => {
      const { metadata } = await world.vm('GET instances/node-2');
      const { fingerprint, items } = metadata as JsonObject;
      const others = (items as JsonObject[]).filter((item) => item['key'] !== 'ssh-keys');
      const keys = { key: 'ssh-keys', value: `root:${world.publicKey(key)}` };
      await world.vm('POST instances/node-2/setMetadata', { fingerprint, items: [...others, keys] });
    };
    await set('other');
    expect((await world.ssh('root@node-2', 'true')).stderr).to.contain('Permission denied');
    await set('ours');
    expect(await said('root@node-2', 'id -u')).to.equal('0');
  });

  it('has its startup script behind it, and settings of the kernel that are its own', async () => {
    await world.machines.settle();
    const seen = 'sysctl -n vm.max_map_count fs.inotify.max_user_watches; cat /etc/ssh/sshd_config.d/10-plinth.conf';
    expect(await said('root@node-1', seen)).to.equal('262144\n1048576\nPermitRootLogin prohibit-password');
    expect((await world.ssh('root@node-1', 'sysctl -w kernel.sysrq=1')).code).to.not.equal(0);
    expect(String((await world.vm('GET instances/node-1/serialPort'))['contents'])).to.contain(
      'startup-script exit status 0',
    );
  });

  it('knows its neighbours by name, and sees nothing of them nor of this computer', async () => {
    expect(await said('root@node-1', 'getent hosts node-2')).to.contain((await world.address('node-2')).internal);
    await said('root@node-1', 'echo mine > /root/secret');
    expect(await said('root@node-2', 'ls /root/secret /work 2>/dev/null; ip -brief link | wc -l')).to.equal('2');
    expect((await world.ssh('root@node-2', 'mknod /dev/vda b 254 0')).code).to.not.equal(0);
  });

  it('is reached as the firewall rules have it, by tags, ranges, ports and priorities', async () => {
    // From the world no rule lets anybody in but to the port of SSH, and to the jumpbox alone.
    await said(
      'root@node-1',
      'systemd-run --quiet --unit=web python3 -m http.server 8080; until ss -ltn | grep -q :8080; do sleep 0.1; done',
    );
    const web = `curl -s -o /dev/null -m 2 -w '%{http_code}' http://node-1:8080/ || true`;
    expect(await said('ubuntu@jumpbox', web)).to.equal('200');
    await world.global('DELETE firewalls/allow-internal');
    expect(await said('ubuntu@jumpbox', web)).to.equal('000');
    expect(await dropped('root@node-1')).to.equal(true);
    const name = 'from-jumpbox';
    const network = 'global/networks/net';
    const allowed = [{ IPProtocol: 'tcp', ports: ['22', '8000-8100'] }];
    await world.global('POST firewalls', { name: 'k8s-fw-a1', network, allowed, destinationRanges: ['34.1.1.1'] });
    expect(await said('ubuntu@jumpbox', web)).to.equal('000');
    await world.global('DELETE firewalls/k8s-fw-a1');
    await world.global('POST firewalls', { name, network, allowed, sourceTags: ['jumpbox'], targetTags: ['k0s'] });
    expect(await said('ubuntu@jumpbox', web)).to.equal('200');
    const denied = [{ IPProtocol: 'tcp', ports: ['8080'] }];
    const first = { name: 'not-web', network, denied, priority: 10, sourceRanges: ['0.0.0.0/0'] };
    await world.global('POST firewalls', first);
    expect(await said('ubuntu@jumpbox', web)).to.equal('000');
    expect(await said('root@node-1', 'echo in')).to.equal('in');
    await world.global('DELETE firewalls/not-web');
    expect(await said('root@node-2', web)).to.equal('000');
    await world.global('DELETE firewalls/from-jumpbox');
    await world.global('POST firewalls', allowInternal);
    expect(await said('root@node-2', web)).to.equal('200');
  });

  it('reaches what stands for the outside, until a rule closes the way out, or its NAT is gone', async () => {
    const outside = `curl -s -o /dev/null -m 2 -w '%{http_code}' ${world.cloud.frontUrl}/ || true`;
    expect(await said('root@node-1', outside)).to.match(/^[2-5]\d\d$/);
    await world.global('POST firewalls', {
      name: 'airgap',
      network: 'global/networks/net',
      direction: 'EGRESS',
      denied: [{ IPProtocol: 'all' }],
      destinationRanges: ['0.0.0.0/0'],
      priority: 900,
      targetTags: ['k0s'],
    });
    expect(await said('root@node-1', outside)).to.equal('000');
    expect(await said('ubuntu@jumpbox', outside)).to.match(/^[2-5]\d\d$/);
    await world.global('DELETE firewalls/airgap');
    expect(await said('root@node-1', outside)).to.match(/^[2-5]\d\d$/);
    const nats = async (all: readonly object[]) => {
      const { status, message } = await world.cloud.call('compute', `PATCH ${routersPath}/router`, { nats: all });
      expect(status, message).to.equal(200);
    };
    await nats([]);
    expect(await said('root@node-1', outside)).to.equal('000');
    expect(await said('ubuntu@jumpbox', outside)).to.match(/^[2-5]\d\d$/);
    await nats([nat]);
    expect(await said('root@node-1', outside)).to.match(/^[2-5]\d\d$/);
  });

  itKnowsItself(() => world);

  it('keeps disk and host key over a reset and a reboot of its own, and nothing that ran', async () => {
    const bootId = () => said('root@node-1', 'cat /proc/sys/kernel/random/boot_id');
    await said('root@node-1', 'echo kept > /root/file; sync; systemd-run --quiet --unit=long sleep 86411');
    let boot = await bootId();
    expect(sleeps(86411)).to.equal(true);
    await world.vm('POST instances/node-1/reset');
    await world.machines.settle();
    expect(sleeps(86411)).to.equal(false);
    expect(await said('root@node-1', 'cat /root/file; systemctl is-active long || true')).to.equal('kept\ninactive');
    expect(await bootId()).to.not.equal(boot);
    boot = await bootId();
    await world.ssh('root@node-1', 'systemctl reboot');
    for (const end = Date.now() + 30_000; Date.now() < end; await sleep(200)) {
      const { code, stdout } = await world.ssh('root@node-1', 'cat /proc/sys/kernel/random/boot_id', impatient);
      if (code === 0 && stdout.trim() !== boot) break;
    }
    expect(await bootId()).to.not.equal(boot);
    expect(await said('root@node-1', 'cat /root/file')).to.equal('kept');
  });

  it('that turns itself off is terminated, and comes back when it is started', async () => {
    const statusOf = async () => String((await world.vm('GET instances/node-1'))['status']);
    await world.ssh('root@node-1', 'systemctl poweroff');
    for (const end = Date.now() + 30_000; Date.now() < end && (await statusOf()) !== 'TERMINATED'; await sleep(200));
    expect(await statusOf()).to.equal('TERMINATED');
    await world.vm('POST instances/node-1/start');
    await world.machines.settle();
    expect(await said('root@node-1', 'cat /root/file')).to.equal('kept');
  });

  it('that is deleted runs on nowhere, and leaves no files', async () => {
    const disk = `ready-project~node-2~${String((await world.vm('GET instances/node-2'))['id'])}`;
    await said('root@node-2', 'systemd-run --quiet sleep 86412; setsid sleep 86412 > /dev/null 2>&1 < /dev/null &');
    expect(sleeps(86412)).to.equal(true);
    await world.vm('DELETE instances/node-2');
    await world.machines.settle();
    expect(sleeps(86412)).to.equal(false);
    expect(world.machines.list().map(({ path }) => path)).to.not.include(world.path('node-2'));
    expect(existsSync(join(world.keyFile('ours'), '../machines', disk))).to.equal(false);
  });

  it('goes with the process that holds it, also when that is killed', async () => {
    const program = fileURLToPath(new URL('./real-world-program.js', import.meta.url));
    const holder = spawn(process.execPath, [program, '86413'], { stdio: ['ignore', 'pipe', 'inherit'] });
    const before = new Set(readdirSync(tmpdir()));
    try {
      await once(holder.stdout, 'data');
      expect(sleeps(86413)).to.equal(true);
      expect(groupsOf(holder.pid ?? 0)).to.have.length(1);
    } finally {
      holder.kill('SIGKILL');
    }
    expect(await until(() => !sleeps(86413))).to.equal(true);
    expect(await until(() => groupsOf(holder.pid ?? 0).length === 0)).to.equal(true);
    // What it kept in files is no more than files.
    for (const name of readdirSync(tmpdir())) {
      if (name.startsWith('plinth-machines-') && !before.has(name)) rmSync(join(tmpdir(), name), { recursive: true });
    }
  });
});
