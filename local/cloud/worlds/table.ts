/**
 * The worlds that the simulated cloud can be, as data: the numbers, policies, delays and chances of each.
 *
 * Figures of `fresh`: those that public issues tell of young accounts. Policies of `seasoned`: the baseline of 3 May 2024.
 */
import type { ConstraintName } from './constraints.js';

/** Enough room for two datacenters, like a billed project of some age. */
const roomyQuotas = {
  CPUS: 500,
  C2_CPUS: 500,
  C2D_CPUS: 500,
  C3_CPUS: 500,
  E2_CPUS: 24,
  N2_CPUS: 500,
  N2D_CPUS: 500,
  T2D_CPUS: 500,
  PREEMPTIBLE_CPUS: 500,
  DISKS_TOTAL_GB: 40_000,
  SSD_TOTAL_GB: 20_000,
  INSTANCES: 500,
  IN_USE_ADDRESSES: 100,
  STATIC_ADDRESSES: 100,
  CPUS_ALL_REGIONS: 5000,
  NETWORKS: 1000,
  SUBNETWORKS: 1000,
  FIREWALLS: 1000,
  ROUTERS: 1000,
  /** Projects that an account made. Deleted ones count for 30 days. */
  projects: 1000,
  /** Projects that are linked to a billing account. */
  'billing-projects': 1000,
};

/** A quota of Compute Engine by its metric, or the number of projects or billing links. */
export type QuotaName = keyof typeof roomyQuotas;

/** Cloud seconds. */
const usualDelays = {
  /** Google takes about two minutes for a grant, and up to seven. */
  iamPolicy: 60,
  /** From a request for quota to its decision. */
  quotaDecision: 300,
  /** From enabling a service until it is usable everywhere. */
  service: 40,
  /** From enabling a service to the end of that operation. */
  serviceOperation: 15,
  serviceAccount: 6,
  /** How long lists of secrets lag behind. */
  secretList: 60,
  project: 10,
  projectDeletion: 5,
  /** How long search of projects lags behind. */
  projectSearch: 30,
  billingLink: 3,
  vmStaging: 7,
  vmRunning: 25,
  /** From running to a public address that comes late. */
  vmAddress: 4,
  vmHostKeys: 12,
  vmStopping: 30,
  vmDeleting: 20,
  /** Until an insert fails for a quota that VMs under way fill. */
  vmQuota: 4,
};
export type DelayName = keyof typeof usualDelays;

/** How many times its usual time all that an API does later takes, named delays included. */
const usualPaces = { compute: 1, dns: 1 };
type PaceName = keyof typeof usualPaces;

/** Shares from 0 to 1, drawn by the seed. */
const noChances = {
  /** Spot VMs that Google takes away within an hour of running. */
  preemption: 0,
  /** VMs that meet a stockout. */
  stockout: 0,
  /** Stockouts of new VMs that leave the boot disk behind. */
  stockoutDisk: 0,
  /** Requests for quota that are granted in full. */
  quotaGranted: 1,
  /** Requests for quota that are granted by half, of those that are not granted in full. */
  quotaPartly: 0,
};
export type ChanceName = keyof typeof noChances;

/** In whose project an API must be on: that of the `resource`, or of the service account that is the `caller`. */
const usualConsumers = { iam: 'resource' };
export type ConsumerName = keyof typeof usualConsumers;

/**
 * A policy in one line: `off` (none is set), `enforced`, `allow-all`, `deny-all`, or `allow:` or `deny:` and values with
 * commas between them. The value `own` is the customer id of the organization.
 */
type PolicyText = string;

export interface WorldTable {
  readonly quotas: Readonly<Record<QuotaName, number>>;
  readonly policies: Readonly<Partial<Record<ConstraintName, PolicyText>>>;
  readonly delays: Readonly<Record<DelayName, number>>;
  readonly paces: Readonly<Record<PaceName, number>>;
  readonly chances: Readonly<Record<ChanceName, number>>;
  readonly consumers: Readonly<Record<ConsumerName, string>>;
}

/** What organizations made since 3 May 2024 begin with. */
const baseline: WorldTable['policies'] = {
  'iam.disableServiceAccountKeyCreation': 'enforced',
  'iam.disableServiceAccountKeyUpload': 'enforced',
  'iam.automaticIamGrantsForDefaultServiceAccounts': 'enforced',
  'iam.allowedPolicyMemberDomains': 'allow:own',
  'storage.uniformBucketLevelAccess': 'enforced',
  'essentialcontacts.allowedContactDomains': 'allow:@example.com',
  'compute.setNewProjectDefaultToZonalDNSOnly': 'enforced',
  'compute.restrictProtocolForwardingCreationForTypes': 'allow:INTERNAL',
};

const seasoned: WorldTable = {
  quotas: roomyQuotas,
  policies: baseline,
  delays: usualDelays,
  paces: usualPaces,
  chances: noChances,
  consumers: usualConsumers,
};

export const worlds = {
  seasoned,
  fresh: {
    ...seasoned,
    quotas: {
      ...roomyQuotas,
      CPUS: 24,
      C2_CPUS: 8,
      C2D_CPUS: 8,
      C3_CPUS: 0,
      N2_CPUS: 24,
      N2D_CPUS: 24,
      T2D_CPUS: 8,
      PREEMPTIBLE_CPUS: 0,
      DISKS_TOTAL_GB: 4096,
      SSD_TOTAL_GB: 500,
      INSTANCES: 24,
      IN_USE_ADDRESSES: 8,
      STATIC_ADDRESSES: 8,
      CPUS_ALL_REGIONS: 32,
      NETWORKS: 5,
      SUBNETWORKS: 100,
      FIREWALLS: 100,
      ROUTERS: 10,
      projects: 10,
      'billing-projects': 5,
    },
    chances: { ...noChances, quotaGranted: 0.25, quotaPartly: 0.5 },
  },
  hardened: {
    ...seasoned,
    policies: {
      ...baseline,
      'compute.requireOsLogin': 'enforced',
      'compute.requireShieldedVm': 'enforced',
      'compute.vmExternalIpAccess': 'deny-all',
      'compute.disableGuestAttributesAccess': 'enforced',
      'compute.skipDefaultNetworkCreation': 'enforced',
      'compute.restrictLoadBalancerCreationForTypes': 'allow:in:INTERNAL',
      'gcp.resourceLocations': 'allow:in:europe-locations,global',
      'compute.trustedImageProjects': 'allow:projects/ubuntu-os-cloud',
      'gcp.restrictServiceUsage':
        'deny:cloudfunctions.googleapis.com,container.googleapis.com,containerregistry.googleapis.com',
      'serviceuser.services': 'deny:deploymentmanager.googleapis.com',
    },
  },
} as const satisfies Readonly<Record<string, WorldTable>>;

export type WorldName = keyof typeof worlds;

export const worldNames = Object.keys(worlds) as WorldName[];
