/** The table of scripts: a text that stands in a script of a step, and what the script comes to on a machine. */
import { sha256 } from '../../shared/sha256.js';
import { secretWord } from './bootstraps-people.js';
import type { Machine } from './machines.js';

interface Run {
  readonly script: string;
  readonly args: readonly string[];
  readonly stdin: string;
  readonly now: number;
}

interface Ended {
  readonly exitCode?: number;
  readonly stdout?: string;
  readonly stderr?: string;
}

type Script = (machine: Machine, run: Run, all: readonly Machine[]) => Ended | boolean;

const k0s = '/usr/local/bin/k0s';
const tokenPath = '/etc/k0s/join-token';
const kubelet = '/var/lib/k0s/kubelet.conf';
const authority = '/var/lib/k0s/pki/ca.crt';
/** A control plane and a node come up so long after their start. */
const comesUpMs = 15_000;

const put = ({ files }: Machine, path = '', text = ''): true => {
  files.set(path, Buffer.from(text));
  return true;
};
/** Fine where there is none. */
const drop = (from: Map<string, unknown>, name: string): true => {
  from.delete(name);
  return true;
};
const textOf = ({ files }: Machine, path = ''): string | undefined => files.get(path)?.toString();
const isUp = ({ services }: Machine, name: string, now: number): boolean =>
  now >= (services.get(name) ?? Number.POSITIVE_INFINITY) + comesUpMs;
const linesOf = (machine: Machine, path: string): string[] => (textOf(machine, path) ?? '').split('\n');
/** Of a file, as sha256sum says it. What was fetched is known by its hash alone. */
const hashOf = (content: Buffer): string => {
  const text = content.toString();
  return text.startsWith('fetched ') ? text.slice('fetched '.length) : sha256(text);
};
const said = (stdout: string): Ended => ({ stdout });

const nodesOf = (controller: Machine, now: number, all: readonly Machine[]): string[] => {
  const mine = textOf(controller, authority);
  const encoded = Buffer.from(mine ?? '').toString('base64');
  const joined = all.filter(
    (each) =>
      each.projectId === controller.projectId && isUp(each, 'k0sworker', now) && textOf(each, kubelet) === encoded,
  );
  return [controller, ...joined].map(({ name }) => name);
};

const version = (machine: Machine): string => textOf(machine, k0s) ?? '';

/** The first whose text stands in the script. */
const scripts: readonly (readonly [stands: string, comesTo: Script])[] = [
  ['#!/bin/bash', (machine) => put(machine, '/etc/set-up', 'yes')],
  ['$(sysctl -n', (machine) => machine.files.has('/etc/set-up')],
  [
    'ssh-keygen -y -f',
    (machine, { args: [path = ''] }) => {
      if (!machine.files.has(path)) put(machine, path, `key of ${machine.name} ${secretWord}`);
      return put(machine, `${path}.pub`, `ssh-ed25519 AAAA ${machine.name}\n`);
    },
  ],
  [
    'grep -qxF "$1" /root/.ssh/authorized_keys',
    (machine, { args: [key = ''] }) => linesOf(machine, '/root/.ssh/authorized_keys').includes(key),
  ],
  [
    'grep -vxF "$1" "$f"',
    (machine, { args: [key = ''] }) => {
      const path = '/root/.ssh/authorized_keys';
      const others = linesOf(machine, path).filter((line) => line !== key && line !== '');
      return put(machine, path, `${[...others, key].join('\n')}\n`);
    },
  ],
  [
    'sha256sum --check --status && [ -x',
    ({ files }, { args: [path = '', hash = ''] }) => hashOf(files.get(path) ?? Buffer.from('')) === hash,
  ],
  [
    'exit 69',
    (machine, { args: [path, , , name = ''] }) => put(machine, path, /^k0s-(.*)-amd64$/.exec(name)?.[1] ?? ''),
  ],
  ['curl --config - --fail', (machine, { args: [path, hash] }) => put(machine, path, `fetched ${hash}`)],
  ['mkdir -p -m 700 "$1"', () => true],
  [
    '[ -s "$1" ] && rm -f "$2"',
    ({ files }, { args: [path = '', address = ''] }) => {
      if (!files.has(path)) return false;
      files.delete(address);
      return true;
    },
  ],
  ['rm -f "$1"', ({ files }, { args: [path = ''] }) => drop(files, path)],
  [
    `${k0s} version`,
    (machine) => (version(machine) === '' ? { exitCode: 127, stderr: 'not found' } : said(`${version(machine)}\n`)),
  ],
  [
    `${k0s} status`,
    (machine, { now }) => {
      const role = isUp(machine, 'k0scontroller', now) ? 'controller' : isUp(machine, 'k0sworker', now) ? 'worker' : '';
      return role === '' ? false : said(JSON.stringify({ Role: role, Version: version(machine) }));
    },
  ],
  ['--raw /readyz', (machine, { now }) => isUp(machine, 'k0scontroller', now)],
  ['systemctl stop k0scontroller', ({ services }) => drop(services, 'k0scontroller')],
  [
    'config validate',
    (machine, { now }) => {
      if (!machine.services.has('k0scontroller')) machine.services.set('k0scontroller', now);
      return machine.files.has(authority) || put(machine, authority, `authority of ${machine.projectId}\n`);
    },
  ],
  ['grep -qF "$1" "$2"', (machine, { args: [text = '', path] }) => textOf(machine, path)?.includes(text) ?? false],
  [
    'systemctl is-active --quiet k0sworker',
    ({ services, files }, { now }) => files.has(tokenPath) && now - (services.get('k0sworker') ?? 0) < 60_000,
  ],
  ['token create', (machine, { now }) => (isUp(machine, 'k0scontroller', now) ? said(`token ${secretWord}`) : false)],
  [
    'systemctl restart k0sworker',
    (machine, { args: [, token, config, encoded], stdin, now }) => {
      put(machine, token, stdin);
      machine.services.set('k0sworker', now);
      return put(machine, config, encoded);
    },
  ],
  [
    'kubectl get nodes',
    (machine, { now }, all) => {
      if (!isUp(machine, 'k0scontroller', now)) return false;
      const conditions = [{ type: 'Ready', status: 'True' }];
      const items = nodesOf(machine, now, all).map((name) => ({ metadata: { name }, status: { conditions } }));
      return said(JSON.stringify({ items }));
    },
  ],
  ['kubeconfig admin', (machine) => said(`kubeconfig of ${machine.projectId} ${secretWord}\n`)],
  ['kubectl get services', () => said('')],
  ['kubectl get secret', () => said('')],
  ['left+=("$file")', () => true],
  [
    'rmdir -- "$1"',
    ({ files }, { args: [, secrets = '', identity = ''] }) => drop(files, secrets) && drop(files, identity),
  ],
];

const resultOf = (ended: Ended | boolean): Ended => {
  if (typeof ended === 'boolean') return { exitCode: ended ? 0 : 1, ...(ended ? {} : { stderr: 'it is not so' }) };
  return ended;
};

export const outcomes = {
  ofScript(machine: Machine, run: Run, all: readonly Machine[]): Ended {
    const found = scripts.find(([stands]) => run.script.includes(stands));
    if (found === undefined) throw new Error(`The table of scripts lacks this one:\n${run.script}`);
    return resultOf(found[1](machine, run, all));
  },

  /** What a job leaves at its end, and its exit code. */
  ofJob(machine: Machine, script: string): number {
    const [, address] = /--config (\/run\/\S+)/.exec(script) ?? [];
    if (address !== undefined && !machine.files.has(address)) return 26;
    const [, hash] = /\[ "\$sum" = '([0-9a-f]+) {2}-' \]/.exec(script) ?? [];
    const [, path] = /mv -f \S+\.part (\S+)/.exec(script) ?? [];
    if (path !== undefined) put(machine, path, `fetched ${hash}`);
    const [, digest, marker] = /echo (\w+) > (\S+)\.new/.exec(script) ?? [];
    if (marker !== undefined) put(machine, marker, `${digest}\n`);
    return 0;
  },
};
