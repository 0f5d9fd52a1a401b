/**
 * The kubelet of a node: joins with a token of the controller, then reports that it is alive. Workers run it, and controllers
 * that run pods.
 */
import { randomUUID } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Given } from './command-line.js';
import { now } from './kinds.js';
import { type Access, kubeConfigOf, readJoinToken, readKubeConfig } from './kube-config.js';
import { makeKey, makeRequest } from './pki.js';
import { place, readIfThere, writeWhole } from './place.js';
import { type Api, mustAsk, reachApi } from './reach.js';

/** A tenth of a real one's. */
export const heartbeatSeconds = 1;

const csrs = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const attempts = 5;

export const nodeName = (): string => hostname().toLowerCase();

/** A node that joined before reads no token. */
export async function joinCluster(tokenFile: string | undefined): Promise<Access> {
  const known = readIfThere(place.kubeletConfig);
  if (known !== undefined) return readKubeConfig(known);
  if (tokenFile === undefined) {
    throw new Error(
      'neither regular nor bootstrap kubelet kubeconfig files exist and no join token given; dunno how to make kubelet authenticate to API server',
    );
  }
  const token = readIfThere(tokenFile) ?? '';
  if (token === '')
    throw new Error(`token file "${tokenFile}" not found: obtain a new token via "k0s token create ..."`);
  const access = readJoinToken(token);
  let last: unknown;
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    try {
      return await bootstrap(access);
    } catch (error) {
      last = error;
      await sleep(attempt * 200);
    }
  }
  throw new Error(`failed to bootstrap kubelet client configuration: ${(last as Error).message}`);
}

async function bootstrap({ server, ca, token }: Access): Promise<Access> {
  const api = reachApi({ server, ca, user: 'kubelet-bootstrap', token });
  const key = await makeKey();
  const made = await mustAsk(api, 'POST', csrs, {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { generateName: 'csr-' },
    spec: {
      request: Buffer.from(makeRequest(key, `system:node:${nodeName()}`)).toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
      usages: ['digital signature', 'client auth'],
    },
  });
  const { name } = made['metadata'] as { readonly name: string };
  for (let turn = 0; turn < 50; turn += 1) {
    const { status } = (await mustAsk(api, 'GET', `${csrs}/${name}`)) as { status?: { certificate?: string } };
    if (status?.certificate !== undefined) {
      const certificate = Buffer.from(status.certificate, 'base64').toString();
      const access: Access = { server, ca, user: 'default-auth', certificate, key };
      writeWhole(place.kubeletConfig, kubeConfigOf(access, 'default-context', 'default-cluster'));
      return access;
    }
    await sleep(100);
  }
  throw new Error(`certificate signing request ${name} was not approved`);
}

export interface NodeFacts {
  readonly version: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly object[];
  /** `--enable-cloud-provider`: a cloud controller initialises the node, and knows its addresses. */
  readonly external: boolean;
  /** `--node-ip` of the kubelet. */
  readonly nodeIp?: string | undefined;
}

/** What k0s hands to its kubelet. */
export function readKubeletFlags(given: Given): Pick<NodeFacts, 'external' | 'nodeIp'> {
  let nodeIp: string | undefined;
  for (const word of (given['kubelet-extra-args'] ?? '').split(' ').filter(Boolean)) {
    const [flag, value = ''] = word.split(/=(.*)/s);
    if (flag !== '--node-ip') throw new Error(`failed to run kubelet: unknown flag: ${flag}`);
    if (isIP(value) === 0) throw new Error(`failed to run kubelet: bad --node-ip "${value}"`);
    nodeIp = value;
  }
  return { external: given['enable-cloud-provider'] === 'true', nodeIp };
}

/** A node with it waits for a cloud controller. */
export const uninitialized = {
  key: 'node.cloudprovider.kubernetes.io/uninitialized',
  value: 'true',
  effect: 'NoSchedule',
};

async function ownAddress(): Promise<string> {
  const known = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const own = known.find(({ family, address }) => family === 'IPv4' && !address.startsWith('127.'))?.address;
  return own ?? (await lookup(hostname(), 4)).address;
}

async function addressesOf({ nodeIp }: NodeFacts) {
  return [
    { type: 'InternalIP', address: nodeIp ?? (await ownAddress()) },
    { type: 'Hostname', address: nodeName() },
  ];
}

async function statusNow(facts: NodeFacts, bootId: string) {
  const condition = (type: string, status: string, reason: string, message: string) => ({
    type,
    status,
    reason,
    message,
    lastHeartbeatTime: now(),
  });
  return {
    // With a cloud controller, addresses that are there are its own (pkg/kubelet/nodestatus/setters.go of Kubernetes).
    ...(facts.external ? {} : { addresses: await addressesOf(facts) }),
    conditions: [
      condition('MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'),
      condition('DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
      condition('PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
      condition('Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'),
    ],
    nodeInfo: {
      bootID: bootId,
      machineID: nodeName(),
      kubeletVersion: facts.version.replace(/\+k0s\.\d+$/, '+k0s'),
      operatingSystem: 'linux',
      architecture: 'amd64',
    },
  };
}

/**
 * Registers the node if needed, then reports until the signal. Calls `onBeat` after each report, with the error if there was
 * one.
 */
export async function runKubelet(
  access: Access,
  facts: NodeFacts,
  signal: AbortSignal,
  onBeat: (error: Error | undefined) => void,
): Promise<void> {
  const api = reachApi(access);
  const bootId = randomUUID();
  while (!signal.aborted) {
    await beat(api, facts, bootId).then(
      () => onBeat(undefined),
      (error: Error) => onBeat(error),
    );
    await sleep(heartbeatSeconds * 1000, undefined, { signal }).catch(() => undefined);
  }
}

async function beat(api: Api, facts: NodeFacts, bootId: string): Promise<void> {
  const path = `/api/v1/nodes/${nodeName()}`;
  const status = await statusNow(facts, bootId);
  const type = 'application/strategic-merge-patch+json';
  const { status: code, body } = await api.ask('PATCH', `${path}/status`, { status }, type);
  if (code < 300) return;
  if (code !== 404) throw new Error(String(body['message']));
  const labels = { 'kubernetes.io/hostname': nodeName(), 'kubernetes.io/os': 'linux', ...facts.labels };
  const { external, nodeIp } = facts;
  const taints = [...facts.taints, ...(external ? [uninitialized] : [])];
  const provided = external && nodeIp !== undefined;
  const annotations = provided ? { annotations: { 'alpha.kubernetes.io/provided-node-ip': nodeIp } } : {};
  const metadata = { name: nodeName(), labels, ...annotations };
  const addresses = provided ? { addresses: await addressesOf(facts) } : {};
  await mustAsk(api, 'POST', '/api/v1/nodes', { metadata, spec: { taints }, status: { ...status, ...addresses } });
}
