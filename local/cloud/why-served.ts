/**
 * Why the simulated cloud answers each method that it answers. A method is listed under the first reason that holds. What is
 * not listed answers 501.
 */
import type { ApiName } from './kernel/api.js';

/** Methods by reason, without the name of the API, separated by spaces: `projects.get projects.list`. */
export interface Reasons {
  /** The product calls it. */
  readonly product?: string;
  /** A command in README, docs/use or docs/operate calls it. */
  readonly docs?: string;
  /** First contact calls it. */
  readonly firstContact?: string;
  /** gcloud needs it to list, describe or delete what plinth creates. */
  readonly gcloud?: string;
  /** Terraform's provider needs it for the same kinds of resources. */
  readonly terraform?: string;
  /** None of these holds. Each method has its own reason. */
  readonly exceptions?: Readonly<Record<string, string>>;
}

export const whyServed: Readonly<Record<ApiName, Reasons>> = {
  'artifactregistry.v1': {
    product: `projects.locations.operations.get projects.locations.repositories.create projects.locations.repositories.get
      projects.locations.repositories.getIamPolicy projects.locations.repositories.setIamPolicy`,
    firstContact: 'projects.locations.repositories.list',
    gcloud: 'projects.locations.list projects.locations.repositories.delete',
    terraform: 'projects.locations.repositories.patch',
  },
  'cloudbilling.v1': {
    product:
      'projects.getBillingInfo projects.updateBillingInfo billingAccounts.get billingAccounts.projects.list billingAccounts.testIamPermissions',
    docs: 'billingAccounts.list billingAccounts.getIamPolicy billingAccounts.setIamPolicy',
  },
  'cloudquotas.v1': {
    product:
      'projects.locations.services.quotaInfos.get projects.locations.quotaPreferences.create projects.locations.quotaPreferences.list projects.locations.quotaPreferences.patch',
    exceptions: {
      'projects.locations.quotaPreferences.get': 'Every declared collection serves it without a line of its own.',
    },
  },
  'cloudresourcemanager.v1': {
    // Among them `gcloud auth application-default set-quota-project`, which tests permissions.
    docs: 'projects.create projects.get projects.update projects.delete projects.undelete projects.getIamPolicy projects.setIamPolicy projects.testIamPermissions operations.get organizations.getIamPolicy organizations.setIamPolicy liens.create liens.list liens.delete',
    gcloud: 'projects.list',
  },
  'cloudresourcemanager.v3': {
    product:
      'projects.create projects.get projects.patch projects.search projects.delete projects.getIamPolicy projects.setIamPolicy projects.testIamPermissions operations.get folders.testIamPermissions organizations.search organizations.testIamPermissions liens.list',
    firstContact: 'projects.list',
    terraform: 'folders.getIamPolicy folders.setIamPolicy',
  },
  'cloudscheduler.v1': {
    product:
      'projects.locations.jobs.get projects.locations.jobs.pause projects.locations.jobs.resume projects.locations.jobs.run',
    docs: 'projects.locations.jobs.patch',
    gcloud: 'projects.locations.jobs.list projects.locations.jobs.delete',
    terraform: 'projects.locations.jobs.create',
  },
  'compute.v1': {
    product: [
      'addresses.aggregatedList addresses.get addresses.insert',
      'disks.delete disks.get',
      'firewalls.insert firewalls.list firewalls.update',
      'globalOperations.list globalOperations.wait',
      'instances.aggregatedList instances.delete instances.get instances.getGuestAttributes',
      'instances.getSerialPortOutput instances.insert instances.setMetadata instances.setTags',
      'instances.start instances.stop',
      'machineTypes.get',
      'networks.get networks.getEffectiveFirewalls networks.insert',
      'projects.get projects.setCommonInstanceMetadata',
      'regionOperations.list regionOperations.wait',
      'regions.get',
      'routers.get routers.insert routers.patch',
      'subnetworks.get subnetworks.insert',
      'zoneOperations.list zoneOperations.wait',
    ].join(' '),
    firstContact: [
      'firewalls.delete',
      'forwardingRules.delete forwardingRules.insert',
      'globalOperations.get regionOperations.get zoneOperations.get',
      'networks.delete networks.list',
      'routers.delete routers.getRouterStatus',
      'zones.list',
    ].join(' '),
    gcloud: [
      'addresses.delete addresses.list',
      'disks.aggregatedList disks.list',
      'firewalls.get',
      'instances.list',
      'regions.list',
      'routers.aggregatedList routers.list',
      'subnetworks.aggregatedList subnetworks.delete subnetworks.list',
    ].join(' '),
    // It changes in place what a resource of plinth has: so no disks of a VM, which are attached when it is created.
    terraform: [
      'addresses.setLabels',
      'disks.insert disks.resize disks.setLabels',
      'firewalls.patch',
      'images.get images.getFromFamily',
      'instances.addAccessConfig instances.deleteAccessConfig instances.setDeletionProtection instances.setLabels',
      'instances.setMachineType instances.setScheduling instances.setServiceAccount',
      'networks.patch',
      'subnetworks.expandIpCidrRange subnetworks.patch subnetworks.setPrivateIpGoogleAccess',
      'zones.get',
    ].join(' '),
    exceptions: {
      'forwardingRules.aggregatedList': 'gcloud lists by it what the platform has made in the project.',
      'forwardingRules.get': 'The stand-in for k0s reads the address that a service has got.',
      'forwardingRules.list': 'It shows a region what the stand-in for k0s has made.',
      'instances.reset': 'Tests cut the power of a machine with it.',
      'instances.resume': "The product's advice about a suspended VM names gcloud's command for it.",
      'instances.suspend': 'Nothing else makes the suspended VM that the product refuses.',
      'machineTypes.aggregatedList': "The product's advice about a missing machine type names gcloud's command for it.",
    },
  },
  'dns.v1': {
    product: `changes.create changes.list managedZones.create managedZones.get managedZones.getIamPolicy
      managedZones.setIamPolicy managedZones.testIamPermissions resourceRecordSets.list`,
    firstContact: 'managedZones.delete managedZones.list',
    gcloud: 'resourceRecordSets.get resourceRecordSets.delete',
    terraform: 'changes.get managedZones.patch',
  },
  'iam.v1': {
    product:
      'projects.serviceAccounts.create projects.serviceAccounts.get projects.serviceAccounts.getIamPolicy projects.serviceAccounts.setIamPolicy projects.serviceAccounts.testIamPermissions projects.roles.create projects.roles.get projects.roles.patch projects.roles.undelete organizations.roles.get',
    // gcloud asks which permissions a role may hold before it creates one.
    docs: 'projects.serviceAccounts.disable permissions.queryTestablePermissions',
    firstContact: 'roles.get',
    gcloud: 'projects.serviceAccounts.list projects.serviceAccounts.delete',
    terraform: 'projects.serviceAccounts.patch projects.serviceAccounts.enable projects.roles.delete',
  },
  'iamcredentials.v1': {
    product: 'projects.serviceAccounts.signBlob projects.serviceAccounts.generateIdToken',
    firstContact: 'projects.serviceAccounts.generateAccessToken',
  },
  'orgpolicy.v2': {
    product:
      'projects.policies.getEffectivePolicy folders.policies.getEffectivePolicy organizations.policies.getEffectivePolicy',
  },
  'oslogin.v1': {
    product: 'users.importSshPublicKey users.sshPublicKeys.delete',
    firstContact: 'users.getLoginProfile',
  },
  'publicca.v1': {
    product: 'projects.locations.externalAccountKeys.create',
  },
  'pubsub.v1': {
    product: 'projects.topics.publish projects.topics.testIamPermissions',
    docs: `projects.subscriptions.list projects.topics.create projects.topics.getIamPolicy
      projects.topics.setIamPolicy`,
    gcloud: 'projects.topics.delete projects.topics.get projects.topics.list',
    terraform: 'projects.topics.patch',
  },
  'secretmanager.v1': {
    product: `projects.secrets.addVersion projects.secrets.create projects.secrets.delete
      projects.secrets.testIamPermissions projects.secrets.versions.access projects.secrets.versions.destroy
      projects.secrets.versions.get projects.secrets.versions.list`,
    docs: 'projects.secrets.list projects.secrets.versions.disable',
    firstContact: 'projects.secrets.setIamPolicy',
    gcloud: 'projects.secrets.get',
    terraform: 'projects.secrets.getIamPolicy projects.secrets.patch',
  },
  'serviceusage.v1': {
    product: 'services.batchEnable services.batchGet operations.get',
    docs: 'services.enable',
    gcloud: 'services.get services.list services.disable',
  },
  'storage.v1': {
    product: 'buckets.testIamPermissions objects.delete objects.get objects.insert objects.list',
    docs: 'buckets.get buckets.getIamPolicy buckets.insert buckets.patch buckets.setIamPolicy',
    gcloud: 'buckets.delete buckets.getStorageLayout buckets.list',
  },
};
