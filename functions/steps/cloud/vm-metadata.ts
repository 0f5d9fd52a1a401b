/** Builds the metadata of a VM: who may log in, and its start-up script. */
import type { VmRole } from '../topology.js';

/** Kernel settings that the platform's nodes need. */
const sysctls = [
  'fs.inotify.max_user_watches=1048576',
  'fs.inotify.max_user_instances=8192',
  'vm.max_map_count=262144',
];

/** All connections to the nodes go through the jumpbox, many at once. */
const sshdSettingsOf = (role: VmRole): readonly string[] =>
  role === 'jumpbox'
    ? ['PermitRootLogin no', 'MaxStartups 100', 'MaxSessions 64']
    : ['PermitRootLogin prohibit-password'];
const sysctlFile = '/etc/sysctl.d/90-plinth.conf';
// sshd uses the first value it reads, and the names of the image's own files begin with 50 and 60.
const sshdFile = '/etc/ssh/sshd_config.d/10-plinth.conf';

/** Lines of the metadata key `ssh-keys`. Root can't log in on the jumpbox, which the world can reach. */
export const sshKeysOf = (role: VmRole, keys: readonly string[]): string =>
  (role === 'jumpbox' ? ['ubuntu'] : ['root', 'ubuntu'])
    .flatMap((user) => [...new Set(keys.map((key) => key.trim()))].map((key) => `${user}:${key}`))
    .join('\n');

/** Sets up the machine, which saves the SSH round trips. Runs at every start with the same result. */
export function startupScriptOf(role: VmRole): string {
  const isJumpbox = role === 'jumpbox';
  return [
    '#!/bin/bash',
    'set -eu',
    ...heredoc(sysctlFile, sysctls),
    `sysctl --quiet --load=${sysctlFile}`,
    'mkdir -p /etc/ssh/sshd_config.d',
    ...heredoc(sshdFile, sshdSettingsOf(role)),
    ...(isJumpbox
      ? []
      : [
          // cloud-init restricts root's keys: they only print a hint to log in as another user, and exit.
          `if [ -f /root/.ssh/authorized_keys ]; then sed -i 's/^.*exit 142" //' /root/.ssh/authorized_keys; fi`,
        ]),
    'systemctl reload ssh',
    '',
  ].join('\n');
}

/** A script that exits with 0 if the setup is complete. */
export function hostSetupCheckOf(role: VmRole): string {
  return [
    'set -eu',
    ...sysctls.map((each) => {
      const [name, value] = each.split('=');
      return `[ "$(sysctl -n ${name})" = ${value} ]`;
    }),
    ...sshdSettingsOf(role).map((line) => `grep -qx '${line}' ${sshdFile}`),
  ].join('\n');
}

const heredoc = (path: string, lines: readonly string[]): string[] => [`cat > ${path} <<'END'`, ...lines, 'END'];
