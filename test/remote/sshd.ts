/** Debian's own sshd on loopback, with keys and config of its own, in a mount namespace where jobs and one small disk leave nothing behind. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { homedir, tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Machine } from '../../functions/remote/remote.js';
import { makeKey, withoutComment } from './keys.js';

export interface Sshd {
  readonly folder: string;
  /** A folder whose disk holds 1 MiB. */
  readonly smallDisk: string;
  readonly machine: Machine;
  readonly privateKey: string;
  /** Keys of nobody's, of the same form. */
  readonly strangerKey: string;
  /** Shell commands where its files are seen, such as a kill of what runs there. */
  inside(command: string): string;
  /** Connections that it holds. */
  logins(): number;
  stop(): Promise<void>;
}

const program = '/usr/sbin/sshd';

export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
};

/** `environment`: what sessions have, as of /etc/environment. */
export async function startSshd(name = 'jumpbox', environment: Readonly<Record<string, string>> = {}): Promise<Sshd> {
  if (!existsSync(program)) throw new Error(`There is no ${program}: apt-get install openssh-server`);
  const folder = mkdtempSync(join(tmpdir(), 'plinth-sshd-'));
  const smallDisk = join(folder, 'small');
  const [host, user, stranger] = [makeKey(), makeKey(), makeKey()];
  const port = await freePort();
  const given = Object.entries(environment)
    .map(([variable, value]) => `${variable}=${value}`)
    .join(' ');
  mkdirSync(smallDisk);
  for (const place of ['/run/sshd', '/var/lib/plinth', join(homedir(), '.plinth')])
    mkdirSync(place, { recursive: true });
  writeFileSync(join(folder, 'host'), host.privateKey, { mode: 0o600 });
  writeFileSync(join(folder, 'authorized'), `${user.publicKey}\n`, { mode: 0o600 });
  writeFileSync(
    join(folder, 'config'),
    [
      `Port ${port}`,
      'ListenAddress 127.0.0.1',
      `HostKey ${folder}/host`,
      `AuthorizedKeysFile ${folder}/authorized`,
      'PidFile none',
      'UsePAM no',
      'StrictModes no',
      'PasswordAuthentication no',
      'KbdInteractiveAuthentication no',
      'PermitRootLogin prohibit-password',
      // Fourteen at once, of which sshd as it comes drops some.
      'MaxStartups 100',
      'LogLevel VERBOSE',
      'Subsystem sftp internal-sftp',
      ...(given === '' ? [] : [`SetEnv ${given}`]),
      '',
    ].join('\n'),
  );
  const mounts = [
    `mount -t tmpfs -o size=1m tmpfs ${smallDisk}`,
    'mount -t tmpfs tmpfs /var/lib/plinth',
    `mount -t tmpfs tmpfs ${join(homedir(), '.plinth')}`,
    // Under sshd bash reads it before each command, and what people have in theirs may take longer than all else.
    `if [ -e ${join(homedir(), '.bashrc')} ]; then mount --bind /dev/null ${join(homedir(), '.bashrc')}; fi`,
  ].join(' && ');
  const child: ChildProcess = spawn(
    'unshare',
    ['--mount', '--propagation', 'private', 'sh', '-c', `${mounts} && exec ${program} -D -e -f ${folder}/config`],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  while (!said.includes('Server listening')) {
    if (child.exitCode !== null) throw new Error(`sshd ended: ${said}`);
    await sleep(20);
  }
  const inside = (command: string): string =>
    execFileSync('nsenter', ['--mount', '--target', String(child.pid), 'sh', '-c', command], { encoding: 'utf8' });
  return {
    folder,
    smallDisk,
    machine: {
      name,
      address: '127.0.0.1',
      port,
      user: userInfo().username,
      hostKeys: [withoutComment(host.publicKey)],
    },
    privateKey: user.privateKey,
    strangerKey: stranger.privateKey,
    inside,
    logins: () => Number(execFileSync('sh', ['-c', `pgrep -P ${child.pid} | wc -l`], { encoding: 'utf8' })),
    async stop() {
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
