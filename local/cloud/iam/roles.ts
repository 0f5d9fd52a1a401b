/** The permissions of the roles that plinth, its operators and its tests use. */
import type { World } from '../kernel/api.js';

interface Role {
  readonly title: string;
  /** Permissions, where `*` stands for any text. */
  readonly holds: readonly string[];
  readonly butNot?: readonly string[];
}

const readVerbs = ['*.get', '*.list', '*.getIamPolicy', '*.listEffectiveTags'];
const policyPermissions = (noun: string): string[] => [`${noun}.getIamPolicy`, `${noun}.setIamPolicy`];
const seeProject = ['resourcemanager.projects.get', 'resourcemanager.projects.list'];
const ownersOnly = [
  '*.setIamPolicy',
  'resourcemanager.projects.delete',
  'resourcemanager.projects.undelete',
  'resourcemanager.projects.move',
  'resourcemanager.projects.createBillingAssignment',
  'resourcemanager.projects.deleteBillingAssignment',
  'resourcemanager.projects.updateLiens',
  'secretmanager.versions.access',
  'iam.serviceAccounts.getAccessToken',
  'iam.serviceAccounts.getOpenIdToken',
  'billing.*',
];

export const roles: Readonly<Record<string, Role>> = {
  'roles/owner': {
    title: 'Owner',
    holds: ['*'],
    butNot: ['billing.accounts.*', 'billing.resourceAssociations.create'],
  },
  'roles/editor': { title: 'Editor', holds: ['*'], butNot: ownersOnly },
  'roles/viewer': { title: 'Viewer', holds: readVerbs, butNot: ['secretmanager.versions.access', 'billing.*'] },
  'roles/browser': {
    title: 'Browser',
    holds: [
      ...seeProject,
      'resourcemanager.folders.get',
      'resourcemanager.folders.list',
      'resourcemanager.organizations.get',
      'resourcemanager.projects.getIamPolicy',
    ],
  },

  'roles/resourcemanager.organizationAdmin': {
    title: 'Organization Administrator',
    holds: [
      'resourcemanager.organizations.*',
      'resourcemanager.folders.*',
      ...seeProject,
      ...policyPermissions('resourcemanager.projects'),
    ],
  },
  'roles/resourcemanager.organizationViewer': {
    title: 'Organization Viewer',
    holds: ['resourcemanager.organizations.get'],
  },
  'roles/resourcemanager.folderViewer': {
    title: 'Folder Viewer',
    holds: ['resourcemanager.folders.get', 'resourcemanager.folders.list', ...seeProject],
  },
  'roles/resourcemanager.folderAdmin': { title: 'Folder Admin', holds: ['resourcemanager.folders.*', ...seeProject] },
  'roles/resourcemanager.projectCreator': {
    title: 'Project Creator',
    holds: ['resourcemanager.projects.create', 'resourcemanager.organizations.get'],
  },
  'roles/resourcemanager.projectDeleter': { title: 'Project Deleter', holds: ['resourcemanager.projects.delete'] },
  'roles/resourcemanager.projectIamAdmin': {
    title: 'Project IAM Admin',
    holds: [...seeProject, ...policyPermissions('resourcemanager.projects')],
  },
  'roles/resourcemanager.projectMover': {
    title: 'Project Mover',
    holds: [...seeProject, 'resourcemanager.projects.update', 'resourcemanager.projects.move'],
  },
  'roles/resourcemanager.lienModifier': {
    title: 'Project Lien Modifier',
    holds: ['resourcemanager.projects.updateLiens'],
  },

  'roles/billing.admin': {
    title: 'Billing Account Administrator',
    holds: [
      'billing.*',
      'resourcemanager.projects.createBillingAssignment',
      'resourcemanager.projects.deleteBillingAssignment',
      ...seeProject,
    ],
  },
  'roles/billing.user': {
    title: 'Billing Account User',
    holds: [
      'billing.accounts.get',
      'billing.accounts.list',
      'billing.resourceAssociations.create',
      'billing.resourceAssociations.list',
    ],
  },
  'roles/billing.viewer': {
    title: 'Billing Account Viewer',
    holds: [
      'billing.accounts.get',
      'billing.accounts.list',
      'billing.accounts.getIamPolicy',
      'billing.resourceAssociations.list',
    ],
  },
  'roles/billing.projectManager': {
    title: 'Project Billing Manager',
    holds: ['resourcemanager.projects.createBillingAssignment', 'resourcemanager.projects.deleteBillingAssignment'],
  },

  'roles/serviceusage.serviceUsageAdmin': { title: 'Service Usage Admin', holds: ['serviceusage.*'] },
  'roles/serviceusage.serviceUsageViewer': {
    title: 'Service Usage Viewer',
    holds: [
      'serviceusage.services.get',
      'serviceusage.services.list',
      'serviceusage.operations.get',
      'serviceusage.operations.list',
    ],
  },
  'roles/serviceusage.serviceUsageConsumer': {
    title: 'Service Usage Consumer',
    holds: ['serviceusage.services.get', 'serviceusage.services.list', 'serviceusage.services.use'],
  },

  'roles/iam.serviceAccountAdmin': {
    title: 'Service Account Admin',
    holds: ['iam.serviceAccounts.*', ...seeProject],
    butNot: [
      'iam.serviceAccounts.actAs',
      'iam.serviceAccounts.getAccessToken',
      'iam.serviceAccounts.getOpenIdToken',
      'iam.serviceAccounts.sign*',
    ],
  },
  'roles/iam.serviceAccountCreator': {
    title: 'Create Service Accounts',
    holds: ['iam.serviceAccounts.create', 'iam.serviceAccounts.get', 'iam.serviceAccounts.list', ...seeProject],
  },
  'roles/iam.serviceAccountDeleter': {
    title: 'Delete Service Accounts',
    holds: ['iam.serviceAccounts.delete', 'iam.serviceAccounts.get', 'iam.serviceAccounts.list', ...seeProject],
  },
  'roles/iam.serviceAccountUser': {
    title: 'Service Account User',
    holds: ['iam.serviceAccounts.actAs', 'iam.serviceAccounts.get', 'iam.serviceAccounts.list', ...seeProject],
  },
  'roles/iam.serviceAccountViewer': {
    title: 'View Service Accounts',
    holds: ['iam.serviceAccounts.get', 'iam.serviceAccounts.list', 'iam.serviceAccounts.getIamPolicy', ...seeProject],
  },
  'roles/iam.serviceAccountTokenCreator': {
    title: 'Service Account Token Creator',
    holds: [
      'iam.serviceAccounts.get',
      'iam.serviceAccounts.list',
      'iam.serviceAccounts.getAccessToken',
      'iam.serviceAccounts.getOpenIdToken',
      'iam.serviceAccounts.signBlob',
      'iam.serviceAccounts.signJwt',
    ],
  },
  'roles/iam.roleViewer': { title: 'Role Viewer', holds: ['iam.roles.get', 'iam.roles.list', ...seeProject] },
  'roles/iam.securityAdmin': {
    title: 'Security Admin',
    holds: ['*.getIamPolicy', '*.setIamPolicy', 'iam.roles.*', ...seeProject],
  },
  'roles/iam.securityReviewer': { title: 'Security Reviewer', holds: ['*.list', '*.getIamPolicy'] },

  'roles/compute.admin': {
    title: 'Compute Admin',
    holds: ['compute.*', ...seeProject, 'serviceusage.services.get', 'serviceusage.services.list'],
  },
  'roles/compute.viewer': {
    title: 'Compute Viewer',
    holds: [
      'compute.*.get',
      'compute.*.list',
      'compute.*.getIamPolicy',
      'compute.instances.getGuestAttributes',
      'compute.instances.getSerialPortOutput',
      ...seeProject,
    ],
  },
  'roles/compute.instanceAdmin': {
    title: 'Compute Instance Admin (beta)',
    holds: [
      'compute.instances.*',
      'compute.disks.*',
      'compute.machineTypes.*',
      'compute.images.get',
      'compute.images.list',
      'compute.images.useReadOnly',
      'compute.*.get',
      'compute.*.list',
      'compute.subnetworks.use',
      'compute.subnetworks.useExternalIp',
      'compute.networks.use',
      'compute.networks.useExternalIp',
      'compute.addresses.use',
      ...seeProject,
    ],
  },
  'roles/compute.instanceAdmin.v1': {
    title: 'Compute Instance Admin (v1)',
    holds: [
      'compute.instances.*',
      'compute.disks.*',
      'compute.images.*',
      'compute.snapshots.*',
      'compute.*.get',
      'compute.*.list',
      'compute.subnetworks.use',
      'compute.subnetworks.useExternalIp',
      'compute.networks.use',
      'compute.networks.useExternalIp',
      'compute.addresses.use',
      'compute.projects.setCommonInstanceMetadata',
      ...seeProject,
    ],
  },
  'roles/compute.networkAdmin': {
    title: 'Compute Network Admin',
    holds: [
      'compute.networks.*',
      'compute.subnetworks.*',
      'compute.routers.*',
      'compute.routes.*',
      'compute.addresses.*',
      'compute.globalAddresses.*',
      'compute.forwardingRules.*',
      'compute.firewalls.get',
      'compute.firewalls.list',
      'compute.*.get',
      'compute.*.list',
      ...seeProject,
    ],
  },
  'roles/compute.networkUser': {
    title: 'Compute Network User',
    holds: [
      'compute.networks.use',
      'compute.networks.useExternalIp',
      'compute.subnetworks.use',
      'compute.subnetworks.useExternalIp',
      'compute.networks.get',
      'compute.networks.list',
      'compute.subnetworks.get',
      'compute.subnetworks.list',
      'compute.addresses.use',
      ...seeProject,
    ],
  },
  'roles/compute.networkViewer': {
    title: 'Compute Network Viewer',
    holds: [
      'compute.networks.get',
      'compute.networks.list',
      'compute.subnetworks.get',
      'compute.subnetworks.list',
      'compute.routers.get',
      'compute.routers.list',
      'compute.routes.get',
      'compute.routes.list',
      'compute.addresses.get',
      'compute.addresses.list',
      'compute.firewalls.get',
      'compute.firewalls.list',
      'compute.forwardingRules.get',
      'compute.forwardingRules.list',
      'compute.instances.list',
      'compute.regions.get',
      'compute.regions.list',
      'compute.zones.get',
      'compute.zones.list',
      'compute.projects.get',
      ...seeProject,
    ],
  },
  'roles/compute.securityAdmin': {
    title: 'Compute Security Admin',
    holds: [
      'compute.firewalls.*',
      'compute.firewallPolicies.*',
      'compute.networks.updatePolicy',
      'compute.networks.get',
      'compute.networks.list',
      'compute.globalOperations.get',
      ...seeProject,
    ],
  },
  'roles/compute.loadBalancerAdmin': {
    title: 'Compute Load Balancer Admin',
    holds: [
      'compute.addresses.*',
      'compute.globalAddresses.*',
      'compute.backendServices.*',
      'compute.regionBackendServices.*',
      'compute.forwardingRules.*',
      'compute.globalForwardingRules.*',
      'compute.healthChecks.*',
      'compute.httpHealthChecks.*',
      'compute.targetPools.*',
      'compute.instanceGroups.*',
      'compute.firewalls.get',
      'compute.firewalls.list',
      'compute.instances.get',
      'compute.instances.list',
      'compute.instances.use',
      'compute.networks.get',
      'compute.networks.list',
      'compute.networks.use',
      'compute.subnetworks.get',
      'compute.subnetworks.list',
      'compute.subnetworks.use',
      'compute.projects.get',
      ...seeProject,
    ],
  },
  'roles/compute.osLogin': {
    title: 'Compute OS Login',
    holds: ['compute.instances.osLogin', 'compute.instances.get', 'compute.instances.list', 'compute.projects.get'],
  },

  'roles/storage.admin': { title: 'Storage Admin', holds: ['storage.*', ...seeProject] },
  'roles/storage.objectViewer': {
    title: 'Storage Object Viewer',
    holds: ['storage.objects.get', 'storage.objects.list', ...seeProject],
  },
  'roles/storage.objectCreator': { title: 'Storage Object Creator', holds: ['storage.objects.create', ...seeProject] },
  'roles/storage.objectAdmin': { title: 'Storage Object Admin', holds: ['storage.objects.*', ...seeProject] },

  'roles/dns.admin': {
    title: 'DNS Administrator',
    holds: ['dns.*', 'compute.networks.get', 'compute.networks.list', ...seeProject],
  },
  'roles/dns.reader': { title: 'DNS Reader', holds: ['dns.*.get', 'dns.*.list', ...seeProject] },

  'roles/artifactregistry.admin': { title: 'Artifact Registry Administrator', holds: ['artifactregistry.*'] },
  'roles/artifactregistry.repoAdmin': {
    title: 'Artifact Registry Repository Administrator',
    holds: ['artifactregistry.*'],
    butNot: [
      'artifactregistry.repositories.create',
      'artifactregistry.repositories.delete',
      'artifactregistry.repositories.update',
      'artifactregistry.repositories.setIamPolicy',
    ],
  },
  'roles/artifactregistry.writer': {
    title: 'Artifact Registry Writer',
    holds: [
      'artifactregistry.*.get',
      'artifactregistry.*.list',
      'artifactregistry.repositories.downloadArtifacts',
      'artifactregistry.repositories.uploadArtifacts',
      'artifactregistry.tags.create',
      'artifactregistry.tags.update',
    ],
  },
  'roles/artifactregistry.reader': {
    title: 'Artifact Registry Reader',
    holds: ['artifactregistry.*.get', 'artifactregistry.*.list', 'artifactregistry.repositories.downloadArtifacts'],
  },

  'roles/secretmanager.admin': { title: 'Secret Manager Admin', holds: ['secretmanager.*', ...seeProject] },
  'roles/secretmanager.secretAccessor': {
    title: 'Secret Manager Secret Accessor',
    holds: ['secretmanager.versions.access', ...seeProject],
  },
  'roles/secretmanager.secretVersionAdder': {
    title: 'Secret Manager Secret Version Adder',
    holds: ['secretmanager.versions.add', ...seeProject],
  },
  'roles/secretmanager.secretVersionManager': {
    title: 'Secret Manager Secret Version Manager',
    holds: [
      'secretmanager.versions.add',
      'secretmanager.versions.destroy',
      'secretmanager.versions.disable',
      'secretmanager.versions.enable',
      'secretmanager.versions.get',
      'secretmanager.versions.list',
      ...seeProject,
    ],
  },
  'roles/secretmanager.viewer': {
    title: 'Secret Manager Viewer',
    holds: ['secretmanager.*.get', 'secretmanager.*.list', 'secretmanager.secrets.getIamPolicy', ...seeProject],
  },

  'roles/pubsub.admin': { title: 'Pub/Sub Admin', holds: ['pubsub.*', ...seeProject] },
  'roles/pubsub.editor': {
    title: 'Pub/Sub Editor',
    holds: ['pubsub.*', ...seeProject],
    butNot: ['*.setIamPolicy', '*.getIamPolicy'],
  },
  'roles/pubsub.publisher': { title: 'Pub/Sub Publisher', holds: ['pubsub.topics.publish'] },
  'roles/pubsub.subscriber': {
    title: 'Pub/Sub Subscriber',
    holds: ['pubsub.subscriptions.consume', 'pubsub.snapshots.seek', 'pubsub.topics.attachSubscription'],
  },
  'roles/pubsub.viewer': { title: 'Pub/Sub Viewer', holds: ['pubsub.*.get', 'pubsub.*.list', ...seeProject] },

  'roles/cloudscheduler.admin': { title: 'Cloud Scheduler Admin', holds: ['cloudscheduler.*', ...seeProject] },
  'roles/cloudscheduler.jobRunner': {
    title: 'Cloud Scheduler Job Runner',
    holds: ['cloudscheduler.jobs.run', ...seeProject],
  },
  'roles/cloudscheduler.viewer': {
    title: 'Cloud Scheduler Viewer',
    holds: ['cloudscheduler.jobs.get', 'cloudscheduler.jobs.list', 'cloudscheduler.locations.*', ...seeProject],
  },

  'roles/publicca.externalAccountKeyCreator': {
    title: 'External Account Key Creator',
    holds: ['publicca.externalAccountKeys.create', ...seeProject],
  },

  // Roles for services the simulated cloud does not serve. They may be bound, but no call here needs them.
  'roles/datastore.user': { title: 'Cloud Datastore User', holds: ['datastore.entities.*'] },
  'roles/run.invoker': { title: 'Cloud Run Invoker', holds: [] },
  'roles/cloudfunctions.invoker': { title: 'Cloud Functions Invoker', holds: [] },
  'roles/eventarc.eventReceiver': { title: 'Eventarc Event Receiver', holds: [] },
  'roles/logging.logWriter': { title: 'Logs Writer', holds: [] },
  'roles/container.admin': { title: 'Kubernetes Engine Admin', holds: [] },
};

/** A role that a deployment made, named `projects/p/roles/r`. */
export interface CustomRole {
  title: string;
  permissions: readonly string[];
}
export const customRoles = (world: World): Record<string, CustomRole> => world.table<CustomRole>('iam.roles');

export const isKnownRole = (role: string, world: World): boolean =>
  roles[role] !== undefined || customRoles(world)[role] !== undefined;

const matchers = new Map<string, RegExp>();

function fits(pattern: string, permission: string): boolean {
  if (pattern === '*' || pattern === permission) return true;
  if (!pattern.includes('*')) return false;
  let matcher = matchers.get(pattern);
  if (matcher === undefined) {
    matcher = new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '.*')}$`);
    matchers.set(pattern, matcher);
  }
  return matcher.test(permission);
}

/** Looks at predefined roles first, because a deployment cannot take their names. */
export function roleHolds(role: string, permission: string, world: World): boolean {
  const found = roles[role];
  if (found === undefined) return customRoles(world)[role]?.permissions.includes(permission) === true;
  return (
    found.holds.some((pattern) => fits(pattern, permission)) &&
    !(found.butNot ?? []).some((pattern) => fits(pattern, permission))
  );
}
