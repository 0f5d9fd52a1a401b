/** Checks whether this computer can hold real hosts: root on Linux, the programs, and working namespaces, overlays and nft. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { hasBase } from './base.js';

const programs: Readonly<Record<string, string>> = {
  unshare: 'util-linux',
  nsenter: 'util-linux',
  setpriv: 'util-linux',
  ip: 'iproute2',
  ss: 'iproute2',
  nft: 'nftables',
  sysctl: 'procps',
};

/** `folder` is for the disks. Undefined if it can. Otherwise the reason, and what to do. */
export function whyNoRealHosts(folder: string): string | undefined {
  if (process.platform !== 'linux') return 'real hosts need Linux';
  if (process.getuid?.() !== 0) return 'real hosts need root; run it with sudo';
  const wanted = { ...programs, ...(hasBase() ? {} : { debootstrap: 'debootstrap' }) };
  const missing = Object.entries(wanted).filter(
    ([program]) => spawnSync('which', [program], { stdio: 'ignore' }).status !== 0,
  );
  if (missing.length > 0) {
    const names = missing.map(([program]) => program).join(', ');
    const packages = [...new Set(missing.map(([, from]) => from))].join(' ');
    return `${names} ${missing.length === 1 ? 'is' : 'are'} missing: apt-get install ${packages}`;
  }
  mkdirSync(folder, { recursive: true });
  const trial = mkdtempSync(join(folder, 'trial-'));
  try {
    const { status, stderr, error } = spawnSync(
      'unshare',
      [
        ...['--mount', '--net', '--uts', '--ipc', '--cgroup', '--pid', '--mount-proc', '--fork', '--'],
        ...['bash', '-ec', attempt, 'trial', trial],
      ],
      { encoding: 'utf8', timeout: 20_000 },
    );
    if (status === 0) return undefined;
    const said = stderr?.trim().split('\n').at(-1) ?? String(error ?? '');
    return `this system does not let root make them (${said}); in a container, that takes --privileged and a volume for temporary files`;
  } finally {
    rmSync(trial, { recursive: true, force: true });
  }
}

const attempt = `cd "$1"
mkdir lower upper work root groups
mount -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work root
mount -t cgroup2 none groups
ip link add one type veth peer name two
nft add table ip trial
nft 'add chain ip trial c { type nat hook output priority 0; }'
nft 'add rule ip trial c ct state established accept'
umount root groups`;
