/** Types for the parts of Compute Engine's resources that plinth reads. */

export interface Network {
  readonly id?: string;
  readonly name: string;
  readonly selfLink: string;
  readonly autoCreateSubnetworks?: boolean;
}

export interface Subnetwork {
  readonly id?: string;
  readonly name: string;
  readonly selfLink: string;
  readonly ipCidrRange?: string;
  readonly network?: string;
}

export interface FirewallRule {
  readonly id?: string;
  readonly name: string;
  readonly network?: string;
  readonly direction?: string;
  readonly allowed?: readonly { readonly IPProtocol?: string; readonly ports?: readonly string[] }[];
  readonly sourceRanges?: readonly string[];
  readonly destinationRanges?: readonly string[];
  readonly targetTags?: readonly string[];
  readonly disabled?: boolean;
}

interface FirewallPolicyRule {
  readonly priority?: number;
  /** `allow`, `deny`, `goto_next` and others. */
  readonly action?: string;
  readonly direction?: string;
  readonly disabled?: boolean;
  readonly description?: string;
  readonly targetResources?: readonly string[];
  readonly targetServiceAccounts?: readonly string[];
  readonly targetSecureTags?: readonly object[];
  readonly match?: {
    readonly srcIpRanges?: readonly string[];
    readonly srcAddressGroups?: readonly string[];
    readonly srcFqdns?: readonly string[];
    readonly srcRegionCodes?: readonly string[];
    readonly srcThreatIntelligences?: readonly string[];
    readonly srcSecureTags?: readonly object[];
    readonly layer4Configs?: readonly { readonly ipProtocol?: string; readonly ports?: readonly string[] }[];
  };
}

/** In the order in which the policies decide. */
export interface EffectiveFirewalls {
  readonly firewallPolicys?: readonly {
    readonly name?: string;
    readonly shortName?: string;
    readonly displayName?: string;
    /** `HIERARCHY`, `NETWORK` and others. */
    readonly type?: string;
    readonly rules?: readonly FirewallPolicyRule[];
  }[];
}

interface Nat {
  readonly name?: string;
  readonly natIpAllocateOption?: string;
  readonly sourceSubnetworkIpRangesToNat?: string;
}

export interface Router {
  readonly id?: string;
  readonly name: string;
  readonly network?: string;
  readonly nats?: readonly Nat[];
}

export interface Address {
  readonly name: string;
  readonly address?: string;
  readonly status?: string;
  readonly creationTimestamp?: string;
  /** `EXTERNAL`, `INTERNAL`. */
  readonly addressType?: string;
}

interface MetadataItem {
  readonly key: string;
  readonly value: string;
}

export interface Metadata {
  readonly fingerprint?: string;
  readonly items?: readonly MetadataItem[];
}

export interface Instance {
  readonly id?: string;
  readonly name: string;
  readonly status?: string;
  readonly machineType?: string;
  readonly disks?: readonly { readonly source?: string; readonly boot?: boolean; readonly diskSizeGb?: string }[];
  readonly networkInterfaces?: readonly {
    readonly name?: string;
    readonly networkIP?: string;
    readonly accessConfigs?: readonly { readonly name?: string; readonly natIP?: string }[];
  }[];
  readonly scheduling?: { readonly provisioningModel?: string; readonly preemptible?: boolean };
  readonly metadata?: Metadata;
  readonly tags?: { readonly items?: readonly string[]; readonly fingerprint?: string };
  readonly lastStopTimestamp?: string;
  readonly creationTimestamp?: string;
}

export interface GuestAttribute {
  readonly namespace: string;
  readonly key: string;
  readonly value: string;
}

export interface Disk {
  readonly id?: string;
  readonly name: string;
  /** The VMs it is attached to. */
  readonly users?: readonly string[];
  readonly sizeGb?: number | string;
  readonly creationTimestamp?: string;
}

export interface Quota {
  /** `CPUS` */
  readonly metric: string;
  readonly limit: number;
}

export interface Region {
  readonly quotas?: readonly Quota[];
  /** Links to its zones. */
  readonly zones?: readonly string[];
}

/** A resource as the API takes it. Google checks the fields. */
export type Resource = Readonly<Record<string, unknown>>;

/** The scope of operations. */
export type Scope = { readonly region: string } | { readonly zone: string } | 'global';
