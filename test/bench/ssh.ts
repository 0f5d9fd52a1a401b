/**
 * Machines over SSH, against OpenSSH's own sshd and clients on loopback: how fast a big file goes there, and how long one
 * question to a machine behind the jumpbox takes. Where there is no sshd or no scp nothing is measured.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createRemote, type FileSource } from '../../functions/remote/remote.js';
import { sha256 } from '../../shared/sha256.js';
import { type Sshd, startSshd } from '../remote/sshd.js';
import { type Figure, type Measurement, median, part } from './figures.js';

const run = promisify(execFile);
const mebibytes = 256;
const rounds = 3;
const questions = 200;
const machines = 14;

export const noOpenSsh = 'OpenSSH is not on this machine: apt-get install openssh-server openssh-client.';

export const ssh: Measurement = {
  name: 'ssh',
  title: 'Files and questions to machines over SSH',
  mostSeconds: 300,
  async *measure(say) {
    if (!existsSync('/usr/sbin/sshd') || !existsSync('/usr/bin/scp')) {
      yield { name: 'ssh', why: noOpenSsh, kind: 'left out' };
      return;
    }
    const sshd = await startSshd();
    try {
      yield* part('files over SSH', () => files(sshd, say));
      yield* part('questions over SSH', () => asked(sshd, say));
    } finally {
      await sshd.stop();
    }
  },
};

const seconds = async (work: () => Promise<unknown>): Promise<number> => {
  const from = performance.now();
  await work();
  return (performance.now() - from) / 1000;
};

async function files(sshd: Sshd, say: (text: string) => void): Promise<Figure[]> {
  const content = randomBytes(mebibytes * 1024 * 1024);
  const [from, to, key] = ['big', 'arrived', 'key'].map((name) => join(sshd.folder, name)) as [string, string, string];
  writeFileSync(from, content);
  writeFileSync(key, sshd.privateKey, { mode: 0o600 });
  const { port, address, user } = sshd.machine;
  const options = ['-o', 'StrictHostKeyChecking=no', '-o', `UserKnownHostsFile=${join(sshd.folder, 'known')}`];
  const scp = ['-q', '-B', '-i', key, '-P', String(port), ...options, from, `${user}@${address}:${to}-scp`];
  const source: FileSource = {
    size: content.length,
    sha256: sha256(content),
    async *read(offset) {
      for (let at = offset; at < content.length; at += 1024 * 1024) yield content.subarray(at, at + 1024 * 1024);
    },
  };
  const request = { bootstrapId: 'b1', jumpbox: sshd.machine, privateKey: sshd.privateKey };
  const machine = { ...sshd.machine, name: 'k0s-1' };
  const taken = new Map<string, number[]>();
  const took = (what: string, value: number): void => void taken.set(what, [...(taken.get(what) ?? []), value]);
  // By turns: what else this computer does meets them all alike.
  for (let round = 0; round < rounds; round++) {
    say(`${mebibytes} MiB to a machine, ${round + 1} of ${rounds}`);
    const copied = await seconds(() => run('scp', scp));
    took('scp', copied);
    // What `send` promises besides: the hash is right, and it is on the disk.
    const safe = async () => sshd.inside(`sha256sum '${to}-scp' && sync -d '${to}-scp'`);
    took('scp, safe', copied + (await seconds(safe)));
    for (const [name, wanted] of [
      ['jumpbox', request],
      ['behind', { ...request, machine }],
    ] as const) {
      const remote = createRemote({});
      const path = `${to}-${name}-${round}`;
      const from = performance.now();
      // With the login, as scp has its login in it.
      const onProgress = (bytes: number): void => {
        if (bytes === content.length) took(name, (performance.now() - from) / 1000);
      };
      const host = await remote.host(wanted);
      await host.send(path, source, { mode: 0o600, onProgress });
      took(`${name}, safe`, (performance.now() - from) / 1000);
      await remote.close();
      if (statSync(path).size !== content.length) throw new Error(`${path} is not whole`);
      rmSync(path);
    }
  }
  const speed = (what: string): number => mebibytes / Math.min(...(taken.get(what) ?? []));
  const plain = { name: 'plain scp', value: speed('scp'), unit: 'MiB/s' };
  const safe = { name: 'scp, sha256sum, sync', value: speed('scp, safe'), unit: 'MiB/s' };
  const unit = 'MiB/s';
  return [
    { name: 'bytes to the jumpbox', value: speed('jumpbox'), unit, baseline: plain, atLeast: 0.8 },
    { name: '… in place, checked', value: speed('jumpbox, safe'), unit, baseline: safe, atLeast: 0.8 },
    { name: 'bytes through the jumpbox', value: speed('behind'), unit, baseline: plain },
    { name: '… in place, checked', value: speed('behind, safe'), unit, baseline: safe },
  ];
}

async function asked(sshd: Sshd, say: (text: string) => void): Promise<Figure[]> {
  say(`${questions} questions to one machine, and at once to ${machines}`);
  const remote = createRemote({});
  const hostOf = (n: number) =>
    remote.host({
      bootstrapId: 'b1',
      jumpbox: sshd.machine,
      machine: { ...sshd.machine, name: `k0s-${n}` },
      privateKey: sshd.privateKey,
    });
  const logins = await seconds(() => Promise.all(Array.from({ length: machines }, (_, n) => hostOf(n))));
  const host = await hostOf(0);
  const each: number[] = [];
  for (let n = 0; n < questions; n++) each.push((await seconds(() => host.exec('true'))) * 1000);
  const all = await seconds(() =>
    Promise.all(Array.from({ length: questions }, async (_, n) => (await hostOf(n % machines)).exec('true'))),
  );
  await remote.close();
  return [
    { name: 'one question to a machine behind the jumpbox', value: median(each), unit: 'ms' },
    { name: `each of ${questions} at once to ${machines} machines`, value: (all * 1000) / questions, unit: 'ms' },
    { name: `logins of ${machines} machines at once`, value: logins * 1000, unit: 'ms' },
  ];
}
