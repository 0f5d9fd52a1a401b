/** Resolved options of a bootstrap with the five required flags and forge1's default of a user, for tests. */
import type { BootstrapOptions } from '../../shared/bootstrap/options.js';

const defaults = {
  projectName: 'my project',
  billingAccount: '012345-6789AB-CDEF01',
  baseDomain: 'example.com',
  region: 'europe-west4',
  zone: 'europe-west4-a',
  projectTtl: '2h',
  rootDiskSize: 50,
  preemptible: false,
  spotVms: false,
  multiDc: false,
  datacenterId: 1,
  datacenterName: 'dev',
  kubeDistroVersion: 'v1.31.14+k0s.0',
  dnsZoneName: 'tool-testing',
  acmeStaging: false,
  cloudAcmeIssuer: false,
  installSkipSteps: [],
  featureFlags: [],
  internalFlags: ['headless-services', 'vcluster', 'custom-service-image', 'ms-in-ls'],
  previewFlags: ['openfga-authz', 'cluster-admin'],
  createTestUser: false,
  registryType: 'forge1',
  airgapped: false,
  forge1AppClientId: 'client-1',
  vaultUser: 'admin',
  vaultEngine: 'cs-secrets-engine',
  secretsDir: '/etc/platform/secrets',
  centralOtelSpanMetrics: false,
};

export const makeOptions = (options: Partial<BootstrapOptions> = {}): BootstrapOptions =>
  ({ ...defaults, ...options }) as unknown as BootstrapOptions;
