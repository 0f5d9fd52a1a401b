/**
 * The constraints of organization policies that the simulated cloud knows: one table of kind, default, methods and refusal.
 *
 * `documented`: Google's documentation gives the text. `reported`: public issues quote it. `unproven`: it follows the others.
 */
type Proof = 'documented' | 'reported' | 'unproven';

export interface Refusal {
  readonly code: 400 | 403 | 412;
  readonly status: 'FAILED_PRECONDITION' | 'PERMISSION_DENIED';
  /** `{project}`, `{number}`, `{resource}` and `{value}` are filled in. */
  readonly text: string;
  readonly proof: Proof;
}

export interface Constraint {
  readonly kind: 'boolean' | 'list';
  /** What holds where no policy is set. A boolean constraint of `ALLOW` is not enforced. */
  readonly default: 'ALLOW' | 'DENY';
  /** The methods that it can refuse; `*` stands for any text. */
  readonly methods: readonly string[];
  readonly refusal?: Refusal;
  /** What it does beside refusing, or why nothing here enforces it. */
  readonly does?: string;
}

const precondition = (text: string, proof: Proof, code: 400 | 412 = 412): Refusal => ({
  code,
  status: 'FAILED_PRECONDITION',
  text,
  proof,
});

/** The refusal that reads like those of other compute constraints. */
const violated = (name: string, more: string, proof: Proof): Refusal =>
  precondition(`Constraint constraints/${name} violated for ${more}`, proof);

const constraints = {
  'iam.disableServiceAccountKeyCreation': {
    kind: 'boolean',
    default: 'ALLOW',
    methods: [],
    does: 'Nothing: keys of service accounts are not simulated.',
  },
  'iam.disableServiceAccountKeyUpload': {
    kind: 'boolean',
    default: 'ALLOW',
    methods: [],
    does: 'Nothing: keys of service accounts are not simulated.',
  },
  'iam.disableServiceAccountCreation': {
    kind: 'boolean',
    default: 'ALLOW',
    methods: ['iam.projects.serviceAccounts.create'],
    refusal: precondition('Service account creation is not allowed on this project.', 'unproven', 400),
  },
  'iam.automaticIamGrantsForDefaultServiceAccounts': {
    kind: 'boolean',
    default: 'ALLOW',
    methods: [],
    does: 'Where it is not enforced, the default service account of Compute Engine becomes editor of its project.',
  },
  'iam.allowedPolicyMemberDomains': {
    kind: 'list',
    default: 'ALLOW',
    methods: ['*.setIamPolicy'],
    refusal: precondition(
      'One or more users named in the policy do not belong to a permitted customer.',
      'reported',
      400,
    ),
    does: 'It looks at members that a new policy adds. Cloud Storage answers 412.',
  },
  'storage.uniformBucketLevelAccess': {
    kind: 'boolean',
    default: 'ALLOW',
    methods: ['storage.buckets.insert', 'storage.buckets.patch', 'storage.buckets.update'],
    refusal: precondition("Request violates constraint 'constraints/storage.uniformBucketLevelAccess'", 'reported'),
  },
  'essentialcontacts.allowedContactDomains': {
    kind: 'list',
    default: 'ALLOW',
    methods: [],
    does: 'Nothing: Essential Contacts is not simulated.',
  },
  'compute.setNewProjectDefaultToZonalDNSOnly': {
    kind: 'boolean',
    default: 'ALLOW',
    methods: [],
    does: 'projects.get of Compute Engine shows vmDnsSetting ZONAL_ONLY, and machines know each other by zone alone.',
  },
  'compute.restrictProtocolForwardingCreationForTypes': {
    kind: 'list',
    default: 'ALLOW',
    methods: ['compute.forwardingRules.insert'],
    refusal: violated(
      'compute.restrictProtocolForwardingCreationForTypes',
      'projects/{project}. Forwarding Rule {resource} of type {value} is not allowed.',
      'unproven',
    ),
  },
  'compute.requireOsLogin': {
    kind: 'boolean',
    default: 'ALLOW',
    methods: [
      'compute.instances.insert',
      'compute.instances.setMetadata',
      'compute.projects.setCommonInstanceMetadata',
    ],
    refusal: violated(
      'compute.requireOsLogin',
      'project {number}. The metadata key enable-oslogin must not be FALSE.',
      'unproven',
    ),
    does: 'Machines ignore the metadata ssh-keys.',
  },
  'compute.requireShieldedVm': {
    kind: 'boolean',
    default: 'ALLOW',
    methods: ['compute.instances.insert', 'compute.instances.updateShieldedInstanceConfig'],
    refusal: violated(
      'compute.requireShieldedVm',
      "project projects/{project}. {value} is not enabled in the 'shielded_instance_config' field. See https://cloud.google.com/resource-manager/docs/organization-policy/org-policy-constraints for more information.",
      'reported',
    ),
  },
  'compute.vmExternalIpAccess': {
    kind: 'list',
    default: 'ALLOW',
    methods: ['compute.instances.insert', 'compute.instances.addAccessConfig'],
    refusal: violated(
      'compute.vmExternalIpAccess',
      'project {number}. Add instance {resource} to the constraint to use external IP with it.',
      'reported',
    ),
  },
  'compute.disableGuestAttributesAccess': {
    kind: 'boolean',
    default: 'ALLOW',
    methods: ['compute.instances.getGuestAttributes'],
    refusal: violated('compute.disableGuestAttributesAccess', 'project {number}.', 'reported'),
  },
  'compute.disableSerialPortAccess': {
    kind: 'boolean',
    default: 'ALLOW',
    methods: ['compute.instances.getSerialPortOutput'],
    refusal: violated('compute.disableSerialPortAccess', 'project {number}.', 'unproven'),
  },
  'compute.skipDefaultNetworkCreation': {
    kind: 'boolean',
    default: 'ALLOW',
    methods: [],
    does: 'A project gets no network named default.',
  },
  'compute.restrictLoadBalancerCreationForTypes': {
    kind: 'list',
    default: 'ALLOW',
    methods: ['compute.forwardingRules.insert', 'compute.globalForwardingRules.insert'],
    refusal: violated(
      'compute.restrictLoadBalancerCreationForTypes',
      'projects/{project}. Forwarding Rule {resource} of type {value} is not allowed.',
      'reported',
    ),
  },
  'gcp.resourceLocations': {
    kind: 'list',
    default: 'ALLOW',
    methods: [
      'compute.addresses.insert',
      'compute.disks.insert',
      'compute.forwardingRules.insert',
      'compute.instances.insert',
      'compute.routers.insert',
      'compute.subnetworks.insert',
      'storage.buckets.insert',
      'artifactregistry.projects.locations.repositories.create',
      'secretmanager.projects.secrets.create',
    ],
    refusal: precondition(
      'Location {value} violates constraint constraints/gcp.resourceLocations on the resource {resource}.',
      'documented',
    ),
  },
  'compute.trustedImageProjects': {
    kind: 'list',
    default: 'ALLOW',
    methods: ['compute.instances.insert', 'compute.disks.insert'],
    refusal: violated(
      'compute.trustedImageProjects',
      'project {project}. Use of images from project {value} is prohibited.',
      'documented',
    ),
  },
  'gcp.restrictServiceUsage': {
    kind: 'list',
    default: 'ALLOW',
    methods: ['*'],
    refusal: {
      code: 403,
      status: 'PERMISSION_DENIED',
      text: "Request is disallowed by organization's constraints/gcp.restrictServiceUsage constraint for 'projects/{number}' attempting to use service '{value}'.",
      proof: 'documented',
    },
    does: 'Resource Manager, IAM, Cloud Billing, Service Usage, Organization Policy and Cloud Quotas are always allowed.',
  },
  'serviceuser.services': {
    kind: 'list',
    default: 'ALLOW',
    methods: ['serviceusage.services.enable', 'serviceusage.services.batchEnable'],
    refusal: precondition(
      'Constraint constraints/serviceuser.services violated for projects/{number} attempting to enable {value}.',
      'unproven',
      400,
    ),
    does: 'It looks at services that are being enabled. Those that are on stay on.',
  },
} as const satisfies Readonly<Record<string, Constraint>>;

export type ConstraintName = keyof typeof constraints;

export const constraintNames = Object.keys(constraints) as ConstraintName[];

export const isConstraint = (name: string): name is ConstraintName => Object.hasOwn(constraints, name);

export const constraintOf = (name: ConstraintName): Constraint => constraints[name];
