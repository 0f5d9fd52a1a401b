/** A simulated cloud with a network, a jumpbox and nodes that answer SSH, keys to log in with, and OpenSSH's own client. */
import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { sshKeysOf, startupScriptOf } from '../../functions/steps/cloud/vm-metadata.js';
import { guests } from '../../local/cloud/compute/instance-life.js';
import type { JsonObject } from '../../local/cloud/kernel/api.js';
import { embeddedBy } from '../../local/machines/embedded.js';
import { type Machines, startMachines } from '../../local/machines/index.js';
import type { Isolation } from '../../local/machines/isolation.js';
import { isolations } from '../../local/machines/possible.js';
import type { Tier } from '../../local/machines/tier.js';
import { openSshPair } from '../../shared/openssh.js';
import { region, vmBody, zone } from '../local-cloud/furnished.js';
import { project, type ReadyCloud, readyCloud } from '../local-cloud/ready-cloud.js';
import { needMachines } from '../support/machines.js';

export interface SshRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface MachineWorld {
  readonly cloud: ReadyCloud;
  readonly machines: Machines;
  /** OpenSSH private keys by name, as files. */
  readonly keyFile: (name: 'ours' | 'other') => string;
  readonly publicKey: (name: 'ours' | 'other') => string;
  /** `POST …/instances/<name>/<verb>`, or whatever the line says beneath the zone. */
  vm(line: string, body?: object): Promise<JsonObject>;
  global(line: string, body?: object): Promise<JsonObject>;
  address(name: string): Promise<{ internal: string; external: string }>;
  path(name: string): string;
  /** OpenSSH's client to the jumpbox, or through it to a node; the host keys are those that the VMs published. */
  ssh(login: string, command: string, options?: SshOptions): Promise<SshRun>;
  /** What a started client says and how it ends. */
  startSsh(login: string, command: string, options?: SshOptions): ReturnType<typeof spawn>;
  close(): Promise<void>;
}

export interface SshOptions {
  readonly key?: 'ours' | 'other';
  readonly stdin?: string | Buffer;
  readonly args?: readonly string[];
  readonly program?: 'ssh' | 'sftp';
  readonly timeoutSeconds?: number;
}

const dial = fileURLToPath(new URL('../../local/dial.js', import.meta.url));

/** The others carry none. */
export const firstNodeAccount = `first-node@${project}.iam.gserviceaccount.com`;

export const routersPath = `/compute/v1/projects/P/regions/${region}/routers`;
/** The way out of VMs without an address of their own. */
export const nat = {
  name: 'nat',
  natIpAllocateOption: 'AUTO_ONLY',
  sourceSubnetworkIpRangesToNat: 'ALL_SUBNETWORKS_ALL_IP_RANGES',
};

export const vmPath = (name: string): string => `projects/${project}/zones/${zone}/instances/${name}`;

/** The same tests with each way to keep embedded machines apart. */
export function describeMachines(title: string, tests: (isolation: Isolation) => void): void {
  for (const isolation of isolations) describe(`${title}, by ${isolation.name}`, () => tests(isolation));
}

/** Throws where this computer can hold none. */
export function machineWorld(nodes = ['node-1', 'node-2'], isolation?: Isolation): Promise<MachineWorld> {
  needMachines();
  return makeMachineWorld(nodes, embeddedBy(isolation));
}

export async function makeMachineWorld(nodes: readonly string[], tier: Tier): Promise<MachineWorld> {
  const cloud = await readyCloud();
  const folder = mkdtempSync(join(tmpdir(), 'plinth-machines-'));
  const machines = await startMachines({
    world: cloud.world,
    identity: cloud.identity,
    folder: join(folder, 'machines'),
    outsidePorts: () => [cloud.frontUrl, `http://${cloud.imagesHost}`].map((url) => Number(new URL(url).port)),
    tier,
    onNote: (note) => process.stderr.write(`${note}\n`),
  });
  cloud.tunnel.leadTo(machines.connectFromIap);
  const pairOf = (comment: string) =>
    openSshPair(String(generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' })), comment);
  const pairs = { ours: pairOf('ours'), other: pairOf('other') };
  for (const [name, pair] of Object.entries(pairs)) {
    writeFileSync(join(folder, name), pair.privateKey);
    chmodSync(join(folder, name), 0o600);
  }
  const call = async (line: string, body?: object): Promise<JsonObject> => {
    const reply = await cloud.call('compute', line, body);
    expect(reply.status, `${line}: ${reply.message}`).to.equal(200);
    return reply.body;
  };
  const beneath = (base: string) => (line: string, body?: object) => {
    const [method = '', path = ''] = line.split(' ');
    return call(`${method} ${base}/${path}`, body);
  };
  const global = beneath('/compute/v1/projects/P/global');
  const vm = beneath(`/compute/v1/projects/P/zones/${zone}`);

  await global('POST networks', { name: 'net', autoCreateSubnetworks: false });
  await call(`POST /compute/v1/projects/P/regions/${region}/subnetworks`, {
    name: 'sub',
    network: 'global/networks/net',
    ipCidrRange: '10.10.0.0/20',
  });
  const network = 'global/networks/net';
  await call(`POST ${routersPath}`, { name: 'router', network, nats: [nat] });
  await global('POST firewalls', {
    name: 'allow-ssh-ext',
    network,
    allowed: [{ IPProtocol: 'tcp', ports: ['22'] }],
    targetTags: ['ssh'],
  });
  await global('POST firewalls', {
    name: 'allow-internal',
    network,
    allowed: [{ IPProtocol: 'all' }],
    sourceRanges: ['10.10.0.0/20'],
  });
  const subnetwork = `regions/${region}/subnetworks/sub`;
  const metadata = (role: 'jumpbox' | 'k0s') => ({
    items: [
      { key: 'enable-guest-attributes', value: 'TRUE' },
      { key: 'ssh-keys', value: sshKeysOf(role, [pairs.ours.publicKey]) },
      { key: 'startup-script', value: startupScriptOf(role) },
    ],
  });
  await vm(
    'POST instances',
    vmBody('jumpbox', {
      tags: { items: ['jumpbox', 'ssh'] },
      networkInterfaces: [{ subnetwork, accessConfigs: [{}] }],
      metadata: metadata('jumpbox'),
    }),
  );
  const made = await cloud.call('iam', 'POST /v1/projects/P/serviceAccounts', { accountId: 'first-node' });
  expect(made.status, made.message).to.equal(200);
  const scopes = ['https://www.googleapis.com/auth/cloud-platform'];
  for (const [index, name] of nodes.entries()) {
    const account = index === 0 ? { serviceAccounts: [{ email: firstNodeAccount, scopes }] } : {};
    await vm('POST instances', vmBody(name, { tags: { items: ['k0s'] }, metadata: metadata('k0s'), ...account }));
  }
  await machines.settle();

  const address = async (name: string) => {
    const [nic] = (await vm(`GET instances/${name}`))['networkInterfaces'] as JsonObject[];
    const [access] = (nic?.['accessConfigs'] ?? []) as JsonObject[];
    return { internal: String(nic?.['networkIP']), external: String(access?.['natIP']) };
  };
  const jumpbox = (await address('jumpbox')).external;

  const startSsh: MachineWorld['startSsh'] = (login, command, { key = 'ours', args = [], program = 'ssh' } = {}) => {
    const [user = '', host = ''] = login.split('@');
    const known = join(folder, 'known_hosts');
    const lines = ['jumpbox', ...nodes].map(
      (name) => `${name} ${guests(cloud.world)[vmPath(name)]?.hostKey.publicKey}`,
    );
    writeFileSync(known, `${lines.join('\n')}\n`);
    const base = `-F none -i ${join(folder, key)} -o IdentitiesOnly=yes -o BatchMode=yes -o LogLevel=ERROR -o StrictHostKeyChecking=yes -o UserKnownHostsFile=${known}`;
    const toProxy = `${process.execPath} ${dial} %h %p`;
    const [target, proxy] =
      host === 'jumpbox'
        ? [jumpbox, toProxy]
        : [
            host,
            `ssh ${base} -o HostKeyAlias=jumpbox -o 'ProxyCommand=${toProxy.replaceAll('%', '%%')}' -W %h:%p ubuntu@${jumpbox}`,
          ];
    const alias = nodes.includes(host) || host === 'jumpbox' ? host : (args[0] ?? host);
    return spawn(
      program,
      [
        ...base.split(' '),
        '-o',
        `HostKeyAlias=${alias}`,
        '-o',
        `ProxyCommand=${proxy}`,
        ...args,
        `${user}@${target}`,
        ...(command === '' ? [] : [command]),
      ],
      { env: { ...process.env, PLINTH_SSH_PROXY: machines.proxyUrl } },
    );
  };

  return {
    cloud,
    machines,
    keyFile: (name) => join(folder, name),
    publicKey: (name) => pairs[name].publicKey,
    vm,
    global,
    address,
    path: vmPath,
    startSsh,
    async ssh(login, command, options = {}) {
      const child = startSsh(login, command, options);
      const timer = setTimeout(() => child.kill('SIGKILL'), (options.timeoutSeconds ?? 20) * 1000);
      child.stdin?.on('error', () => undefined).end(options.stdin ?? '');
      const [stdout, stderr, code] = await Promise.all([
        text(child.stdout as NodeJS.ReadableStream),
        text(child.stderr as NodeJS.ReadableStream),
        new Promise<number | null>((resolve) => child.once('close', resolve)),
      ]);
      clearTimeout(timer);
      return { code, stdout, stderr };
    },
    async close() {
      await machines.close();
      await cloud.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
