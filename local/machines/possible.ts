/** Whether this computer can hold simulated VMs: bubblewrap, and user namespaces that it may make. Asked once by the cloud half. */
import { spawnSync } from 'node:child_process';

/** Undefined if it can; else why not, and what to do. */
export function whyNoMachines(): string | undefined {
  if (process.platform !== 'linux') return 'simulated VMs need Linux';
  for (const [program, arg, from] of [
    ['bwrap', '--version', 'bubblewrap'],
    ['nsenter', '--version', 'util-linux'],
    ['bash', '--version', 'bash'],
  ] as const) {
    if (spawnSync(program, [arg], { stdio: 'ignore' }).status !== 0) {
      return `${program} is missing: install ${from}, such as with apt-get install ${from}`;
    }
  }
  const trial = spawnSync(
    'bwrap',
    [
      ...['--unshare-all', '--unshare-user', '--uid', '0', '--gid', '0', '--cap-add', 'ALL'],
      ...['--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev', 'true'],
    ],
    { encoding: 'utf8', timeout: 10_000 },
  );
  if (trial.status === 0) return undefined;
  const said = trial.stderr?.trim().split('\n').at(-1) ?? String(trial.error ?? '');
  return `this system lets nobody here make user namespaces (${said}); see sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone and kernel.apparmor_restrict_unprivileged_userns`;
}
