/** SSH to a machine without a public address, through the simulated tunnel: as it is, and while the tunnel is cut. */
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { openTunnel } from '../../functions/remote/iap/tunnel.js';
import { type Connection, connect } from '../../functions/remote/ssh.js';
import { guests } from '../../local/cloud/compute/instance-life.js';
import { zone } from '../local-cloud/furnished.js';
import { owner, project } from '../local-cloud/ready-cloud.js';
import { type MachineWorld, machineWorld, vmPath } from '../machines/machine-world.js';
import { problemOf } from './problem-of.js';

const megabyte = 1024 * 1024;

describe('SSH through IAP', function () {
  this.timeout(60_000);
  let world: MachineWorld;
  before(async () => {
    world = await machineWorld(['node-1']);
    const api = 'POST /v1/projects/P/services/iap.googleapis.com:enable';
    expect((await world.cloud.call('serviceusage', api, {})).status).to.equal(200);
  });
  after(() => world?.close());

  const tunnelTo = (instance: string) =>
    openTunnel(
      { project, zone, instance, port: 22 },
      {
        name: instance,
        url: world.cloud.tunnel.url,
        token: async () => world.cloud.identity.accessToken(owner),
        timeoutSeconds: 15,
      },
    );
  const logIn = async (): Promise<Connection> => {
    const machine = {
      name: 'node-1',
      address: 'node-1',
      user: 'root',
      hostKeys: [guests(world.cloud.world)[vmPath('node-1')]?.hostKey.publicKey ?? ''],
    };
    const identity = { privateKey: readFileSync(world.keyFile('ours'), 'utf8') };
    return connect(await tunnelTo('node-1'), machine, identity, { loginSeconds: 20, keepaliveSeconds: 5 });
  };

  it('needs a firewall rule for the range of IAP', async () => {
    const problem = await problemOf(tunnelTo('node-1'));
    expect(problem.code).to.equal('host-unreachable');
    expect(problem.detail).to.contain('35.235.240.0/20');
    await world.global('POST firewalls', {
      name: 'allow-ssh-iap',
      network: 'global/networks/net',
      allowed: [{ IPProtocol: 'tcp', ports: ['22'] }],
      sourceRanges: ['35.235.240.0/20'],
      targetTags: ['k0s'],
    });
    const connection = await logIn();
    const { stdout } = await connection.run('hostname');
    expect(stdout.toString().trim()).to.equal('node-1');
    connection.close();
  });

  it('carries a command, megabytes to it and megabytes from it while the tunnel is cut again and again', async () => {
    const connection = await logIn();
    const bytes = randomBytes(8 * megabyte);
    let cuts = 0;
    const cutting = setInterval(() => {
      if (world.cloud.tunnel.list().some(({ isCarried }) => isCarried)) cuts += 1;
      world.cloud.tunnel.cut();
    }, 150);
    try {
      const there = await connection.run('sha256sum', { stdin: bytes, timeoutSeconds: 40 });
      expect(there.stdout.toString().slice(0, 64)).to.equal(createHash('sha256').update(bytes).digest('hex'));
      const back = await connection.run(`head -c ${3 * megabyte} /dev/zero | tr '\\0' x`, { timeoutSeconds: 40 });
      expect(back.stdout.length).to.equal(3 * megabyte);
      expect(connection.gone.aborted).to.equal(false);
    } finally {
      clearInterval(cutting);
      connection.close();
    }
    expect(cuts).to.be.above(0);
  });
});
