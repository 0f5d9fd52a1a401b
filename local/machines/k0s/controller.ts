/**
 * `k0s controller`: the API server, the approval of new nodes, the watch over their heartbeats, and with `--enable-worker` a
 * kubelet. With `--enable-cloud-provider` it also runs the cloud controller that a package brings for the real k0s.
 */
import { readFileSync } from 'node:fs';
import type { Server } from 'node:net';
import { hostname } from 'node:os';
import { stringify } from 'yaml';
import { startApiServer } from './api-server.js';
import { runCloudController } from './cloud-controller.js';
import { type ClusterConfig, readClusterConfig } from './cluster-config.js';
import type { Given } from './command-line.js';
import { conditionsOf, kindOf, type Thing } from './kinds.js';
import { type Access, kubeConfigOf } from './kube-config.js';
import { heartbeatSeconds, joinCluster, nodeName, readKubeletFlags, runKubelet } from './kubelet.js';
import { createObjects, type Objects } from './objects.js';
import { adminIdentity, clusterCa, type Identity, makeKey, makeRequest, serverIdentity, signRequest } from './pki.js';
import { defaultConfigPath, place, readIfThere, writeWhole } from './place.js';
import { unitPath } from './service.js';
import { k0sVars, type Status, serveStatus } from './status.js';

/** How long a node may stay silent: a tenth of node-monitor-grace-period. */
const graceSeconds = 4 * heartbeatSeconds;

/** Reads `--config`, else the default file, else takes the defaults. */
export function configOf(given: Given): ClusterConfig {
  const path = given['config'];
  const text = path === undefined ? (readIfThere(defaultConfigPath) ?? '') : readFileSync(path, 'utf8');
  return readClusterConfig(text, '127.0.0.1');
}

/** Signs only requests of kubelets, at once, as kube-controller-manager does with bootstrap tokens. */
function approve(objects: Objects, ca: Identity): void {
  const kind = kindOf('certificatesigningrequests');
  const sign = (thing: Thing): void => {
    if ((thing['status'] as { certificate?: string } | undefined)?.certificate !== undefined) return;
    const { request = '' } = (thing['spec'] ?? {}) as { request?: string };
    const certificate = signRequest(Buffer.from(request, 'base64').toString(), ca);
    if (certificate === undefined) return;
    const conditions = [{ type: 'Approved', status: 'True', reason: 'AutoApproved' }];
    const status = { conditions, certificate: Buffer.from(certificate).toString('base64') };
    objects.replace(kind, undefined, thing.metadata.name, { ...thing, status });
  };
  objects.onChange((change) => {
    if (change.kind === kind && change.type === 'ADDED') setImmediate(() => sign(change.thing));
  });
}

/**
 * A node that stops reporting is not Ready, whatever it reported last. A controller that has just started also waits that long
 * first.
 */
function monitor(objects: Objects): void {
  const kind = kindOf('nodes');
  const upSince = Date.now();
  const look = (): void => {
    for (const node of objects.list(kind)) {
      const conditions = conditionsOf(node);
      const ready = conditions.find(({ type }) => type === 'Ready');
      const heard = Math.max(upSince, Date.parse(ready?.lastHeartbeatTime ?? ''));
      if (ready?.status !== 'True' || Date.now() - heard < graceSeconds * 1000) continue;
      const lost = { status: 'Unknown', reason: 'NodeStatusUnknown', message: 'Kubelet stopped posting node status.' };
      const status = { ...(node['status'] as object), conditions: conditions.map((each) => ({ ...each, ...lost })) };
      objects.replace(kind, undefined, node.metadata.name, { ...node, status });
    }
  };
  setInterval(look, 500);
}

/** Where Compute is, by gcloud's own variable. A machine without it belongs to no simulated cloud that could be asked. */
const computeUrl = (): string | undefined =>
  /^CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE=(.+)$/m.exec(readIfThere('/etc/environment') ?? '')?.[1];

const listening = (server: Server, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, resolve);
  });

function firstOf(cidr: string): string {
  const numbers = (cidr.split('/')[0] ?? '').split('.');
  return [...numbers.slice(0, 3), Number(numbers[3]) + 1].join('.');
}

export async function runController(given: Given, version: string, args: readonly string[]): Promise<never> {
  const config = configOf(given);
  const flags = readKubeletFlags(given);
  const { api, network } = config.spec;
  const ca = await clusterCa();
  const names = [api.address, ...api.sans, hostname(), 'localhost', '127.0.0.1', 'kubernetes', 'kubernetes.default'];
  const cluster = ['kubernetes.default.svc', 'kubernetes.default.svc.cluster.local', firstOf(network.serviceCIDR)];
  const [identity, admin] = await Promise.all([serverIdentity(ca, [...names, ...cluster]), adminIdentity(ca)]);
  const objects = createObjects();
  approve(objects, ca);
  monitor(objects);
  await listening(startApiServer({ objects, identity, ca: ca.certificate, version }), api.port);
  const local: Access = { server: `https://localhost:${api.port}`, ca: ca.certificate, user: 'user', ...admin };
  writeWhole(place.adminConfig, kubeConfigOf(local, 'Default', 'local'));
  writeWhole(place.runtimeConfig, stringify({ spec: { nodeConfig: config } }));

  const workloads = given['enable-worker'] === 'true' || given['single'] === 'true';
  let trouble: string | undefined = workloads ? 'the kubelet has not reported yet' : undefined;
  const status = (): Status => ({
    Version: version,
    Pid: process.pid,
    PPid: process.ppid,
    Role: 'controller',
    SysInit: 'linux-systemd',
    StubFile: unitPath('controller'),
    Output: '',
    Workloads: workloads,
    SingleNode: given['single'] === 'true',
    Args: args,
    WorkerToAPIConnectionStatus: { Message: trouble ?? '', Success: workloads && trouble === undefined },
    ClusterConfig: config,
    K0sVars: k0sVars,
  });
  await serveStatus(status);
  const compute = computeUrl();
  if (flags.external && compute !== undefined) {
    const urls = { compute, metadata: 'http://metadata.google.internal', proxy: process.env['HTTP_PROXY'] };
    void runCloudController(objects, urls, new AbortController().signal);
  }
  if (workloads) {
    await ownKubeletConfig(local, ca);
    const taints = [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }];
    const isTainted = given['no-taints'] !== 'true' && given['single'] !== 'true';
    const labels = { 'node-role.kubernetes.io/control-plane': 'true', 'node.k0sproject.io/role': 'control-plane' };
    const facts = { version, labels, taints: isTainted ? taints : [], ...flags };
    void runKubelet(await joinCluster(undefined), facts, new AbortController().signal, (error) => {
      trouble = error?.message;
    });
  }
  return new Promise<never>(() => undefined);
}

/** A controller needs no token for its own kubelet. */
async function ownKubeletConfig({ server, ca: authority }: Access, ca: Identity): Promise<void> {
  if (readIfThere(place.kubeletConfig) !== undefined) return;
  const key = await makeKey();
  const certificate = signRequest(makeRequest(key, `system:node:${nodeName()}`), ca);
  const access = { server, ca: authority, user: 'default-auth', certificate, key };
  writeWhole(place.kubeletConfig, kubeConfigOf(access, 'default-context', 'default-cluster'));
}
