/**
 * The jumpbox through the simulated tunnel of IAP beside the same sshd reached directly: logins, questions, a file by SFTP.
 * Both ends of the tunnel run in this process, so real IAP leaves more of the cores to the client, and adds a way over the
 * network that is not here.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createRemote, type FileSource, type Machine, type Remote } from '../../functions/remote/remote.js';
import { sha256 } from '../../shared/sha256.js';
import { furnish, zone } from '../local-cloud/furnished.js';
import { owner, project, type ReadyCloud, readyCloud } from '../local-cloud/ready-cloud.js';
import { type Sshd, startSshd } from '../remote/sshd.js';
import { type Figure, type Measurement, median } from './figures.js';
import { noOpenSsh } from './ssh.js';

const mebibytes = 64;
const rounds = 5;
const questions = 60;

export const iap: Measurement = {
  name: 'iap',
  title: 'The jumpbox through IAP beside directly',
  mostSeconds: 180,
  async *measure(say) {
    if (!existsSync('/usr/sbin/sshd')) {
      yield { name: 'iap', why: noOpenSsh, kind: 'left out' };
      return;
    }
    const sshd = await startSshd();
    const cloud = await readyCloud();
    try {
      await openTunnelTo(cloud, sshd);
      yield* await compared(sshd, cloud, say);
    } finally {
      await cloud.close();
      await sshd.stop();
    }
  },
};

async function openTunnelTo(cloud: ReadyCloud, { machine }: Sshd): Promise<void> {
  await furnish(cloud);
  const enabled = await cloud.call('serviceusage', 'POST /v1/projects/P/services/iap.googleapis.com:enable', {});
  if (enabled.status !== 200) throw new Error(enabled.message);
  cloud.tunnel.leadTo(
    () =>
      new Promise((resolve, reject) => {
        const stream = connect({ port: machine.port ?? 22, host: machine.address, noDelay: true });
        stream.once('connect', () => resolve({ kind: 'open', stream })).once('error', reject);
      }),
  );
}

interface Taken {
  readonly login: number[];
  readonly question: number[];
  readonly file: number[];
}

const seconds = async (work: () => Promise<unknown>): Promise<number> => {
  const from = performance.now();
  await work();
  return (performance.now() - from) / 1000;
};

async function compared(sshd: Sshd, cloud: ReadyCloud, say: (text: string) => void): Promise<Figure[]> {
  const content = randomBytes(mebibytes * 1024 * 1024);
  const source: FileSource = {
    size: content.length,
    sha256: sha256(content),
    async *read(offset) {
      for (let at = offset; at < content.length; at += 1024 * 1024) yield content.subarray(at, at + 1024 * 1024);
    },
  };
  const tunnel = { project, zone, instance: 'jumpbox' };
  const token = async (): Promise<string> => cloud.identity.accessToken(owner);
  const ways = [
    { machine: sshd.machine, remote: () => createRemote({}), taken: newTaken() },
    {
      machine: { ...sshd.machine, tunnel },
      remote: () => createRemote({ iap: { url: cloud.tunnel.url, token } }),
      taken: newTaken(),
    },
  ] as const;
  // By turns: what else this computer does meets both alike.
  for (let round = 0; round < rounds; round++) {
    say(`directly and through IAP, ${round + 1} of ${rounds}`);
    for (const { machine, remote, taken } of round % 2 === 0 ? ways : ways.toReversed()) {
      await once(sshd, { machine, remote: remote(), source, path: join(sshd.folder, `arrived-${round}`) }, taken);
    }
  }
  const [direct, through] = [ways[0].taken, ways[1].taken];
  const speed = ({ file }: Taken): number => mebibytes / Math.min(...file);
  const beside = (name: string, unit: string, of: (taken: Taken) => number): Figure => ({
    name,
    value: of(through),
    unit,
    baseline: { name: 'directly', value: of(direct), unit },
  });
  return [
    beside('a login through IAP', 'ms', ({ login }) => median(login) * 1000),
    beside('a question to the jumpbox through IAP', 'ms', ({ question }) => median(question) * 1000),
    beside('a file by SFTP through IAP', 'MiB/s', speed),
  ];
}

const newTaken = (): Taken => ({ login: [], question: [], file: [] });

interface Way {
  readonly machine: Machine;
  readonly remote: Remote;
  readonly source: FileSource;
  readonly path: string;
}

async function once(
  { privateKey }: Sshd,
  { machine, remote, source, path }: Way,
  { login, question, file }: Taken,
): Promise<void> {
  const request = { bootstrapId: 'b1', jumpbox: machine, privateKey };
  login.push(await seconds(async () => remote.host(request)));
  const host = await remote.host(request);
  for (let n = 0; n < questions; n++) question.push(await seconds(() => host.exec('true')));
  file.push(await seconds(() => host.send(path, source, { mode: 0o600 })));
  if (statSync(path).size !== source.size) throw new Error(`${path} is not whole`);
  rmSync(path);
  await remote.close();
}
