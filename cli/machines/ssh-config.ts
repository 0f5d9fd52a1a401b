/**
 * Writes the config that OpenSSH's client needs for the machines of a bootstrap. It holds their names, the way through the
 * jumpbox, and only the host keys that they published. It is rewritten each time.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { BootstrapView, VmView } from '../../shared/bootstrap/bootstrap.js';
import { shellWord } from '../../shared/command-words.js';
import { expandHome, makeSecretFolder, placeOf, secretMode, writeWhole } from '../files/files.js';
import type { SshKey } from '../identity/ssh-key.js';
import type { Settings } from '../settings.js';
import { jumpboxName } from './jumpbox.js';

/** Returns the path of the config. `osLoginUser`: the caller's, where machines use OS Login. Machines without published host keys are left out. */
export function writeSshConfig(
  { name, projectId, result }: Pick<BootstrapView, 'name' | 'projectId' | 'result'>,
  key: SshKey,
  settings: Settings,
  osLoginUser?: string,
): string {
  const { configFolder } = settings;
  const folder = join(configFolder, 'ssh', projectId);
  const path = join(folder, 'config');
  const knownHosts = join(folder, 'known_hosts');
  makeSecretFolder(folder);
  const ready = result.vms.filter(({ hostKeys = [] }) => hostKeys.length > 0);
  const lines = ready.flatMap((vm) => (vm.hostKeys ?? []).map((hostKey) => `${aliasOf(vm, projectId)} ${hostKey}\n`));
  writeWhole(knownHosts, lines.join(''), secretMode);

  const identity = identityFile(key, settings, join(folder, 'key.pub'));
  const text = [
    `# ${name}: written by plinth beta bootstrap-cloud ssh, anew each time.`,
    ...ready.flatMap((vm) => hostLines(vm, projectId, settings, osLoginUser)),
    '',
    'Host *',
    `  IdentityFile ${quoted(identity)}`,
    '  IdentitiesOnly yes',
    '  PreferredAuthentications publickey',
    `  UserKnownHostsFile ${quoted(knownHosts)}`,
    '  GlobalKnownHostsFile none',
    '  StrictHostKeyChecking yes',
    '  CheckHostIP no',
    '  UpdateHostKeys no',
    // Detects within 45 seconds that a machine silently vanished, such as a VM that was taken away.
    '  ServerAliveInterval 15',
  ];
  writeWhole(path, `${text.join('\n')}\n`, secretMode);
  return path;
}

/** The name in known_hosts. Addresses change when a VM is restarted, but host keys don't. */
const aliasOf = ({ name }: VmView, projectId: string): string => `${name}.${projectId}`;

function hostLines(vm: VmView, projectId: string, settings: Settings, osLoginUser: string | undefined): string[] {
  const { name, internalIp, hostKeys = [] } = vm;
  const isJumpbox = name === jumpboxName;
  const { address, command } = isJumpbox ? wayToJumpbox(vm, settings) : { address: internalIp };
  return [
    '',
    `Host ${name}`,
    `  HostName ${address}`,
    `  User ${osLoginUser ?? (isJumpbox ? 'ubuntu' : 'root')}`,
    `  HostKeyAlias ${aliasOf(vm, projectId)}`,
    `  HostKeyAlgorithms ${algorithmsOf(hostKeys).join(',')}`,
    ...(isJumpbox ? [] : [`  ProxyJump ${jumpboxName}`]),
    ...(command === undefined ? [] : [`  ProxyCommand ${command}`]),
  ];
}

/** What ssh dials, and the command that does so in its place. It works in any shell, and wherever ssh runs later. */
function wayToJumpbox({ internalIp, externalIp, tunnel }: VmView, settings: Settings) {
  const { sshProxy, iapTunnelUrl, program } = settings;
  const dial = [...program, 'beta', 'dial'];
  if (tunnel !== undefined) {
    const url = iapTunnelUrl === undefined ? [] : ['env', `PLINTH_IAP_TUNNEL_URL=${iapTunnelUrl}`];
    const command = commandOf([...url, ...dial, '--iap', `${tunnel.project}/${tunnel.zone}`]);
    return { address: tunnel.instance, command };
  }
  const address = externalIp ?? internalIp;
  if (sshProxy === undefined) return { address };
  return { address, command: commandOf(['env', `PLINTH_SSH_PROXY=${sshProxy}`, ...dial]) };
}

/** OpenSSH fills in the host's name and port. */
const commandOf = (words: readonly string[]): string =>
  [...words.map((word) => shellWord(word).replaceAll('%', '%%')), '%h', '%p'].join(' ');

/** Limits the signature algorithms to the known keys, so that the machine presents a key that can be compared. */
function algorithmsOf(hostKeys: readonly string[]): string[] {
  const types = hostKeys.map((line) => line.split(' ')[0] ?? '');
  return [...new Set(types.flatMap((type) => (type === 'ssh-rsa' ? ['rsa-sha2-512', 'rsa-sha2-256'] : [type])))];
}

/** The private key. If only ssh-agent has it, the public key file tells ssh which of the agent's keys to use. */
function identityFile({ privatePath, publicKey }: SshKey, settings: Settings, publicPath: string): string {
  const expanded = privatePath === undefined ? undefined : expandHome(privatePath, settings.home);
  if (expanded !== undefined && existsSync(placeOf(expanded, settings))) return expanded;
  writeWhole(publicPath, `${publicKey}\n`, secretMode);
  return publicPath;
}

/** OpenSSH expands per cent signs. */
const quoted = (path: string): string => `"${path.replaceAll('%', '%%')}"`;
