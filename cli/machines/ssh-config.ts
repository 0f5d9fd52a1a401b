/**
 * Writes the config that OpenSSH's client needs for the machines of a bootstrap. It holds their names, the way through the
 * jumpbox, and only the host keys that they published. It is rewritten each time.
 */
import { existsSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import type { BootstrapView, VmView } from '../../shared/bootstrap/bootstrap.js';
import { shellWord } from '../../shared/command-words.js';
import { Problem } from '../../shared/problems.js';
import { hostKeysIn, signaturesOf } from '../../shared/ssh-public-key.js';
import { expandHome, makeSecretFolder, placeOf, secretMode, writeWhole } from '../files/files.js';
import type { SshKey } from '../identity/ssh-key.js';
import { type Settings, sshProxyOf } from '../settings.js';
import { jumpboxName } from './jumpbox.js';

/** The host keys to trust. What else its machine may have published, or a record may say, is none. */
export const hostKeysOf = ({ hostKeys = [] }: Pick<VmView, 'hostKeys'>): string[] => hostKeysIn(hostKeys);

/**
 * Returns the path of the config. `osLoginUser`: the caller's, where machines use OS Login. Machines without published host keys
 * are left out. Throws `conflict` if a value would not be one word of the config.
 */
export function writeSshConfig(
  view: Pick<BootstrapView, 'name' | 'projectId' | 'result'>,
  key: SshKey,
  settings: Settings,
  osLoginUser?: string,
): string {
  const { name, projectId, result } = view;
  const ready = result.vms.filter((vm) => hostKeysOf(vm).length > 0);
  checkWords(name, [...wordsOf(projectId, ready), [userName, 'user of OS Login', osLoginUser]]);
  const { configFolder } = settings;
  const folder = join(configFolder, 'ssh', projectId);
  const path = join(folder, 'config');
  const knownHosts = join(folder, 'known_hosts');
  makeSecretFolder(folder);
  const lines = ready.flatMap((vm) => hostKeysOf(vm).map((hostKey) => `${aliasOf(vm, projectId)} ${hostKey}\n`));
  writeWhole(knownHosts, lines.join(''), secretMode);

  const identity = identityFile(key, settings, join(folder, 'key.pub'));
  const text = [
    `# ${projectId}: written by the command ssh of plinth, anew each time.`,
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

/** A form that holds no blank, no line and no sign that OpenSSH or a shell reads, with what people call it and a value. */
type Word = readonly [isWord: (text: string) => boolean, what: string, value: string | undefined];

const formOf =
  (form: RegExp): Word[0] =>
  (text) =>
    form.test(text);
const machineName = formOf(/^[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/);
const projectName = formOf(/^[a-z][a-z0-9-]{4,28}[a-z0-9]$/);
const zoneName = formOf(/^[a-z][a-z0-9-]{0,61}[a-z0-9]$/);
const userName = formOf(/^[A-Za-z_][\w.-]{0,63}$/);
const address: Word[0] = (text) => isIP(text) !== 0;

const wordsOf = (projectId: string, vms: readonly VmView[]): Word[] => [
  [projectName, 'id of the project', projectId],
  ...vms.flatMap(({ name, internalIp, externalIp, tunnel }): Word[] => [
    [machineName, 'name of a machine', name],
    [address, 'internal address of a machine', internalIp],
    [address, 'external address of a machine', externalIp],
    [projectName, 'project of a tunnel', tunnel?.project],
    [zoneName, 'zone of a tunnel', tunnel?.zone],
    [machineName, 'machine at the end of a tunnel', tunnel?.instance],
  ]),
];

/** Records hold what machines and Google said once, and files of ours are read line by line. */
function checkWords(name: string, words: readonly Word[]): void {
  const bad = words.flatMap(([isWord, what, value]) =>
    value === undefined || isWord(value) ? [] : [`the ${what} is recorded as ${JSON.stringify(value.slice(0, 100))}`],
  );
  if (bad.length === 0) return;
  throw new Problem('conflict', `Nothing is written for ssh: of ${name}, ${bad.join('; ')}.`, {
    advice: 'Somebody may have changed the record. Do not connect, and tell an operator.',
  });
}

/** The name in known_hosts. Addresses change when a VM is restarted, but host keys don't. */
const aliasOf = ({ name }: VmView, projectId: string): string => `${name}.${projectId}`;

function hostLines(vm: VmView, projectId: string, settings: Settings, osLoginUser: string | undefined): string[] {
  const { name, internalIp } = vm;
  const isJumpbox = name === jumpboxName;
  const { address, command } = isJumpbox ? wayToJumpbox(vm, settings) : { address: internalIp };
  return [
    '',
    `Host ${name}`,
    `  HostName ${address}`,
    `  User ${osLoginUser ?? (isJumpbox ? 'ubuntu' : 'root')}`,
    `  HostKeyAlias ${aliasOf(vm, projectId)}`,
    `  HostKeyAlgorithms ${algorithmsOf(hostKeysOf(vm)).join(',')}`,
    ...(isJumpbox ? [] : [`  ProxyJump ${jumpboxName}`]),
    ...(command === undefined ? [] : [`  ProxyCommand ${command}`]),
  ];
}

/** What ssh dials, and the command that does so in its place. It works in any shell, and wherever ssh runs later. */
function wayToJumpbox({ internalIp, externalIp, tunnel }: VmView, settings: Settings) {
  const { iapTunnelUrl, program } = settings;
  const dial = [...program, 'beta', 'dial'];
  if (tunnel !== undefined) {
    const url = iapTunnelUrl === undefined ? [] : ['env', `PLINTH_IAP_TUNNEL_URL=${iapTunnelUrl}`];
    const command = commandOf([...url, ...dial, '--iap', `${tunnel.project}/${tunnel.zone}`]);
    return { address: tunnel.instance, command };
  }
  const address = externalIp ?? internalIp;
  const sshProxy = sshProxyOf(settings);
  if (sshProxy === undefined) return { address };
  return { address, command: commandOf(['env', `PLINTH_SSH_PROXY=${sshProxy}`, ...dial]) };
}

/** OpenSSH fills in the host's name and port. */
const commandOf = (words: readonly string[]): string =>
  [...words.map((word) => shellWord(word).replaceAll('%', '%%')), '%h', '%p'].join(' ');

/** Limits the signature algorithms to the known keys, so that the machine presents a key that can be compared. */
const algorithmsOf = (hostKeys: readonly string[]): string[] =>
  signaturesOf(hostKeys.map((line) => line.split(' ')[0] ?? ''));

/** The private key. If only ssh-agent has it, the public key file tells ssh which of the agent's keys to use. */
function identityFile({ privatePath, publicKey }: SshKey, settings: Settings, publicPath: string): string {
  const expanded = privatePath === undefined ? undefined : expandHome(privatePath, settings.home);
  if (expanded !== undefined && existsSync(placeOf(expanded, settings))) return expanded;
  writeWhole(publicPath, `${publicKey}\n`, secretMode);
  return publicPath;
}

/** OpenSSH expands per cent signs. */
const quoted = (path: string): string => `"${path.replaceAll('%', '%%')}"`;
