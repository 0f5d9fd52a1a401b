/**
 * Loads Google's own clients of Compute Engine, each on first use, because they take a second and 100 MB. Only this file
 * imports @google-cloud/compute.
 */
import type { Transport } from '../rest.js';
import type { Resource } from './resources.js';

/** The clients in use, one file each. The specifiers are literal so that a bundler sees them. */
export const clientClasses = {
  addresses: async () => (await import('@google-cloud/compute/build/src/v1/addresses_client.js')).AddressesClient,
  disks: async () => (await import('@google-cloud/compute/build/src/v1/disks_client.js')).DisksClient,
  firewalls: async () => (await import('@google-cloud/compute/build/src/v1/firewalls_client.js')).FirewallsClient,
  globalOperations: async () =>
    (await import('@google-cloud/compute/build/src/v1/global_operations_client.js')).GlobalOperationsClient,
  instances: async () => (await import('@google-cloud/compute/build/src/v1/instances_client.js')).InstancesClient,
  networks: async () => (await import('@google-cloud/compute/build/src/v1/networks_client.js')).NetworksClient,
  projects: async () => (await import('@google-cloud/compute/build/src/v1/projects_client.js')).ProjectsClient,
  regionOperations: async () =>
    (await import('@google-cloud/compute/build/src/v1/region_operations_client.js')).RegionOperationsClient,
  regions: async () => (await import('@google-cloud/compute/build/src/v1/regions_client.js')).RegionsClient,
  routers: async () => (await import('@google-cloud/compute/build/src/v1/routers_client.js')).RoutersClient,
  subnetworks: async () => (await import('@google-cloud/compute/build/src/v1/subnetworks_client.js')).SubnetworksClient,
  zoneOperations: async () =>
    (await import('@google-cloud/compute/build/src/v1/zone_operations_client.js')).ZoneOperationsClient,
};
export type ClientName = keyof typeof clientClasses;

/** The clients' methods as plinth calls them. resources.ts has the types of their answers. */
type Verb = (
  request: Resource,
  options: {
    readonly retry: null;
    readonly timeout: number;
    readonly autoPaginate: boolean;
    readonly otherArgs?: { readonly headers: Readonly<Record<string, string>> };
  },
) => Promise<readonly unknown[]>;
type Client = Readonly<Record<string, Verb>>;
export type ComputeClients = (name: ClientName) => Promise<Client>;

/** Google's library beneath its clients. */
interface Gax {
  readonly GrpcClient: new (options: object) => { loadProtoJSON(schema: object): unknown };
  readonly protobuf: object;
  /** What was read before is kept, by a hash of all of it. */
  readonly protobufFromJSON: (schema: object) => unknown;
}

/**
 * Google's clients look up the schema of all of Compute Engine by its hash whenever one is made, 30 ms each. For each refusal
 * with details, such as that an API is not usable yet, they read it anew. That takes a third of a second, in which nobody else
 * goes on. With this they take what was read once.
 */
function keepSchema(gax: Gax): Gax {
  const schemas = new WeakMap<object, unknown>();
  const fromJSON = (schema: object): unknown => {
    const kept = schemas.get(schema) ?? gax.protobufFromJSON(schema);
    schemas.set(schema, kept);
    return kept;
  };
  const GrpcClient = class extends gax.GrpcClient {
    override loadProtoJSON(schema: object): unknown {
      return fromJSON(schema);
    }
  };
  return { ...gax, GrpcClient, protobuf: { ...gax.protobuf, Root: { fromJSON } } };
}

/** That of the first client, for all of this process. */
let gax: Gax | undefined;

/** Makes each client once, on first use, with the function's own credentials. */
export function createComputeClients({
  config,
  credentials,
}: Pick<Transport, 'config' | 'credentials'>): ComputeClients {
  const made = new Map<ClientName, Promise<Client>>();
  const url = new URL(config.endpoints.compute);
  const make = async (name: ClientName): Promise<Client> => {
    const ClientClass = (await clientClasses[name]()) as unknown as new (
      options: Resource,
      library: { readonly fallback: Gax } | undefined,
    ) => Client & { _gaxModule: Gax };
    const options = {
      fallback: true,
      protocol: url.protocol.replace(':', ''),
      apiEndpoint: url.hostname,
      port: Number(url.port || (url.protocol === 'http:' ? 80 : 443)),
      authClient: credentials,
      projectId: config.project,
    };
    const client = new ClientClass(options, gax && { fallback: gax });
    gax ??= keepSchema(client._gaxModule);
    client._gaxModule = gax;
    return client;
  };
  return (name) => {
    const client = made.get(name) ?? make(name);
    made.set(name, client);
    return client;
  };
}
