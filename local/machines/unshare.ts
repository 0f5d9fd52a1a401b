/** Makes sandboxes with util-linux alone: unshare makes the namespaces, and sandbox.sh the file system in them. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { linesOf } from './first-line.js';
import { type Isolation, machinePath, sourceFolder } from './isolation.js';

/** setpriv makes the kernel kill it when this process ends, for whatever reason. unshare then takes its child along. */
const words = [
  ...['setpriv', '--pdeathsig', 'KILL', '--', 'setsid', 'unshare', '--user', '--map-root-user'],
  ...['--mount', '--pid', '--net', '--uts', '--ipc', '--fork', '--kill-child=SIGKILL', '--'],
] as const;
const [program, ...args] = words;

export const unshare: Isolation = {
  name: 'unshare',
  start({ root, hostname, mounts, command }) {
    mkdirSync(root, { recursive: true });
    const named = mounts.flatMap(({ kind, from, to }) => [kind, from, to]);
    const child = spawn(
      program,
      [...args, '/bin/bash', join(sourceFolder, 'sandbox.sh'), root, hostname, ...named, '--', ...command],
      { stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: machinePath } },
    );
    const next = linesOf(child);
    const pid = next().then(Number);
    return { child, pid, said: pid.then(next) };
  },
  trial() {
    const mounts = 'mount -t tmpfs none /tmp && mount -t proc proc /proc && command -v pivot_root hostname >/dev/null';
    const tried = spawnSync(program, [...args, '/bin/bash', '-c', mounts], {
      encoding: 'utf8',
      timeout: 10_000,
      env: { PATH: machinePath },
    });
    return tried.status === 0 ? undefined : (tried.stderr?.trim().split('\n').at(-1) ?? String(tried.error));
  },
};
