/** k0s as a systemd service: `install`, `start`, `stop`. The unit is the one that k0s v1.31 writes (kardianos/service). */
import { execFileSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Given } from './command-line.js';
import { writeWhole } from './place.js';

export type Role = 'controller' | 'worker';

const unitName = (role: Role): string => `k0s${role}.service`;
export const unitPath = (role: Role): string => `/etc/systemd/system/${unitName(role)}`;

export function mustBeRoot(): void {
  // In a sandbox all users have the same id. A user who may not write there is not root either.
  if (process.getuid?.() !== 0) throw new Error('this command must be run as root');
}

const systemctl = (...args: string[]): string =>
  execFileSync('systemctl', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

const unitOf = (role: Role, binary: string, args: readonly string[]): string => `[Unit]
Description=k0s - Zero Friction Kubernetes
Documentation=https://docs.k0sproject.io
ConditionFileIsExecutable=${binary}

After=network-online.target
Wants=network-online.target

[Service]
StartLimitInterval=5
StartLimitBurst=10
ExecStart=${[binary, role, ...args].join(' ')}

RestartSec=10
Delegate=yes
KillMode=process
LimitCORE=infinity
TasksMax=infinity
TimeoutStartSec=0
LimitNOFILE=999999
Restart=always

[Install]
WantedBy=multi-user.target
`;

const ofPaths = new Set(['data-dir', 'kubelet-root-dir', 'token-file', 'config']);
const notPassed = new Set(['force', 'env', 'help']);

export function install(role: Role, given: Given): void {
  mustBeRoot();
  if (existsSync(unitPath(role)) && given['force'] !== 'true') {
    throw new Error(`failed to install ${role} service: Init already exists: ${unitPath(role)}`);
  }
  const args = Object.entries(given)
    .filter(([name]) => !notPassed.has(name))
    .map(([name, value]) => `--${name}=${ofPaths.has(name) ? resolve(value) : value}`);
  writeWhole(unitPath(role), unitOf(role, resolve(process.argv[1] ?? ''), args), 0o644);
  systemctl('daemon-reload');
  systemctl('enable', unitName(role));
}

const roles: readonly Role[] = ['controller', 'worker'];

function installed(): Role {
  const role = roles.find((each) => existsSync(unitPath(each)));
  if (role === undefined) throw new Error('k0s has not been installed as a service');
  return role;
}

function isActive(role: Role): boolean {
  try {
    return ['active', 'activating'].includes(systemctl('is-active', unitName(role)).trim());
  } catch (error) {
    return String((error as { stdout?: string }).stdout ?? '').trim() === 'activating';
  }
}

export function start(): void {
  mustBeRoot();
  const role = installed();
  if (isActive(role)) throw new Error('already running');
  systemctl('start', unitName(role));
}

export function stop(): void {
  mustBeRoot();
  const role = installed();
  if (!isActive(role)) throw new Error('already stopped');
  systemctl('stop', unitName(role));
}

export function uninstall(): void {
  for (const role of roles) {
    if (!existsSync(unitPath(role))) continue;
    if (isActive(role)) throw new Error('k0s seems to be running, please stop k0s before reset');
    systemctl('disable', unitName(role));
    rmSync(unitPath(role));
  }
  systemctl('daemon-reload');
}
