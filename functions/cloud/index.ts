/** Wraps Google's services for the steps: one thin file for each service. Compute Engine's clients load on first use. */
import { createArtifactRegistry } from './artifact-registry.js';
import { createBilling } from './billing.js';
import { type ComputeClients, createComputeClients } from './compute/clients.js';
import { createCompute } from './compute/index.js';
import { createCustomRoles } from './custom-role.js';
import { createDns } from './dns.js';
import { createIam } from './iam.js';
import { createNameServers, type NameServers } from './name-servers.js';
import { createOrgPolicy } from './org-policy.js';
import { createOrganizations } from './organizations.js';
import { createOsLogin } from './os-login.js';
import { createPlaces } from './places.js';
import { createProjects } from './projects.js';
import { createPublicCa } from './public-ca.js';
import { createQuotas } from './quotas.js';
import { credentialsOf, type OnCall, type Transport } from './rest.js';
import { createScheduler, createSchedulerClient } from './scheduler.js';
import { createSecretManager } from './secret-manager.js';
import { createServices } from './services.js';
import { createStorage } from './storage.js';
import { createTopics } from './topics.js';
import { createUploads } from './uploads.js';
import { createVmLookup } from './vm-lookup.js';

export interface CloudContext extends Pick<Transport, 'config' | 'clock'> {
  /** Called with one line for every cloud call, for `--verbose`. */
  readonly onCall?: OnCall | undefined;
  /** Default: the function's own identity. */
  readonly credentials?: Transport['credentials'];
  readonly send?: Transport['send'];
  readonly connections?: Transport['connections'];
  /** Default: Google's own. */
  readonly computeClients?: ComputeClients;
}

export type Cloud = ReturnType<typeof verbsOf> & {
  readonly scheduler: ReturnType<typeof createScheduler>;
  readonly nameServers: NameServers;
  /**
   * The same cloud, with the same credentials and clients, that reports its calls to `onCall`. It sends `reason` to Google.
   */
  reportingTo(onCall: OnCall, reason?: string): Cloud;
};

export function createCloud({
  config,
  clock,
  onCall,
  send,
  connections,
  credentials = credentialsOf(config),
  computeClients: clients = createComputeClients({ config, credentials }),
}: CloudContext): Cloud {
  const scheduler = createSchedulerClient({ config, credentials });
  const nameServers = createNameServers(config);
  const reporting = (transport: Transport): Cloud => ({
    ...verbsOf(transport, clients),
    scheduler: createScheduler(scheduler, transport),
    nameServers,
    reportingTo: (listener, reason) => reporting({ ...transport, onCall: listener, reason }),
  });
  return reporting({ config, clock, credentials, send, connections, onCall });
}

const verbsOf = (transport: Transport, clients: ComputeClients) => ({
  projects: createProjects(transport),
  billing: createBilling(transport),
  services: createServices(transport),
  iam: createIam(transport),
  organizations: createOrganizations(transport),
  orgPolicy: createOrgPolicy(transport),
  osLogin: createOsLogin(transport),
  customRoles: createCustomRoles(transport),
  compute: createCompute(clients, transport),
  places: createPlaces(transport),
  vmLookup: createVmLookup(transport),
  dns: createDns(transport),
  artifactRegistry: createArtifactRegistry(transport),
  secretManager: createSecretManager(transport),
  publicCa: createPublicCa(transport),
  quotas: createQuotas(transport),
  storage: createStorage(transport),
  topics: createTopics(transport),
  uploads: createUploads(transport),
});
