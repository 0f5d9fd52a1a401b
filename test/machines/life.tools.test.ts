/** What becomes of a simulated VM's machine when the VM is stopped, started, taken away or deleted, and which connections its firewall lets pass. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { region } from '../local-cloud/furnished.js';
import { describeMachines, type MachineWorld, machineWorld, nat, routersPath } from './machine-world.js';

describeMachines('the machine of a simulated VM', (isolation) => {
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
  const impatient = { args: ['-o', 'ConnectTimeout=2'], timeoutSeconds: 4 };

  it('keeps disk and host key over a stop and a start, and nothing that ran', async () => {
    await said(
      'root@node-1',
      'echo kept > /root/file; echo lost > /run/file; setsid sleep 1000 > /dev/null 2>&1 < /dev/null &',
    );
    const running = world.startSsh('root@node-1', 'echo on; sleep 1000');
    await once(running.stdout as NodeJS.ReadableStream, 'data');
    await world.vm('POST instances/node-1/stop');
    await once(running, 'close');
    expect(running.exitCode).to.equal(255);
    expect((await world.ssh('root@node-1', 'true', impatient)).code).to.not.equal(0);
    await world.vm('POST instances/node-1/start');
    await world.machines.settle();
    expect(
      await said('root@node-1', 'cat /root/file; ls /run/file 2>/dev/null; pgrep -fc "sleep 100[0]"; true'),
    ).to.equal('kept\n0');
  });

  it('boots again when it is reset', async () => {
    await said('root@node-1', 'echo lost > /run/file');
    await world.vm('POST instances/node-1/reset');
    await world.machines.settle();
    expect(await said('root@node-1', 'ls /run/file 2>/dev/null; true')).to.equal('');
  });

  it('says nothing more when it is preempted silently', async () => {
    const running = world.startSsh('root@node-2', 'echo on; sleep 1000');
    await once(running.stdout as NodeJS.ReadableStream, 'data');
    world.machines.preempt(world.path('node-2'), { silently: true });
    await world.machines.settle();
    await sleep(500);
    expect(running.exitCode).to.equal(null);
    running.kill();
    await world.vm('POST instances/node-2/start');
    await world.machines.settle();
    expect(await said('root@node-2', 'hostname')).to.equal('node-2');
  });

  it('reaches from node to node what listens there, while the rules allow it', async () => {
    const { internal } = await world.address('node-2');
    const serve = `require('http').createServer((q, s) => s.end('from ' + q.url)).listen(5000, '${internal}')`;
    await said('root@node-2', `setsid node -e "${serve}" > /dev/null 2>&1 < /dev/null &`);
    const fetch = `curl -sS -m 2 --retry 20 --retry-all-errors --retry-delay 0 http://${internal}:5000/x`;
    expect(await said('root@node-1', fetch)).to.equal('from /x');
    expect(await said('root@node-2', `curl -sS --noproxy '*' http://${internal}:5000/own`)).to.equal('from /own');
    await world.global('DELETE firewalls/allow-internal');
    const cut = await world.ssh('ubuntu@jumpbox', `curl -sS -m 1 http://${internal}:5000/x`);
    expect(cut.code).to.equal(28);
    expect((await world.ssh('root@node-1', 'true', impatient)).code).to.not.equal(0);
    await world.global('POST firewalls', {
      name: 'allow-internal',
      network: 'global/networks/net',
      allowed: [{ IPProtocol: 'all' }],
      sourceRanges: ['10.10.0.0/20'],
    });
    expect(await said('ubuntu@jumpbox', fetch)).to.equal('from /x');
    const refused = await world.ssh('ubuntu@jumpbox', `curl -sS -m 2 http://${internal}:5001/`);
    expect(refused.code).to.equal(97);
  });

  it('reaches the world by an address of its own or by a NAT for its subnet', async () => {
    const front = `curl -s -o /dev/null -m 2 -w '%{http_code}' ${world.cloud.frontUrl}/ || true`;
    const reached = async (login: string) => (await said(login, front)) !== '000';
    const both = async () => [await reached('root@node-1'), await reached('ubuntu@jumpbox')];
    const router = async (nats: readonly object[]) => {
      const { status, message } = await world.cloud.call('compute', `PATCH ${routersPath}/router`, { nats });
      expect(status, message).to.equal(200);
    };
    expect(await both()).to.deep.equal([true, true]);
    await router([]);
    expect(await both()).to.deep.equal([false, true]);
    const listed = { ...nat, sourceSubnetworkIpRangesToNat: 'LIST_OF_SUBNETWORKS' };
    const sourceIpRangesToNat = ['ALL_IP_RANGES'];
    await router([{ ...listed, subnetworks: [{ name: `regions/${region}/subnetworks/sub`, sourceIpRangesToNat }] }]);
    expect(await both()).to.deep.equal([true, true]);
    await router([nat]);
    expect(await both()).to.deep.equal([true, true]);
  });

  it('is reached from the world at the jumpbox’s port 22 alone, and not even there without its rule', async () => {
    const { external } = await world.address('jumpbox');
    const dialled = async (port: number): Promise<string> => {
      const { hostname, port: proxyPort } = new URL(world.machines.proxyUrl);
      const { connect } = await import('node:net');
      const socket = connect(Number(proxyPort), hostname);
      socket.write(`CONNECT ${external}:${port} HTTP/1.1\r\n\r\n`);
      const first = await Promise.race([once(socket, 'data'), sleep(400).then(() => ['nothing'])]);
      socket.destroy();
      return String(first[0]).split('\r\n')[0] ?? '';
    };
    expect(await dialled(22)).to.equal('HTTP/1.1 200 Connection established');
    expect(await dialled(5000)).to.equal('nothing');
    await world.global('POST firewalls', {
      name: 'deny-ssh',
      network: 'global/networks/net',
      priority: 900,
      denied: [{ IPProtocol: 'tcp', ports: ['20-30'] }],
      sourceRanges: ['198.51.100.0/24'],
    });
    expect(await dialled(22)).to.equal('nothing');
    await world.global('DELETE firewalls/deny-ssh');
    expect(await dialled(22)).to.contain('200');
    await world.global('DELETE firewalls/allow-ssh-ext');
    expect(await dialled(22)).to.equal('nothing');
    // As a cloud controller writes the rule of a load balancer: it lets nobody in to the machine's own address.
    const rule = { network: 'global/networks/net', allowed: [{ IPProtocol: 'tcp', ports: ['22'] }] };
    const { internal } = await world.address('jumpbox');
    await world.global('POST firewalls', { ...rule, name: 'k8s-fw-a1', destinationRanges: ['34.1.1.1'] });
    expect(await dialled(22)).to.equal('nothing');
    await world.global('POST firewalls', { ...rule, name: 'to-it', destinationRanges: [`${internal}/32`] });
    expect(await dialled(22)).to.contain('200');
  });
});

describeMachines('the services of a simulated VM', (isolation) => {
  let world: MachineWorld;
  before(async () => {
    world = await machineWorld([], isolation);
  });
  after(() => world?.close());

  const run = (command: string, stdin = '') => world.ssh('ubuntu@jumpbox', command, { stdin });

  it('run from unit files, are restarted, and start with the VM when they are enabled', async () => {
    const unit = [
      '[Unit]\nDescription=Clock',
      `[Service]\nEnvironment="WORD=two words"\nExecStart=/usr/bin/env bash -c 'echo $WORD >> /root/clock; exec sleep 1000'\nRestart=always\nRestartSec=0.05`,
      '[Install]\nWantedBy=multi-user.target\n',
    ].join('\n\n');
    expect(
      (
        await run(
          'sudo tee /etc/systemd/system/clock.service > /dev/null && sudo systemctl daemon-reload && sudo systemctl enable --now clock',
          unit,
        )
      ).code,
    ).to.equal(0);
    expect(
      (await run('systemctl is-active clock; systemctl is-enabled clock; systemctl show -p ActiveState,SubState clock'))
        .stdout,
    ).to.equal('active\nenabled\nActiveState=active\nSubState=running\n');
    const again =
      'sudo kill $(systemctl show --value -p MainPID clock); for i in $(seq 100); do [ "$(sudo grep -c "two words" /root/clock)" = 2 ] && break; sleep 0.05; done; sudo cat /root/clock';
    expect((await run(again)).stdout).to.equal('two words\ntwo words\n');
    await world.vm('POST instances/jumpbox/reset');
    await world.machines.settle();
    expect(
      (
        await run(
          'for i in $(seq 60); do systemctl -q is-active clock && break; sleep 0.05; done; systemctl is-active clock',
        )
      ).stdout,
    ).to.equal('active\n');
    expect((await run('sudo systemctl stop clock; systemctl is-active clock')).stdout).to.equal('inactive\n');
  });

  it('fail as the real ones do: unknown units, bad commands, verbs that are none', async () => {
    expect(await run('sudo systemctl start nothing')).to.include({
      code: 5,
      stderr: 'Failed to start nothing.service: Unit nothing.service not found.\n',
    });
    expect((await run('sudo systemctl frobnicate x')).stderr).to.equal("Unknown command verb 'frobnicate'.\n");
    expect((await run('sudo apt-get install -y no-such-thing')).code).to.equal(100);
    expect((await run('sudo sysctl -w no.such.key=1')).code).to.equal(255);
  });
});
