/**
 * Lists every API of the simulated cloud, one row each. A row registers its API everywhere: ports, errors, services, gcloud.
 */
import { artifactRegistry } from './artifact-registry/artifact-registry.js';
import { compute } from './compute/compute.js';
import { dns } from './dns/dns.js';
import { iamCredentials } from './iam/credentials.js';
import { iam } from './iam/iam.js';
import type { Api, Apis, Services } from './kernel/api.js';
import { knownServices } from './kernel/known.js';
import { organizationPolicy } from './org-policy/organization-policy.js';
import { osLogin } from './os-login/os-login.js';
import { billing } from './projects/billing.js';
import { resourceManager } from './projects/resource-manager.js';
import { resourceManagerV1 } from './projects/resource-manager-v1.js';
import { publicCa } from './public-ca/public-ca.js';
import { pubsub } from './pubsub/pubsub.js';
import { cloudQuotas } from './quotas/cloud-quotas.js';
import { scheduler } from './scheduler/scheduler.js';
import { secretManager } from './secret-manager/secret-manager.js';
import { serviceUsage } from './service-usage/service-usage.js';
import { storage } from './storage/storage.js';
import { consumerSetting } from './worlds/settings.js';

/** What most APIs have in common. */
const usual = { errors: 'platform', gcloudBase: '' } as const;

const always = (): boolean => true;

/** The APIs by the name of their host. */
export const apis: Apis = {
  cloudresourcemanager: {
    ...usual,
    title: 'Cloud Resource Manager API',
    isBilled: false,
    countsAtCaller: always,
    versions: [resourceManager, resourceManagerV1],
  },
  cloudbilling: { ...usual, title: 'Cloud Billing API', isBilled: false, countsAtCaller: always, versions: [billing] },
  serviceusage: {
    ...usual,
    title: 'Service Usage API',
    isBilled: false,
    countsAtCaller: always,
    versions: [serviceUsage],
  },
  iam: {
    ...usual,
    title: 'Identity and Access Management (IAM) API',
    errors: 'both',
    isBilled: false,
    countsAtCaller: (world) => consumerSetting(world, 'iam') === 'caller',
    versions: [iam],
  },
  compute: {
    ...usual,
    title: 'Compute Engine API',
    isBilled: true,
    errors: 'legacy',
    gcloudBase: 'compute/v1/',
    versions: [compute],
  },
  dns: { ...usual, title: 'Cloud DNS API', isBilled: true, errors: 'both', gcloudBase: 'dns/v1/', versions: [dns] },
  artifactregistry: { ...usual, title: 'Artifact Registry API', isBilled: true, versions: [artifactRegistry] },
  secretmanager: { ...usual, title: 'Secret Manager API', isBilled: true, versions: [secretManager] },
  publicca: { ...usual, title: 'Public Certificate Authority API', isBilled: false, versions: [publicCa] },
  pubsub: { ...usual, title: 'Cloud Pub/Sub API', isBilled: false, versions: [pubsub] },
  cloudscheduler: { ...usual, title: 'Cloud Scheduler API', isBilled: true, versions: [scheduler] },
  storage: {
    ...usual,
    title: 'Cloud Storage API',
    errors: 'legacy',
    isBilled: false,
    gcloudBase: 'storage/v1/',
    versions: [storage],
  },
  iamcredentials: {
    ...usual,
    title: 'IAM Service Account Credentials API',
    isBilled: false,
    versions: [iamCredentials],
  },
  orgpolicy: {
    ...usual,
    title: 'Organization Policy API',
    isBilled: false,
    countsAtCaller: always,
    versions: [organizationPolicy],
  },
  oslogin: {
    ...usual,
    title: 'Cloud OS Login API',
    isBilled: false,
    countsAtCaller: always,
    versions: [osLogin],
  },
  cloudquotas: {
    ...usual,
    title: 'Cloud Quotas API',
    isBilled: false,
    countsAtCaller: always,
    versions: [cloudQuotas],
  },
};

export const apiDefinitions = Object.values(apis).flatMap(({ versions }: Api) => versions);

/** Services that Google's documents do not list, or that need a billing account. Nothing here serves them. */
const unserved: Readonly<Record<string, boolean>> = {
  cloudapis: false,
  cloudbuild: true,
  cloudfunctions: true,
  container: true,
  containerregistry: true,
  eventarc: false,
  firestore: false,
  logging: false,
  monitoring: false,
  run: true,
  servicemanagement: false,
};

const serviceOf = (host: string): string => `${host}.googleapis.com`;

/**
 * Every service of Google can be enabled: that is only a switch. Calls to one that nothing serves answer 501.
 *
 * Ordered as Service Usage lists them.
 */
export const services: Services = Object.fromEntries(
  [
    ...Object.keys(knownServices()).map(
      (host) => [serviceOf(host), { title: serviceOf(host), isBilled: false }] as const,
    ),
    ...Object.entries(unserved).map(
      ([host, isBilled]) => [serviceOf(host), { title: serviceOf(host), isBilled }] as const,
    ),
    ...Object.entries(apis).map(([host, { title, isBilled }]) => [serviceOf(host), { title, isBilled }] as const),
  ].sort(([a], [b]) => (a < b ? -1 : 1)),
);
