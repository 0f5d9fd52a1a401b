/** `plinth beta bootstrap-cloud ssh`: a shell or a command on a machine, through the caller's own OpenSSH client. */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { flags } from '../../shared/bootstrap/options.js';
import { refusalOf } from '../../shared/bootstrap/rules.js';
import { shellWord } from '../../shared/command-words.js';
import { Problem } from '../../shared/problems.js';
import { idOf } from '../bootstrap/named.js';
import { type CommandContext, defineCommand } from '../frame/command.js';
import { osLoginUser } from '../identity/os-login.js';
import { findSshKey, type SshKey, sshKeyFaults } from '../identity/ssh-key.js';
import { jumpboxName } from '../machines/jumpbox.js';
import { hostKeysOf, writeSshConfig } from '../machines/ssh-config.js';

export const ssh = defineCommand({
  passes: { name: 'command', help: 'A command to run there, instead of a shell. plinth exits with its exit code.' },
  description: [
    'Logs in with the ssh of your own machine: to the jumpbox as ubuntu, through it to all others as root. It uses the same SSH key as bootstrap-cloud, and ssh-agent. It trusts only the host keys that the machines published, and refuses a machine that shows another.',
    "It writes a config for ssh in plinth's folder, anew each time. --print-config only prints its path, for ssh -F, scp -F or an editor.",
    'Where PLINTH_SSH_PROXY names an HTTP CONNECT proxy (http://host:port), the jumpbox is reached through it.',
    'Where the organization requires OS Login, everybody logs in as themselves and uses sudo. Their key is brought by gcloud compute os-login ssh-keys add.',
    'A jumpbox without a public address is reached through IAP. That needs a Google access token: log in with gcloud auth login.',
  ],
  options: ['sshPrivateKeyPath', 'sshPublicKeyPath'],
  flags: { 'print-config': 'Only write the config for ssh, and print its path.' },
  examples: [
    'plinth beta bootstrap-cloud ssh demo',
    'plinth beta bootstrap-cloud ssh demo k0s-1 -- journalctl -u k0scontroller -n 50',
    'scp -F "$(plinth beta bootstrap-cloud ssh demo --print-config)" notes.txt jumpbox:',
  ],

  async run(call) {
    const key = await keyOf(call);
    const client = await call.connect();
    const view = await client.get(await idOf(call, client));
    const host = call.word('host')?.text ?? jumpboxName;
    checkReachable(view, host);
    const config = writeSshConfig(view, key, call.settings, await osLoginUser(call, client, view, key));
    if (call.has('print-config')) return { data: { config }, show: () => config, asIs: true };
    const exitCode = await runSsh(call, [
      '-F',
      config,
      host,
      ...(call.passed.length === 0 ? [] : ['--', ...call.passed]),
    ]);
    // 255 is ssh's own exit code: the connection failed, not the command.
    if (exitCode === 255 && !call.interrupted.aborted) {
      const again = `plinth beta bootstrap-cloud restart-vms ${shellWord(view.name)}`;
      call.output.say(`If the VM was stopped or taken away, this starts it again: ${again}`);
    }
    return { data: { host, config }, exitCode };
  },
});

/** The caller's key. This command makes none, because no machine would accept it. */
async function keyOf({ given, faults, settings }: CommandContext): Promise<SshKey> {
  const found = [...faults, ...(await sshKeyFaults(given, settings))];
  if (found.length > 0) throw refusalOf(found);
  const key = findSshKey(given, flags.sshPublicKeyPath.default, settings);
  if (key.keep === undefined) return key;
  throw new Problem('bad-input', 'No SSH key was found: neither the usual files nor ssh-agent have one.', {
    advice: 'Name the one that the bootstrap was made with, by --ssh-private-key-path.',
  });
}

function checkReachable({ name, state, result: { vms } }: BootstrapView, host: string): void {
  if (state === 'removed') throw new Problem('conflict', `${name} is removed, and its machines with it.`);
  const follow = `plinth beta bootstrap-cloud status ${shellWord(name)} --follow`;
  if (!vms.some((vm) => vm.name === jumpboxName)) {
    throw new Problem('conflict', `${name} has no jumpbox yet.`, { advice: `Watch it being made: ${follow}` });
  }
  if (!vms.some((vm) => vm.name === host)) {
    throw new Problem('not-found', `${name} has no machine ${JSON.stringify(host)}.`, {
      advice: `It has: ${vms.map((vm) => vm.name).join(', ')}.`,
    });
  }
  const unknown = vms.find((vm) => [jumpboxName, host].includes(vm.name) && hostKeysOf(vm).length === 0);
  if (unknown === undefined) return;
  throw new Problem('conflict', `${unknown.name} has published no host key yet, so nothing is sent to it.`, {
    advice: `It does so when it has started up. Watch it: ${follow}`,
  });
}

/** Returns ssh's exit code. Until ssh exits, the keyboard and Ctrl-C belong to it. */
function runSsh(
  { io: { events, inherited }, settings: { env, folder } }: CommandContext,
  args: readonly string[],
): Promise<number> {
  const ours = (['SIGINT', 'SIGTERM'] as const).map((signal) => [signal, events.listeners(signal)] as const);
  const ignore = (): void => undefined;
  for (const [signal] of ours) events.removeAllListeners(signal);
  events.on('SIGINT', ignore);
  return new Promise<number>((resolve, reject) => {
    const child = spawn('ssh', [...args], { stdio: inherited, env, cwd: folder });
    const handOn = (signal: NodeJS.Signals): void => void child.kill(signal);
    for (const signal of ['SIGTERM', 'SIGHUP'] as const) events.on(signal, handOn);
    child.once('error', (error: NodeJS.ErrnoException) => reject(error.code === 'ENOENT' ? noClient() : error));
    child.once('close', (code, signal) => resolve(code ?? 128 + constants.signals[signal ?? 'SIGTERM']));
  }).finally(() => {
    events.removeAllListeners('SIGTERM').removeAllListeners('SIGHUP').removeListener('SIGINT', ignore);
    for (const [signal, listeners] of ours) for (const each of listeners) events.on(signal, each as () => void);
  });
}

const noClient = (): Problem =>
  new Problem('bad-input', "There is no ssh on this machine: OpenSSH's client is not on the PATH.", {
    advice: 'Install it, for example with apt-get install openssh-client, and run the command again.',
  });
