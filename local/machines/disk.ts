/**
 * The disk of a simulated VM: folders on the real disk, with the few files that a fresh Ubuntu has. It is made at the first
 * start and removed with the VM.
 */
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Top folders that belong to the VM and survive its restarts. `/tmp` is emptied at each start. */
export const ownFolders = ['etc', 'home', 'opt', 'root', 'srv', 'tmp', 'usr/local', 'var'] as const;

export interface DiskFacts {
  readonly hostname: string;
  readonly address: string;
  readonly environment: Readonly<Record<string, string>>;
}

const directories = [
  'etc/containers',
  ...['etc/ssh/sshd_config.d', 'etc/sysctl.d', 'etc/systemd/system', 'etc/ssl/certs', 'etc/ssl/private'],
  ...['etc/alternatives', 'etc/postgresql-common'],
  ...['home/ubuntu', 'usr/local/bin', 'usr/local/sbin', 'usr/local/lib', 'usr/local/share/ca-certificates'],
  ...['var/lib', 'var/log', 'var/cache', 'var/tmp', 'var/spool'],
];

const passwd = [
  'root:x:0:0:root:/root:/bin/bash',
  'nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin',
  'ubuntu:x:1000:1000:Ubuntu:/home/ubuntu:/bin/bash',
];

const filesOf = ({ hostname, address, environment }: DiskFacts): Readonly<Record<string, string>> => ({
  'etc/passwd': lines(passwd),
  // The view of the user ubuntu after login. The sandbox has only one user id.
  'etc/passwd.guest': lines([(passwd[2] ?? '').replace(':1000:1000:', ':0:0:'), ...passwd.slice(0, 2)]),
  'etc/group': lines(['root:x:0:', 'sudo:x:27:ubuntu', 'nogroup:x:65534:', 'ubuntu:x:1000:']),
  'etc/environment': environmentText(environment),
  'etc/hostname': lines([hostname]),
  'etc/hosts': lines(['127.0.0.1 localhost', '::1 localhost', `${address} ${hostname}`]),
  'etc/nsswitch.conf': lines(['passwd: files', 'group: files', 'hosts: files']),
  'etc/resolv.conf': lines(['nameserver 169.254.169.254']),
  'etc/os-release': lines([
    'PRETTY_NAME="Ubuntu 22.04.5 LTS"',
    'NAME="Ubuntu"',
    'VERSION_ID="22.04"',
    'VERSION_CODENAME=jammy',
    'ID=ubuntu',
    'ID_LIKE=debian',
  ]),
  // Comes with skopeo, which refuses images without it.
  'etc/containers/policy.json': lines(['{ "default": [{ "type": "insecureAcceptAnything" }] }']),
  'etc/profile': lines(['[ -z "$BASH_VERSION" ] || [ ! -r /etc/bash.bashrc ] || . /etc/bash.bashrc']),
  'etc/bash.bashrc': lines(["PS1='\\u@\\h:\\w\\$ '"]),
  'etc/ssh/sshd_config': lines(['Include /etc/ssh/sshd_config.d/*.conf', 'KbdInteractiveAuthentication no']),
  'etc/ssh/ssh_config': lines(['Host *', '    ProxyCommand /usr/local/sbin/dial %h %p']),
  'etc/ssh/sshd_config.d/60-cloudimg-settings.conf': lines(['PasswordAuthentication no']),
});

/** The content of `/etc/environment`. */
export const environmentText = (environment: Readonly<Record<string, string>>): string =>
  Object.entries(environment)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');

const lines = (all: readonly string[]): string => `${all.join('\n')}\n`;

/** Makes missing files. Files that the VM wrote stay. */
export function makeDisk(folder: string, facts: DiskFacts): void {
  rmSync(join(folder, 'tmp'), { recursive: true, force: true });
  const isNew = !existsSync(join(folder, 'etc/hostname'));
  for (const directory of [...ownFolders, ...directories]) {
    mkdirSync(join(folder, directory), { recursive: true, mode: directory === 'root' ? 0o700 : 0o755 });
  }
  chmodSync(join(folder, 'tmp'), 0o1777);
  if (!isNew) return;
  for (const [file, text] of Object.entries(filesOf(facts))) writeFileSync(join(folder, file), text);
  if (existsSync('/etc/ssl/openssl.cnf')) cpSync('/etc/ssl/openssl.cnf', join(folder, 'etc/ssl/openssl.cnf'));
}

/** Removes a disk, including folders that their own user may not write to. */
export function removeDisk(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    unlock(folder);
    rmSync(folder, { recursive: true, force: true });
  }
}

function unlock(folder: string): void {
  chmodSync(folder, 0o700);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) unlock(join(folder, entry.name));
  }
}
