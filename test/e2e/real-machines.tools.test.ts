/** A bootstrap that goes on to real hosts: OpenSSH, systemd, and jobs that outlive the connection, and the function, that began them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createRemote, type Host } from '../../functions/remote/remote.js';
import { homeOf } from '../../local/demo/plinth-process.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { makeBase } from '../real-hosts/base.js';
import { realHosts } from '../real-hosts/index.js';
import { needMachines } from '../support/machines.js';
import { type Caller, makeScene, type Scene, succeeded } from '../support/scene.js';

describe('a bootstrap with real hosts', function () {
  this.timeout(600_000);
  let scene: Scene;
  let alice: Caller;
  let bootstrap: BootstrapView;

  before(async () => {
    needMachines(realHosts);
    await makeBase((note) => void process.stderr.write(`${note}\n`));
    scene = await makeScene({ machines: realHosts });
    alice = await scene.caller();
  });
  after(() => scene?.close());

  const pathOf = (name: string) => `projects/${bootstrap.projectId}/zones/${bootstrap.zone}/instances/${name}`;

  /** As root, over a login of its own. */
  async function on<T>(name: string, work: (host: Host) => Promise<T>): Promise<T> {
    const remote = createRemote({ sshProxy: scene.stack.record.sshProxyUrl });
    const machine = (wanted: string) => {
      const vm = bootstrap.result.vms.find((one) => one.name === wanted);
      const isJumpbox = wanted === 'jumpbox';
      const address = (isJumpbox ? vm?.externalIp : vm?.internalIp) ?? '';
      return { name: wanted, address, user: isJumpbox ? 'ubuntu' : 'root', hostKeys: vm?.hostKeys ?? [] };
    };
    const privateKey = readFileSync(join(homeOf(alice.folder), '.config/plinth/ssh/id_ed25519'), 'utf8');
    const to = { bootstrapId: bootstrap.id, privateKey, jumpbox: machine('jumpbox') };
    try {
      const host = await remote.host(name === 'jumpbox' ? to : { ...to, machine: machine(name) });
      return await work(host.asRoot());
    } finally {
      await remote.close();
    }
  }
  const said = (name: string, command: string): Promise<string> =>
    on(name, async (host) => {
      const { exitCode, stdout, stderr } = await host.exec(command);
      expect(exitCode, stderr).to.equal(0);
      return stdout.trim();
    });

  it('sets up all of them, and puts config, secrets and plinth on the jumpbox', async () => {
    bootstrap = succeeded(await alice.bootstrap('real-hosts'));
    expect(scene.stack.notes).to.deep.equal([]);
    const states = Object.fromEntries(bootstrap.instances.map(({ id, state }) => [id, state]));
    for (const { name } of bootstrap.result.vms) expect(states[`host-setup:${name}`], name).to.equal('done');
    expect(states).to.include({ 'node-key': 'done', 'node-login:k0s-1': 'done', 'plinth-binary': 'done' });
    expect(states['handover:dc1']).to.equal('done');
    expect(
      await said('jumpbox', 'cat /proc/1/comm; plinth --version; stat -c %a /etc/platform/secrets/age_key.txt'),
    ).to.match(/^systemd\n\d+\.\d+\.\d+\nflags of .*\n600$/);
    expect(await said('jumpbox', 'cat /etc/platform/config.yaml')).to.equal(alice.read('config.yaml').trim());
  });

  it('lets the jumpbox in to every node by name, with host keys that it knows', async () => {
    const nodes = bootstrap.result.vms.map(({ name }) => name).filter((name) => name !== 'jumpbox');
    const login = 'ssh -o BatchMode=yes -o StrictHostKeyChecking=yes';
    const hostnames = await said('jumpbox', nodes.map((name) => `${login} root@${name} hostname`).join(' && '));
    expect(hostnames.split('\n')).to.deep.equal(nodes);
  });

  /** A job that its machine's end takes along. */
  async function lost(id: string): Promise<void> {
    await on('k0s-1', (host) => host.job(id).start('sleep 1000'));
    const reset = `${scene.cloud.endpoints.compute}/compute/v1/${pathOf('k0s-1')}/reset`;
    const { accessToken } = await scene.stack.tokens('admin@example.com');
    const reply = await fetch(reset, { method: 'POST', headers: { authorization: `Bearer ${accessToken}` } });
    expect(reply.status).to.equal(200);
    await scene.stack.cloudHalf?.machines?.settle();
    const { state } = await on('k0s-1', (host) => host.job(id).poll(0, { maxBytes: 10, waitSeconds: 0 }));
    expect(state, id).to.equal('lost');
  }

  it('follows a job over a connection that did not begin it, and sees it lost with its machine', async () => {
    const script = 'echo begun; sleep 3; cat /proc/self/cgroup; echo ended';
    await on('k0s-1', (host) => host.job('outlives').start(script));
    const look = await on('k0s-1', async (host) => {
      const job = host.job('outlives');
      for (;;) {
        const found = await job.poll(0, { maxBytes: 10_000, waitSeconds: 10 });
        if (found.state !== 'running') return found;
      }
    });
    expect(look).to.include({ state: 'exited', exitCode: 0 });
    expect(look.bytes.toString()).to.match(/^begun\n(?:.*\n)*0::\/system\.slice\/plinth-job-outlives.*\nended\n$/);

    await lost('lost');
    // Whoever asks systemd may be ended before the answer: it goes down just then.
    const ended = '#!/bin/bash\n[ "$1" != is-system-running ] || kill -TERM $$\nexec /usr/bin/systemctl "$@"\n';
    await said('k0s-1', `printf %s '${ended}' > /usr/local/bin/systemctl && chmod 755 /usr/local/bin/systemctl`);
    await lost('unheard');
    await said('k0s-1', 'rm /usr/local/bin/systemctl');
  });

  it('is there again as it was for the same command, and gone with its project', async () => {
    const again = await alice.bootstrap('real-hosts');
    expect(succeeded(again).projectId).to.equal(bootstrap.projectId);
    const { accessToken } = await scene.stack.tokens('admin@example.com');
    const gone = await fetch(`${scene.cloud.endpoints.cloudresourcemanager}/v3/projects/${bootstrap.projectId}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${accessToken}` },
    });
    expect(gone.status).to.equal(200);
    await scene.stack.cloudHalf?.machines?.settle();
    expect(scene.stack.cloudHalf?.machines?.list()).to.deep.equal([]);
  });
});
