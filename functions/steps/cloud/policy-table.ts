/**
 * The organization policies that concern a bootstrap, one row each: what a policy would hit, and what plinth needs of it.
 *
 * Not here is what hits nothing. Bootstraps make no bucket, no key of an account and no forwarding of protocols, and use no
 * serial port.
 */
import type { LoadBalancers, MachineAccess } from '../../../shared/bootstrap/bootstrap.js';
import type { BootstrapOptions } from '../../../shared/bootstrap/options.js';
import { installs } from '../install/k0s.js';
import { hasRegistry, isPublic, servicesOf, vmsOf } from '../topology.js';
import { type Fits, isLoadBalancer, isLocation, isSame } from './policy-judge.js';

/** What a bootstrap is about to make. */
export interface Intent {
  readonly options: BootstrapOptions;
  readonly machineAccess: MachineAccess;
  readonly projectId: string;
  readonly ownerMember: string;
  readonly loadBalancers: LoadBalancers;
  /** Whether this deployment goes on to the machines. */
  readonly hosts: boolean;
  /** Of the VMs, as `projects/<project>/global/images/…`. */
  readonly vmImage: string;
  /** Whether the policy that requires OS Login is enforced. */
  readonly requiresOsLogin: boolean;
}

/** A value that a list policy must let pass. */
interface Wanted {
  readonly value: string;
  readonly fits: Fits;
}

interface CommonRow {
  readonly constraint: string;
  /** What the policy would hit. Undefined: with these flags, nothing. */
  hits(intent: Omit<Intent, 'requiresOsLogin'>): string | undefined;
  /** How plinth meets the policy, whatever it says. Undefined, or absent: it doesn't. */
  metBy?(intent: Intent): string | undefined;
}
export interface BooleanRow extends CommonRow {
  readonly kind: 'boolean';
  /** What plinth does otherwise once it knows that the policy is enforced. */
  readonly adapts?: string;
  /** What is lost where the policy is enforced. */
  readonly unmet?: string;
}
interface ListRow extends CommonRow {
  readonly kind: 'list';
  wanted(intent: Intent): readonly Wanted[];
  /** What is lost if these values are not allowed. */
  unmet(values: string): string;
  /** What judges values that can't be judged here. Absent: nothing does, so they are unknown. */
  readonly later?: string;
}
export type PolicyRow = BooleanRow | ListRow;

const publicVms = ({ options, machineAccess }: Intent) => vmsOf(options).filter((vm) => isPublic(vm, machineAccess));
const exactly = (value: string): Wanted => ({ value, fits: isSame(value) });

const osLoginService = 'oslogin.googleapis.com';

/** Services whose resources are made in the project. A shared zone may need none of Cloud DNS there. */
const servicesInUse = ({ options, machineAccess, requiresOsLogin }: Intent): string[] =>
  [
    'compute',
    ...(options.dnsProjectId === undefined ? ['dns'] : []),
    ...(hasRegistry(options) ? ['artifactregistry'] : []),
    ...(options.cloudAcmeIssuer ? ['publicca'] : []),
    ...(machineAccess === 'iap' ? ['iap'] : []),
  ]
    .map((service) => `${service}.googleapis.com`)
    .concat(requiresOsLogin ? [osLoginService] : []);

export const osLoginConstraint = 'compute.requireOsLogin';
export const domainConstraint = 'iam.allowedPolicyMemberDomains';

/** What the cloud controller of a cluster makes for a Service: a forwarding rule to a target pool or a backend service. */
const loadBalancerTypes = { external: 'EXTERNAL_NETWORK_TCP_UDP', internal: 'INTERNAL_TCP_UDP' } as const;

export const policyTable: readonly PolicyRow[] = [
  {
    constraint: 'compute.vmExternalIpAccess',
    kind: 'list',
    hits: () => 'the jumpbox',
    metBy: (intent) => (publicVms(intent).length === 0 ? 'no VM has a public address' : undefined),
    wanted: (intent) =>
      publicVms(intent).map(({ name }) =>
        exactly(`projects/${intent.projectId}/zones/${intent.options.zone}/instances/${name}`),
      ),
    unmet: () => 'the jumpbox needs a public address',
  },
  {
    constraint: osLoginConstraint,
    kind: 'boolean',
    hits: () => 'all VMs',
    adapts: 'plinth and people log in by OS Login',
  },
  {
    constraint: 'compute.disableGuestAttributesAccess',
    kind: 'boolean',
    hits: () => 'all VMs',
    metBy: () => 'host keys come from the serial console',
  },
  {
    constraint: 'compute.requireShieldedVm',
    kind: 'boolean',
    hits: () => 'all VMs',
    metBy: () => 'each is a Shielded VM',
  },
  {
    constraint: 'compute.trustedImageProjects',
    kind: 'list',
    hits: () => 'all VMs',
    wanted: ({ vmImage }) => [exactly(vmImage.split('/').slice(0, 2).join('/'))],
    unmet: (values) => `the VMs are made from images of ${values}`,
  },
  {
    constraint: 'compute.skipDefaultNetworkCreation',
    kind: 'boolean',
    hits: () => 'the network',
    metBy: () => 'plinth makes its own network',
  },
  {
    constraint: 'compute.setNewProjectDefaultToZonalDNSOnly',
    kind: 'boolean',
    hits: () => 'the names of the VMs',
    metBy: () => 'all VMs are in one zone, and reach each other by address',
  },
  {
    constraint: 'compute.restrictLoadBalancerCreationForTypes',
    kind: 'list',
    hits: ({ hosts, options }) => (hosts && installs(options) ? 'the load balancers of the platform' : undefined),
    wanted: ({ loadBalancers }) => {
      const type = loadBalancerTypes[loadBalancers];
      return [{ value: type, fits: isLoadBalancer(type) }];
    },
    unmet: (values) =>
      `the platform gets load balancers of the type ${values} (an operator can set PLINTH_LOAD_BALANCERS=internal for new bootstraps)`,
  },
  {
    constraint: 'gcp.resourceLocations',
    kind: 'list',
    hits: ({ options }) => `all that is made in ${options.region}`,
    wanted: ({ options: { region, zone } }) => [region, zone].map((value) => ({ value, fits: isLocation(value) })),
    unmet: (values) => `everything is made in ${values}`,
  },
  {
    constraint: 'gcp.restrictServiceUsage',
    kind: 'list',
    hits: () => 'all that is made in the project',
    wanted: (intent) => servicesInUse(intent).map(exactly),
    unmet: (values) => `the project uses ${values}`,
  },
  {
    constraint: 'serviceuser.services',
    kind: 'list',
    hits: () => 'the APIs of the project',
    wanted: ({ options, machineAccess, requiresOsLogin }) =>
      [...servicesOf(options, machineAccess), ...(requiresOsLogin ? [osLoginService] : [])].map(exactly),
    unmet: (values) => `the project needs the APIs ${values}`,
  },
  {
    constraint: domainConstraint,
    kind: 'list',
    hits: ({ ownerMember }) => `the role of ${ownerMember}`,
    // Values are customer ids, which plinth has no right to compare with a domain.
    wanted: ({ ownerMember }) => [{ value: ownerMember, fits: () => undefined }],
    unmet: (values) => `${values} gets a role on the project`,
    later: 'Google judges it when the owner gets the role',
  },
  {
    constraint: 'iam.disableServiceAccountCreation',
    kind: 'boolean',
    hits: () => 'the identities of the VMs',
    unmet: 'the nodes need a service account of their own',
  },
];
