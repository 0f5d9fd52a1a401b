/** Machines without a public address, reached through the simulated tunnel by Google's own client. */
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type Server } from 'node:tls';
import { expect } from 'chai';
import { makeCertificate } from '../cli/certificate.js';
import { zone } from '../local-cloud/furnished.js';
import { environmentOfOwner } from '../outsiders/commands.js';
import { startRoughRelay } from '../support/rough-relay.js';
import { describeMachines, type MachineWorld, machineWorld } from './machine-world.js';

interface Outcome {
  readonly isGood: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

describeMachines('gcloud through the simulated tunnel', (isolation) => {
  let world: MachineWorld;
  let folder: string;
  let environment: NodeJS.ProcessEnv;
  let front: Server;
  let url: string;
  /** Where the front leads to: the tunnel, or a relay before it. */
  let port: number;
  /** How often a new token is to be wanted: in the middle of a connection that has carried a good part of a megabyte. */
  let renewals = 0;

  /** gcloud's client takes nothing but TLS. */
  async function startFront(): Promise<void> {
    const { file, ...pair } = await makeCertificate(folder);
    port = world.cloud.tunnel.port;
    front = createServer(pair, (inner) => {
      const outer = connect(port, '127.0.0.1');
      for (const one of [inner, outer]) one.on('error', () => [inner, outer].map((each) => each.destroy()));
      let left = 700_000;
      const count = (chunk: Buffer): void => {
        left -= chunk.length;
        if (left > 0 || renewals === 0) return;
        left = Number.POSITIVE_INFINITY;
        renewals -= 1;
        world.cloud.tunnel.cut('reauthenticate');
      };
      inner.on('data', count).pipe(outer).on('data', count).pipe(inner);
    });
    await once(front.listen(0, '127.0.0.1'), 'listening');
    url = `wss://localhost:${(front.address() as AddressInfo).port}/v4`;
    environment = { ...environment, CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE: file, PYTHONUNBUFFERED: '1' };
  }

  before(async function () {
    this.timeout(120_000);
    world = await machineWorld(['node-1'], isolation);
    folder = mkdtempSync(join(tmpdir(), 'gcloud-'));
    // gcloud keeps its SSH key at home.
    environment = { ...environmentOfOwner(world.cloud, join(folder, 'config')), HOME: folder };
    await world.global('POST firewalls', {
      name: 'allow-ssh-iap',
      network: 'global/networks/net',
      allowed: [{ IPProtocol: 'tcp', ports: ['22'] }],
      sourceRanges: ['35.235.240.0/20'],
      targetTags: ['k0s'],
    });
    await enable('enable');
    await startFront();
  });
  after(async () => {
    front?.close();
    await world?.close();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });

  const enable = async (verb: 'enable' | 'disable'): Promise<void> => {
    const reply = await world.cloud.call('serviceusage', `POST /v1/projects/P/services/iap.googleapis.com:${verb}`, {});
    expect(reply.status, reply.message).to.equal(200);
  };
  const flags = (): string[] => [`--zone=${zone}`, `--iap-tunnel-url-override=${url}`, '--quiet'];
  const gcloud = (...argv: string[]): Promise<Outcome> =>
    new Promise((resolve) => {
      const options = { env: environment, timeout: 100_000, maxBuffer: 64 * 1024 * 1024 };
      execFile('gcloud', ['compute', ...argv, ...flags()], options, (error, stdout, stderr) =>
        resolve({ isGood: error === null, stdout, stderr }),
      );
    });

  it('start-iap-tunnel opens a local port that leads to the VM', async function () {
    this.timeout(60_000);
    const argv = ['compute', 'start-iap-tunnel', 'node-1', '22', '--local-host-port=localhost:0', ...flags()];
    const child = spawn('gcloud', argv, { env: environment, stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      let said = '';
      let port: string | undefined;
      while (port === undefined) {
        const [chunk] = (await once(child.stdout, 'data')) as [Buffer];
        said += String(chunk);
        port = /Listening on port \[(\d+)\]/.exec(said)?.[1];
      }
      const socket = connect(Number(port), 'localhost');
      const [banner] = (await once(socket, 'data')) as [Buffer];
      expect(String(banner)).to.match(/^SSH-2\.0-/);
      socket.destroy();
    } finally {
      child.kill();
    }
  });

  it('ssh runs a command, with the host key that the VM published', async function () {
    this.timeout(120_000);
    const run = await gcloud(
      'ssh',
      'ubuntu@node-1',
      '--tunnel-through-iap',
      '--strict-host-key-checking=yes',
      '--command=hostname; id -un',
    );
    expect(run.isGood, run.stderr).to.equal(true);
    // Before it, ssh-keygen tells of the key that gcloud makes.
    expect(run.stdout).to.match(/^node-1\nubuntu\n$/m);
  });

  async function carry(mebibytes: number): Promise<void> {
    const bytes = randomBytes(mebibytes * 1024 * 1024);
    writeFileSync(join(folder, 'there'), bytes);
    const there = await gcloud('scp', join(folder, 'there'), 'ubuntu@node-1:/tmp/file', '--tunnel-through-iap');
    expect(there.isGood, there.stderr).to.equal(true);
    // One request at a time: the thread of gcloud 528 that sends also queues its acknowledgements, in a queue of five that it
    // alone empties. Where ssh has filled that, it waits for itself, and scp stands still.
    const slowly = ['--tunnel-through-iap', '--scp-flag=-Xnrequests=1'];
    const back = await gcloud('scp', 'ubuntu@node-1:/tmp/file', join(folder, 'back'), ...slowly);
    expect(back.isGood, back.stderr).to.equal(true);
    expect(readFileSync(join(folder, 'back')).equals(bytes)).to.equal(true);
  }

  it('scp carries megabytes there and back', async function () {
    this.timeout(300_000);
    await carry(3);
  });

  // gcloud gives up where a connection breaks without a closing frame. It comes back where a new token is wanted.
  it('scp carries megabytes there and back while frames are split and late, and a new token is wanted again and again', async function () {
    this.timeout(300_000);
    const relay = await startRoughRelay(world.cloud.tunnel.port, { seed: 20, largestPiece: 20_000, delayed: 0.02 });
    [port, renewals] = [relay.port, 3];
    try {
      await carry(3);
      expect(renewals).to.equal(0);
    } finally {
      [port, renewals] = [world.cloud.tunnel.port, 0];
      await relay.close();
    }
  });

  const refusals: readonly [title: string, vm: string, port: string, said: RegExp][] = [
    ['a port where nothing listens', 'node-1', '2222', /4003: 'failed to connect to backend'/],
    ['a VM that is not there', 'node-9', '22', /node-9' was not found|4047/],
  ];
  for (const [title, vm, port, said] of refusals) {
    it(`start-iap-tunnel says why it does not reach ${title}`, async function () {
      this.timeout(60_000);
      const run = await gcloud('start-iap-tunnel', vm, port, '--local-host-port=localhost:0');
      expect(run.isGood).to.equal(false);
      expect(run.stderr).to.match(said);
    });
  }

  it('start-iap-tunnel says that the project lacks the API', async function () {
    this.timeout(60_000);
    await enable('disable');
    const run = await gcloud('start-iap-tunnel', 'node-1', '22', '--local-host-port=localhost:0');
    await enable('enable');
    expect(run.isGood).to.equal(false);
    expect(run.stderr).to.match(/4033: 'not authorized'/);
  });
});
