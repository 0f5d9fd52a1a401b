/**
 * The cloud controller of the cluster: it initialises nodes, and keeps one forwarding rule for each service of type
 * LoadBalancer. Names, finalizer and events are those of Kubernetes (cloud-provider, controllers/service).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Cloud, type CloudUrls, lastOf, type Resource, reachCloud } from './cloud.js';
import { kindOf, type Thing } from './kinds.js';
import { uninitialized } from './kubelet.js';
import type { Objects } from './objects.js';

const nodes = kindOf('nodes');
const services = kindOf('services');
const namespaces = kindOf('namespaces');
const events = kindOf('events');

const finalizer = 'service.kubernetes.io/load-balancer-cleanup';
const typeAnnotation = 'networking.gke.io/load-balancer-type';

const lookMilliseconds = 250;
/** A tenth of Kubernetes' own. */
const [firstRetrySeconds, lastRetrySeconds] = [0.5, 30];

interface ServiceSpec {
  readonly type?: string;
  readonly loadBalancerIP?: string;
  readonly ports?: readonly { readonly port: number; readonly protocol?: string }[];
}

/** Runs until the signal. It looks at the objects themselves, because it shares a process with the API server. */
export async function runCloudController(objects: Objects, urls: CloudUrls, signal: AbortSignal): Promise<void> {
  const attempt = createAttempts();
  while (!signal.aborted) {
    for (const node of objects.list(nodes).filter(isTainted)) {
      await attempt(node.metadata.uid, 'initialised', async () =>
        initialise(await reachCloud(urls), objects, node),
      ).catch((error: Error) => {
        process.stderr.write(`failed to initialize node ${node.metadata.name} at cloudprovider: ${error.message}\n`);
      });
    }
    for (const service of objects.list(services)) {
      const wants = specOf(service).type === 'LoadBalancer' && service.metadata['deletionTimestamp'] === undefined;
      if (!wants && !finalizersOf(service).includes(finalizer)) continue;
      const wish = JSON.stringify([wants, isInternal(service), specOf(service)]);
      await attempt(service.metadata.uid, wish, async () => {
        const cloud = await reachCloud(urls);
        await (wants ? ensure(cloud, objects, service) : release(cloud, objects, service));
      }).catch((error: Error) => {
        const words = `Error syncing load balancer: failed to ${wants ? 'ensure' : 'delete'} load balancer`;
        emit(objects, service, 'Warning', 'SyncLoadBalancerFailed', `${words}: ${error.message}`);
      });
    }
    await sleep(lookMilliseconds, undefined, { signal }).catch(() => undefined);
  }
}

/** Does the work for a wish once. After a failure it is repeated, later each time. A new wish is tried at once. */
function createAttempts() {
  const known = new Map<string, { readonly wish: string; readonly delaySeconds: number; readonly nextAt: number }>();
  return async (uid: string, wish: string, work: () => Promise<void>): Promise<void> => {
    const last = known.get(uid)?.wish === wish ? known.get(uid) : undefined;
    if (last !== undefined && Date.now() < last.nextAt) return;
    try {
      await work();
      known.set(uid, { wish, delaySeconds: 0, nextAt: Number.POSITIVE_INFINITY });
    } catch (error) {
      const delaySeconds = Math.min(lastRetrySeconds, 2 * (last?.delaySeconds ?? firstRetrySeconds / 2));
      known.set(uid, { wish, delaySeconds, nextAt: Date.now() + delaySeconds * 1000 });
      throw error;
    }
  };
}

// --- nodes ------------------------------------------------------------------------------------------------------------

interface Taint {
  readonly key: string;
}

const taintsOf = (node: Thing): readonly Taint[] => (node['spec'] as { taints?: Taint[] } | undefined)?.taints ?? [];
const isTainted = (node: Thing): boolean => taintsOf(node).some(({ key }) => key === uninitialized.key);

interface Nic {
  readonly networkIP: string;
  readonly network: string;
  readonly subnetwork: string;
  readonly accessConfigs?: readonly { readonly natIP?: string }[];
}

/** A VM of the zone of the control plane, as plinth has one zone for a datacenter. */
async function instance(
  cloud: Cloud,
  name: string,
): Promise<Resource & { readonly networkInterfaces: readonly Nic[] }> {
  const found = await cloud.find(`zones/${cloud.zone}/instances/${name}`);
  if (found === undefined) throw new Error('instance not found');
  return found as Resource & { networkInterfaces: Nic[] };
}

async function initialise(cloud: Cloud, objects: Objects, { metadata: { name } }: Thing): Promise<void> {
  const { machineType, networkInterfaces } = await instance(cloud, name);
  const { project, region, zone } = cloud;
  const type = lastOf(String(machineType));
  const fresh = objects.get(nodes, undefined, name);
  const labels = {
    ...fresh.metadata.labels,
    'topology.kubernetes.io/zone': zone,
    'topology.kubernetes.io/region': region,
    'failure-domain.beta.kubernetes.io/zone': zone,
    'failure-domain.beta.kubernetes.io/region': region,
    'node.kubernetes.io/instance-type': type,
    'beta.kubernetes.io/instance-type': type,
  };
  const external = networkInterfaces.flatMap(({ accessConfigs = [] }) =>
    accessConfigs.flatMap(({ natIP }) => natIP ?? []),
  );
  const addresses = [
    ...networkInterfaces.map(({ networkIP }) => ({ type: 'InternalIP', address: networkIP })),
    ...external.map((address) => ({ type: 'ExternalIP', address })),
    { type: 'Hostname', address: name },
  ];
  const taints = taintsOf(fresh).filter(({ key }) => key !== uninitialized.key);
  objects.replace(nodes, undefined, name, {
    ...fresh,
    metadata: { ...fresh.metadata, labels },
    spec: { ...(fresh['spec'] as object), providerID: `gce://${project}/${zone}/${name}`, taints },
    status: { ...(fresh['status'] as object), addresses },
  });
}

// --- load balancers ---------------------------------------------------------------------------------------------------

const specOf = (service: Thing): ServiceSpec => (service['spec'] ?? {}) as ServiceSpec;
const finalizersOf = ({ metadata }: Thing): readonly string[] => (metadata['finalizers'] as string[] | undefined) ?? [];
const isInternal = ({ metadata }: Thing): boolean =>
  (metadata['annotations'] as Record<string, string> | undefined)?.[typeAnnotation] === 'Internal';

/** The name of the service's forwarding rule. */
const nameOf = ({ metadata: { uid } }: Thing): string => `a${uid.replaceAll('-', '')}`.slice(0, 32);

/** A rule whose target pool or backend service has the rule's name. Neither is made: the simulated cloud takes its name for it. */
async function ruleOf(cloud: Cloud, service: Thing): Promise<Resource> {
  const { ports = [], loadBalancerIP } = specOf(service);
  const numbers = ports.map(({ port }) => port).sort((a, b) => a - b);
  const name = nameOf(service);
  const here = `projects/${cloud.project}/regions/${cloud.region}`;
  const common = {
    name,
    description: JSON.stringify({
      'kubernetes.io/service-name': `${service.metadata.namespace}/${service.metadata.name}`,
    }),
    ...(loadBalancerIP === undefined ? {} : { IPAddress: loadBalancerIP }),
    IPProtocol: ports[0]?.protocol ?? 'TCP',
  };
  if (!isInternal(service)) {
    const portRange = `${numbers[0]}-${numbers.at(-1)}`;
    return { ...common, loadBalancingScheme: 'EXTERNAL', portRange, target: `${here}/targetPools/${name}` };
  }
  const [nic] = (await instance(cloud, cloud.machine)).networkInterfaces;
  return {
    ...common,
    loadBalancingScheme: 'INTERNAL',
    ports: numbers.map(String),
    backendService: `${here}/backendServices/${name}`,
    network: nic?.network,
    subnetwork: nic?.subnetwork,
  };
}

/** What no rule changes once it is made. */
const fixed = ['IPAddress', 'IPProtocol', 'loadBalancingScheme', 'portRange', 'ports'];

const fits = (rule: Resource, wanted: Resource): boolean =>
  fixed.every((field) => wanted[field] === undefined || JSON.stringify(rule[field]) === JSON.stringify(wanted[field]));

async function ensure(cloud: Cloud, objects: Objects, service: Thing): Promise<void> {
  change(objects, service, (fresh) => ({ ...fresh, metadata: { ...fresh.metadata, finalizers: withOurs(fresh) } }));
  // It may have been deleted meanwhile. Nothing would then delete its rule.
  if (objects.find(services, service.metadata.namespace, service.metadata.name)?.metadata.uid !== service.metadata.uid)
    return;
  const rules = `regions/${cloud.region}/forwardingRules`;
  const path = `${rules}/${nameOf(service)}`;
  const wanted = await ruleOf(cloud, service);
  const before = await cloud.find(path);
  if (before === undefined || !fits(before, wanted)) {
    if (before !== undefined) await cloud.delete(path);
    await cloud.insert(rules, wanted);
  }
  const ip = (await cloud.find(path))?.['IPAddress'];
  const loadBalancer = { ingress: [{ ip, ipMode: 'VIP' }] };
  change(objects, service, (fresh) => ({ ...fresh, status: { ...(fresh['status'] as object), loadBalancer } }));
  emit(objects, service, 'Normal', 'EnsuredLoadBalancer', 'Ensured load balancer');
}

async function release(cloud: Cloud, objects: Objects, service: Thing): Promise<void> {
  await cloud.delete(`regions/${cloud.region}/forwardingRules/${nameOf(service)}`);
  emit(objects, service, 'Normal', 'DeletedLoadBalancer', 'Deleted load balancer');
  change(objects, service, (fresh) => {
    const finalizers = finalizersOf(fresh).filter((each) => each !== finalizer);
    const status = { ...(fresh['status'] as object), loadBalancer: {} };
    return { ...fresh, metadata: { ...fresh.metadata, finalizers }, status };
  });
}

const withOurs = (service: Thing): readonly string[] => [...new Set([...finalizersOf(service), finalizer])];

/** Changes the service as it is now, if it still exists. */
function change(
  objects: Objects,
  { metadata: { namespace, name, uid } }: Thing,
  changed: (fresh: Thing) => Thing,
): void {
  const fresh = objects.find(services, namespace, name);
  if (fresh?.metadata.uid !== uid) return;
  const after = changed(fresh);
  if (JSON.stringify(after) !== JSON.stringify(fresh)) objects.replace(services, namespace, name, after);
}

/** An event with the same words counts up, as in Kubernetes. */
function emit(objects: Objects, service: Thing, type: 'Normal' | 'Warning', reason: string, message: string): void {
  const { name, namespace, uid } = service.metadata;
  if (objects.find(namespaces, undefined, namespace ?? '') === undefined) return;
  const lastTimestamp = new Date().toISOString().replace(/\.\d+/, '');
  const same = objects
    .list(events, namespace)
    .find((event) => event['message'] === message && (event['involvedObject'] as { uid?: string }).uid === uid);
  if (same !== undefined) {
    const count = Number(same['count']) + 1;
    objects.replace(events, namespace, same.metadata.name, { ...same, lastTimestamp, count });
    return;
  }
  objects.create(events, namespace, {
    metadata: { generateName: `${name}.` },
    type,
    reason,
    message,
    involvedObject: { apiVersion: 'v1', kind: 'Service', name, namespace, uid },
    source: { component: 'service-controller' },
    firstTimestamp: lastTimestamp,
    lastTimestamp,
    count: 1,
  });
}
