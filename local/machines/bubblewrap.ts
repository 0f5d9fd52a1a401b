/** Makes sandboxes with bubblewrap. Some systems let only bubblewrap make user namespaces. */
import { spawn, spawnSync } from 'node:child_process';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { firstLine } from './first-line.js';
import { type Isolation, type Mount, machinePath } from './isolation.js';

const namespaces = ['--unshare-all', '--unshare-user', '--uid', '0', '--gid', '0', '--cap-add', 'ALL'];
const options: Readonly<Record<Mount['kind'], string>> = { 'read-only': '--ro-bind', own: '--bind', link: '--symlink' };

export const bubblewrap: Isolation = {
  name: 'bwrap',
  start({ hostname, mounts, command }) {
    const args = [
      ...namespaces,
      ...['--hostname', hostname, '--die-with-parent', '--new-session', '--clearenv', '--setenv', 'PATH', machinePath],
      ...['--dev', '/dev', '--proc', '/proc', '--tmpfs', '/run', '--dir', '/run/lock', '--chdir', '/'],
      ...mounts.flatMap(({ kind, from, to }) => [options[kind], from, to]),
      ...['--info-fd', '3', '--', ...command],
    ];
    const child = spawn('bwrap', args, { stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
    const info = text(child.stdio[3] as Readable);
    return {
      child,
      pid: info.then((json) => (JSON.parse(json) as { 'child-pid': number })['child-pid']),
      said: firstLine(child),
    };
  },
  trial() {
    if (spawnSync('bwrap', ['--version'], { stdio: 'ignore' }).status !== 0) return 'bubblewrap is not here';
    const tried = spawnSync(
      'bwrap',
      [...namespaces, '--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev', 'true'],
      { encoding: 'utf8', timeout: 10_000 },
    );
    return tried.status === 0 ? undefined : (tried.stderr?.trim().split('\n').at(-1) ?? String(tried.error));
  },
};
