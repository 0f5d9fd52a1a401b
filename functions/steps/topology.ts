/**
 * Derives from a bootstrap's options alone what it consists of: datacenters, VMs, addresses, DNS records and all other names.
 * Pure.
 */
import type { LoadBalancers, MachineAccess } from '../../shared/bootstrap/bootstrap.js';
import type { BootstrapOptions } from '../../shared/bootstrap/options.js';
import { type FilesOnJumpbox, filesOnJumpbox } from '../../shared/install-config/on-jumpbox.js';
import type { Each, PlanFacts } from '../engine/step.js';

export const recordTtlSeconds = 300;

/* Datacenters */

/** Slots, independent of the ids of their datacenters. */
type DatacenterKey = 'dc1' | 'dc2';

export interface Datacenter {
  readonly key: DatacenterKey;
  readonly id: number;
  readonly name: string;
  /** The suffix of the names of its VMs, addresses and files: `''` or `-dc2`. */
  readonly suffix: string;
  /** Paths on the jumpbox. */
  readonly files: FilesOnJumpbox;
  readonly domains: {
    /** The same for all datacenters: `cs.D`. */
    readonly platform: string;
    readonly workspaces: string;
    readonly ssh: string;
  };
  /** Keys of its addresses. */
  readonly addresses: { readonly gateway: string; readonly publicGateway: string; readonly sshProxy: string };
}

export function datacentersOf(options: BootstrapOptions): readonly Datacenter[] {
  const place = (key: DatacenterKey, id: number, suffix: string): Datacenter => {
    const prefix = options.multiDc ? `${id}.` : '';
    return {
      key,
      id,
      name: `${options.datacenterName}${suffix}`,
      suffix,
      files: filesOnJumpbox(options.secretsDir, suffix),
      domains: {
        platform: `cs.${options.baseDomain}`,
        workspaces: `${prefix}ws.${options.baseDomain}`,
        ssh: `${prefix}ssh.cs.${options.baseDomain}`,
      },
      addresses: {
        gateway: `gateway${suffix}`,
        publicGateway: `public-gateway${suffix}`,
        sshProxy: `ssh-proxy${suffix}`,
      },
    };
  };
  const first = place('dc1', options.datacenterId, '');
  return options.multiDc ? [first, place('dc2', 2, '-dc2')] : [first];
}

export const datacenters: Each<'datacenters'> = {
  of: 'datacenters',
  keys: (options) => datacentersOf(options).map(({ key }) => key),
};

export const datacenterOf = (options: BootstrapOptions, key: string): Datacenter =>
  found(
    datacentersOf(options).find((datacenter) => datacenter.key === key),
    'datacenter',
    key,
  );

/* Virtual machines */

/** Its role, too. */
export const jumpboxName = 'jumpbox';

export type VmRole = 'jumpbox' | 'postgres' | 'ceph' | 'k0s';

export interface VmSpec {
  readonly name: string;
  readonly role: VmRole;
  readonly datacenter: DatacenterKey;
  readonly machineType: string;
  readonly vcpus: number;
  /** GB of each extra disk. */
  readonly dataDisks: readonly number[];
  readonly tags: readonly string[];
  /** The service account that the VM runs as. */
  readonly identity: 'cloud-controller' | 'registry-writer' | undefined;
}

type Machine = Pick<VmSpec, 'machineType' | 'vcpus' | 'dataDisks' | 'tags'>;
const machines: Readonly<Record<VmRole, Machine>> = {
  jumpbox: { machineType: 'e2-medium', vcpus: 2, dataDisks: [], tags: ['jumpbox', 'ssh'] },
  postgres: { machineType: 'e2-standard-2', vcpus: 2, dataDisks: [], tags: ['postgres'] },
  ceph: { machineType: 'e2-standard-8', vcpus: 8, dataDisks: [10, 100], tags: ['ceph'] },
  k0s: { machineType: 'e2-standard-8', vcpus: 8, dataDisks: [], tags: ['k0s'] },
};

/** All VMs, or only those of a datacenter, a role, or both. The jumpbox and PostgreSQL belong to the first datacenter. */
export function vmsOf(options: BootstrapOptions, datacenter?: string, role?: VmRole): readonly VmSpec[] {
  const identity = (of: VmRole): VmSpec['identity'] => {
    if (of === 'k0s') return 'cloud-controller';
    return of === 'jumpbox' && hasRegistry(options) ? 'registry-writer' : undefined;
  };
  const spec = (of: VmRole, name: string, key: DatacenterKey): VmSpec => ({
    name,
    role: of,
    datacenter: key,
    ...machines[of],
    identity: identity(of),
  });
  const all = [
    spec('jumpbox', jumpboxName, 'dc1'),
    ...(options.customPgIp === undefined ? [spec('postgres', 'postgres', 'dc1')] : []),
    ...datacentersOf(options).flatMap(({ key, suffix }) =>
      (['ceph', 'k0s'] as const).flatMap((of) => [1, 2, 3].map((n) => spec(of, `${of}-${n}${suffix}`, key))),
    ),
  ];
  return all.filter(
    (vm) => (datacenter === undefined || vm.datacenter === datacenter) && (role === undefined || vm.role === role),
  );
}

/** Each once. */
export const machineTypesOf = (options: BootstrapOptions): readonly string[] => [
  ...new Set(vmsOf(options).map(({ machineType }) => machineType)),
];

export const vms: Each<'vms'> = { of: 'vms', keys: (options) => vmsOf(options).map(({ name }) => name) };
/** All except the jumpbox. */
export const nodes: Each<'vms'> = {
  of: 'vms',
  keys: (options) => vms.keys(options).filter((name) => name !== jumpboxName),
};

/** Whether a VM has a public address. */
export const isPublic = ({ role }: Pick<VmSpec, 'role'>, machineAccess: MachineAccess): boolean =>
  role === 'jumpbox' && machineAccess === 'direct';

/** Where a tunnel to a VM ends. */
export const tunnelTo = (project: string, { name, zone }: { readonly name: string; readonly zone: string }) => ({
  project,
  zone,
  instance: name,
});

export const vmSpec = (options: BootstrapOptions, key: string): VmSpec =>
  found(
    vmsOf(options).find(({ name }) => name === key),
    'VM',
    key,
  );

/* Addresses and DNS */

export const addressesOf = (options: BootstrapOptions): readonly string[] =>
  datacentersOf(options).flatMap(({ addresses: { gateway, publicGateway, sshProxy } }) => [
    gateway,
    publicGateway,
    sshProxy,
  ]);

export const addresses: Each<'addresses'> = { of: 'addresses', keys: addressesOf };

export interface WantedRecord {
  /** Without the final dot. */
  readonly name: string;
  /** Key of the address it points to. */
  readonly address: string;
}

/** The A records. Most come in pairs: a name and a wildcard below it. */
export function recordsOf(options: BootstrapOptions): readonly WantedRecord[] {
  const all = datacentersOf(options);
  const pair = (name: string, address: string): WantedRecord[] => [
    { name, address },
    { name: `*.${name}`, address },
  ];
  const domain = options.baseDomain;
  return [
    ...all.slice(0, 1).flatMap((first) => pair(first.domains.platform, first.addresses.gateway)),
    ...all.flatMap((each) => [
      ...(options.multiDc ? pair(`${each.id}.cs.${domain}`, each.addresses.gateway) : []),
      ...pair(each.domains.workspaces, each.addresses.publicGateway),
      { name: `*.${each.domains.ssh}`, address: each.addresses.sshProxy },
    ]),
  ];
}

/** The zone's project: `--dns-project-id`, or the bootstrap's own. */
export const dnsProjectOf = (options: BootstrapOptions, projectId: string): string => options.dnsProjectId ?? projectId;

/* The rest by name */

export const hasRegistry = (options: BootstrapOptions): boolean => options.registryType === 'artifact-registry';
export const hasLocalRegistry = (options: BootstrapOptions): boolean => options.registryType === 'local-container';

/** The registry on the jumpbox, by the machine's internal address. */
export const localRegistryServer = (jumpboxIp: string): string => `${jumpboxIp}:5000`;
export const localRegistryUser = 'custom-registry';

export const repositoryName = 'platform-registry';
/** The prefix of image names. `dockerUrl` is a setting. */
export const repositoryServer = (options: BootstrapOptions, projectId: string, dockerUrl?: string): string =>
  `${dockerUrl === undefined ? `${options.region}-docker.pkg.dev` : new URL(dockerUrl).host}/${projectId}/${repositoryName}`;

export const accountIds = { cloudController: 'cloud-controller', registryWriter: 'artifact-registry-writer' } as const;
export const accountEmail = (accountId: string, projectId: string): string =>
  `${accountId}@${projectId}.iam.gserviceaccount.com`;

export const networkNames = (projectId: string, region: string) => ({
  network: `${projectId}-vpc`,
  subnet: `${projectId}-${region}-subnet`,
  router: `${projectId}-router`,
  nat: `${projectId}-nat-gateway`,
});

/** APIs to enable, in one batch. */
export const servicesOf = (options: BootstrapOptions, machineAccess: MachineAccess): readonly string[] =>
  [
    'compute',
    'iam',
    'serviceusage',
    'dns',
    'artifactregistry',
    'cloudresourcemanager',
    ...(options.cloudAcmeIssuer ? ['publicca'] : []),
    ...(machineAccess === 'iap' ? ['iap'] : []),
  ].map((service) => `${service}.googleapis.com`);

/**
 * What region and project must have room for, by Compute Engine's quota metrics. E2 machines count as CPUS: no VM uses what
 * Google lists as E2_CPUS. Addresses that Cloud NAT takes by itself count nowhere.
 */
export function needsOf(
  options: BootstrapOptions,
  machineAccess: MachineAccess,
  loadBalancers: LoadBalancers = 'external',
): Readonly<Record<string, number>> {
  const all = vmsOf(options);
  const publicAddresses = loadBalancers === 'internal' ? 0 : addressesOf(options).length;
  const sum = (of: (vm: VmSpec) => number) => all.reduce((total, vm) => total + of(vm), 0);
  const cpus = sum(({ vcpus }) => vcpus);
  return {
    CPUS: cpus,
    CPUS_ALL_REGIONS: cpus,
    SSD_TOTAL_GB: sum(({ dataDisks }) => options.rootDiskSize + dataDisks.reduce((total, size) => total + size, 0)),
    INSTANCES: all.length,
    STATIC_ADDRESSES: publicAddresses,
    IN_USE_ADDRESSES: publicAddresses + all.filter((vm) => isPublic(vm, machineAccess)).length,
    // Google makes a network of its own in each new project, with four rules.
    NETWORKS: 2,
    ROUTERS: 1,
    // The cloud controller makes one rule for each load balancer, and one for health checks.
    FIREWALLS: 4 + 5 + datacentersOf(options).length * 4,
  };
}

export const spotMetric = 'PREEMPTIBLE_CPUS';

/** The needs as Google counts them. Spot and preemptible VMs use CPUs of their own quota, unless its limit is 0. */
export function countedNeeds(
  { options, machineAccess }: PlanFacts,
  limits: ReadonlyMap<string, number>,
  loadBalancers: LoadBalancers = 'external',
): Readonly<Record<string, number>> {
  const { CPUS = 0, ...rest } = needsOf(options, machineAccess, loadBalancers);
  const isSpot = (options.spotVms || options.preemptible) && (limits.get(spotMetric) ?? 0) > 0;
  return { [isSpot ? spotMetric : 'CPUS']: CPUS, ...rest };
}

/** A key comes from the family itself, so a miss is a bug in plinth. */
function found<T>(value: T | undefined, what: string, key: string): T {
  if (value === undefined) throw new Error(`no ${what} has the key ${key}`);
  return value;
}
