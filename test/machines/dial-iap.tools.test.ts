/** OpenSSH's own programs through `plinth beta dial --iap`, to a VM without a public address, with the token of gcloud itself. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { guests } from '../../local/cloud/compute/instance-life.js';
import { zone } from '../local-cloud/furnished.js';
import { project } from '../local-cloud/ready-cloud.js';
import { environmentOfOwner } from '../outsiders/commands.js';
import { cliPath } from '../support/plinth-here.js';
import { type RoughRelay, startRoughRelay } from '../support/rough-relay.js';
import { type MachineWorld, machineWorld, vmPath } from './machine-world.js';

const megabytes = 6;

describe('OpenSSH through plinth beta dial --iap', function () {
  this.timeout(180_000);
  let world: MachineWorld;
  let folder: string;
  let relay: RoughRelay | undefined;
  before(async () => {
    world = await machineWorld(['node-1']);
    folder = mkdtempSync(join(tmpdir(), 'dial-iap-'));
    const known = `node-1 ${guests(world.cloud.world)[vmPath('node-1')]?.hostKey.publicKey ?? ''}\n`;
    writeFileSync(join(folder, 'known_hosts'), known);
    const api = 'POST /v1/projects/P/services/iap.googleapis.com:enable';
    expect((await world.cloud.call('serviceusage', api, {})).status).to.equal(200);
    await world.global('POST firewalls', {
      name: 'allow-ssh-iap',
      network: 'global/networks/net',
      allowed: [{ IPProtocol: 'tcp', ports: ['22'] }],
      sourceRanges: ['35.235.240.0/20'],
      targetTags: ['k0s'],
    });
  });
  afterEach(() => relay?.close());
  after(async () => {
    await world?.close();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });

  /** Only the machine with the published host key is trusted, and nothing is asked. */
  const run = (program: 'ssh' | 'scp', args: readonly string[], tunnel: string) =>
    new Promise<{ isGood: boolean; stdout: string; stderr: string }>((resolve) => {
      const dial = [process.execPath, cliPath, 'beta', 'dial', '--iap', `${project}/${zone}`, '%h', '%p'].join(' ');
      const options = [
        ...[`ProxyCommand=${dial}`, `UserKnownHostsFile=${join(folder, 'known_hosts')}`],
        ...['IdentitiesOnly=yes', 'BatchMode=yes', 'StrictHostKeyChecking=yes', 'LogLevel=ERROR'],
      ].flatMap((option) => ['-o', option]);
      const env = { ...environmentOfOwner(world.cloud, join(folder, 'gcloud')), HOME: folder };
      const all = ['-F', 'none', '-i', world.keyFile('ours'), ...options, ...args];
      const settings = { env: { ...env, PLINTH_IAP_TUNNEL_URL: tunnel }, timeout: 120_000 };
      execFile(program, all, settings, (error, stdout, stderr) => resolve({ isGood: error === null, stdout, stderr }));
    });

  it('ssh runs a command on the VM', async () => {
    const ran = await run('ssh', ['root@node-1', 'hostname'], world.cloud.tunnel.url);
    expect(ran, ran.stderr).to.deep.equal({ isGood: true, stdout: 'node-1\n', stderr: '' });
  });

  it('scp carries megabytes there and back through a relay that cuts, delays and splits', async () => {
    const rough = { seed: 20, cutWithin: 1_500_000, mostCuts: 8, largestPiece: 20_000, delayed: 0.02 };
    relay = await startRoughRelay(world.cloud.tunnel.port, rough);
    const tunnel = `ws://127.0.0.1:${relay.port}/v4`;
    const [there, back] = [join(folder, 'there'), join(folder, 'back')];
    const bytes = randomBytes(megabytes * 1024 * 1024);
    writeFileSync(there, bytes);
    const sent = await run('scp', [there, 'root@node-1:/tmp/carried'], tunnel);
    expect(sent.isGood, sent.stderr).to.equal(true);
    const fetched = await run('scp', ['root@node-1:/tmp/carried', back], tunnel);
    expect(fetched.isGood, fetched.stderr).to.equal(true);
    expect(readFileSync(back).equals(bytes)).to.equal(true);
    // So that the test can't pass by a relay that lets everything through.
    expect(relay.cuts()).to.be.above(0);
  });

  it('ssh is told why there is no such VM', async () => {
    const ran = await run('ssh', ['-o', 'HostKeyAlias=node-1', 'root@node-9', 'true'], world.cloud.tunnel.url);
    expect(ran.isGood).to.equal(false);
    expect(ran.stderr).to.include('IAP finds no running VM for node-9').and.include('restart-vms');
  });
});
