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
  'cloudbilling.v1': {},
  'cloudquotas.v1': {},
  'cloudresourcemanager.v1': {},
  'cloudresourcemanager.v3': {},
  'cloudscheduler.v1': {
    product:
      'projects.locations.jobs.get projects.locations.jobs.pause projects.locations.jobs.resume projects.locations.jobs.run',
    docs: 'projects.locations.jobs.patch',
    gcloud: 'projects.locations.jobs.list projects.locations.jobs.delete',
    terraform: 'projects.locations.jobs.create',
  },
  'compute.v1': {},
  'dns.v1': {
    product: `changes.create changes.list managedZones.create managedZones.get managedZones.getIamPolicy
      managedZones.setIamPolicy managedZones.testIamPermissions resourceRecordSets.list`,
    firstContact: 'managedZones.delete managedZones.list',
    gcloud: 'resourceRecordSets.get resourceRecordSets.delete',
    terraform: 'changes.get managedZones.patch',
  },
  'iam.v1': {},
  'iamcredentials.v1': {},
  'orgpolicy.v2': {},
  'oslogin.v1': {},
  'publicca.v1': {},
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
  'serviceusage.v1': {},
  'storage.v1': {
    product: 'buckets.testIamPermissions objects.delete objects.get objects.insert objects.list',
    docs: 'buckets.get buckets.getIamPolicy buckets.insert buckets.patch buckets.setIamPolicy',
    gcloud: 'buckets.delete buckets.getStorageLayout buckets.list',
  },
};
