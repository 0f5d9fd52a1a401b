/** Who gets in to a simulated VM, and what they find there: seen with OpenSSH's own client. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { sshKeysOf } from '../../functions/steps/cloud/vm-metadata.js';
import type { JsonObject } from '../../local/cloud/kernel/api.js';
import { describeMachines, type MachineWorld, machineWorld } from './machine-world.js';

describeMachines('logging in to a simulated VM', (isolation) => {
  let world: MachineWorld;
  before(async () => {
    world = await machineWorld(undefined, isolation);
  });
  after(() => world?.close());

  const said = async (login: string, command: string, options?: Parameters<MachineWorld['ssh']>[2]) => {
    const run = await world.ssh(login, command, options);
    expect(run.code, run.stderr).to.equal(0);
    return run.stdout.trim();
  };

  it('meets the host key that the VM published, and runs a command on the jumpbox', async () => {
    expect(await said('ubuntu@jumpbox', 'hostname; whoami; id -u; pwd')).to.equal(
      'jumpbox\nubuntu\n1000\n/home/ubuntu',
    );
  });

  it('reaches the nodes through the jumpbox, as root and as ubuntu', async () => {
    expect(await said('root@node-1', 'hostname; id -u; echo $HOME')).to.equal('node-1\n0\n/root');
    expect(await said('ubuntu@node-2', 'hostname; id -un')).to.equal('node-2\nubuntu');
  });

  it('refuses root on the jumpbox, keys that are not in the metadata, and users that are not either', async () => {
    for (const [login, key] of [
      ['root@jumpbox', 'ours'],
      ['ubuntu@jumpbox', 'other'],
      ['mallory@jumpbox', 'ours'],
    ] as const) {
      const run = await world.ssh(login, 'true', { key });
      expect(run.code, login).to.equal(255);
      expect(run.stderr).to.contain('Permission denied (publickey)');
    }
  });

  it('follows a change of the metadata at once, and leaves keys alone that others wrote', async () => {
    await said('root@node-1', `cat >> ~/.ssh/authorized_keys`, { stdin: '# kept by hand\n' });
    const instance = await world.vm('GET instances/node-1');
    const metadata = instance['metadata'] as JsonObject;
    const items = (metadata['items'] as JsonObject[]).map((item) =>
      item['key'] === 'ssh-keys' ? { key: 'ssh-keys', value: sshKeysOf('k0s', [world.publicKey('other')]) } : item,
    );
    await world.vm('POST instances/node-1/setMetadata', { fingerprint: metadata['fingerprint'], items });
    const args = ['-o', 'PreferredAuthentications=publickey'];
    expect((await world.ssh('root@node-1', 'true', { args: ['node-1', ...args].slice(1) })).code).to.equal(255);
    const fresh = await world.vm('GET instances/node-1');
    const back = { fingerprint: (fresh['metadata'] as JsonObject)['fingerprint'] };
    await world.vm('POST instances/node-1/setMetadata', { ...back, items: metadata['items'] });
    expect(await said('root@node-1', 'cat ~/.ssh/authorized_keys'))
      .to.contain('# kept by hand')
      .and.contain('# Added by Google');
  });

  it('gives exit status, signals, standard input and both outputs as they are', async () => {
    const run = await world.ssh('ubuntu@jumpbox', 'cat; echo no >&2; exit 42', { stdin: 'yes\n' });
    expect(run).to.deep.equal({ code: 42, stdout: 'yes\n', stderr: 'no\n' });
    const big = Buffer.alloc(3_000_000, 'plinth ');
    expect(await said('ubuntu@jumpbox', 'md5sum; exec 2>&1', { stdin: big })).to.match(/^[0-9a-f]{32}/);
    expect((await world.ssh('ubuntu@jumpbox', 'kill -TERM $$')).code).to.equal(255);
  });

  it('brings all that a program said to a client that reads late', async () => {
    const child = world.startSsh('ubuntu@jumpbox', 'head -c 3500000 /dev/zero');
    // The program has ended by then, and its last megabyte waits for the client's window.
    await sleep(1500);
    let length = 0;
    for await (const chunk of child.stdout as AsyncIterable<Buffer>) length += chunk.length;
    expect(length).to.equal(3_500_000);
  });

  it('has a terminal for those who ask, of the size they say', async () => {
    expect(await said('ubuntu@jumpbox', 'tty; stty size', { args: ['-tt'] })).to.match(/^\/dev\/pts\/\d+\s+\d+ \d+$/);
  });

  it('has its startup script behind it', async () => {
    expect(await said('root@node-1', 'sysctl -n vm.max_map_count; cat /etc/ssh/sshd_config.d/10-plinth.conf')).to.equal(
      '262144\nPermitRootLogin prohibit-password',
    );
    expect(String((await world.vm('GET instances/jumpbox/serialPort'))['contents'])).to.contain(
      'startup-script exit status 0',
    );
  });

  it('lets ubuntu change the system by sudo alone', async () => {
    expect((await world.ssh('ubuntu@jumpbox', 'touch /etc/mine')).code).to.equal(1);
    expect(await said('ubuntu@jumpbox', 'sudo touch /etc/mine && ls /etc/mine && sudo id -u')).to.equal('/etc/mine\n0');
    expect((await world.ssh('ubuntu@jumpbox', 'systemctl restart ssh')).code).to.equal(4);
  });

  it('shows one VM nothing of another, and none anything of this computer', async () => {
    await said('root@node-1', 'echo mine > /root/secret; echo mine > /tmp/secret');
    expect(await said('root@node-2', 'ls /root/secret /tmp/secret 2>/dev/null; true')).to.equal('');
    const home = homedir() === '/root' ? '/work' : homedir();
    const seen = await said('root@node-2', `ls ${home} 2>/dev/null; ls /proc | grep -c '^[0-9]'; ls /`);
    expect(existsSync(home)).to.equal(true);
    expect(seen.split('\n')).to.not.include('main');
    expect(Number(seen.split('\n')[0])).to.be.lessThan(20);
  });

  it('keeps what runs in the background when the connection is over', async () => {
    await said('root@node-2', 'setsid bash -c "sleep 0.4; echo done > /root/after" < /dev/null > /dev/null 2>&1 &');
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(await said('root@node-2', 'cat /root/after')).to.equal('done');
  });

  it('serves SFTP to OpenSSH’s client, to who may write where', async () => {
    const batch = 'put /bin/true /home/ubuntu/t\nrename /home/ubuntu/t /home/ubuntu/u\nls -l /home/ubuntu\n';
    const run = await world.ssh('ubuntu@jumpbox', '', { program: 'sftp', args: ['-b', '-'], stdin: batch });
    expect(run.code, run.stderr).to.equal(0);
    expect(run.stdout).to.contain('/home/ubuntu/u');
    expect(await said('ubuntu@jumpbox', 'cmp /bin/true u && echo same')).to.equal('same');
    const denied = await world.ssh('ubuntu@jumpbox', '', {
      program: 'sftp',
      args: ['-b', '-'],
      stdin: 'put /bin/true /etc/t\n',
    });
    expect(denied.code).to.equal(1);
    expect(denied.stderr).to.contain('Permission denied');
  });
});
