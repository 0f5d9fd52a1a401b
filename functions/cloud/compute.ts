/**
 * Compute Engine through Google's own clients, each loaded on first use: they cost a second and 100 MB. The one importer of
 * @google-cloud/compute. Writes answer with an operation's name; how it ended is asked for by the step, never waited for here.
 */
import { faultOfThrown, orUndefined, problemOf } from './errors.js';
import { type ComputeAnswer, type Operation, readCompute } from './operations.js';
import { reasonHeader, reportCall, type Transport } from './rest.js';

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
  /** VMs that it is attached to. */
  readonly users?: readonly string[];
}

export interface Region {
  readonly quotas?: readonly { readonly metric: string; readonly limit: number }[];
  /** Links to its zones. */
  readonly zones?: readonly string[];
}

/** A resource as the API takes it; Google checks what is given. */
export type Resource = Readonly<Record<string, unknown>>;

/** Where operations live. */
export type Scope = { readonly region: string } | { readonly zone: string } | 'global';

/** The clients that are used, one file each; the specifiers are literal so that a bundler sees them. */
const clientClasses = {
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
type ClientName = keyof typeof clientClasses;

/** The clients' methods as they are used here: the resources above say what is read of the answers. */
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

/** Each client once, on first use, with the function's own credentials. */
export function createComputeClients({
  config,
  credentials,
}: Pick<Transport, 'config' | 'credentials'>): ComputeClients {
  const made = new Map<ClientName, Promise<Client>>();
  const url = new URL(config.endpoints.compute);
  const make = async (name: ClientName): Promise<Client> => {
    const ClientClass = (await clientClasses[name]()) as unknown as new (options: Resource) => Client;
    return new ClientClass({
      fallback: true,
      protocol: url.protocol.replace(':', ''),
      apiEndpoint: url.hostname,
      port: Number(url.port || (url.protocol === 'http:' ? 80 : 443)),
      authClient: credentials,
      projectId: config.project,
    });
  };
  return (name) => {
    const client = made.get(name) ?? make(name);
    made.set(name, client);
    return client;
  };
}

/** What is listed over all places at once comes as pairs of a place and what is there. */
type AggregatedList = (
  request: Resource,
  options: Readonly<Record<string, unknown>>,
) => AsyncIterable<readonly [string, { readonly addresses?: readonly Address[] | null }]>;

const timeoutMilliseconds = 60_000;

export function createCompute(clients: ComputeClients, { onCall, reason }: Pick<Transport, 'onCall' | 'reason'>) {
  /** One call, never tried twice here: the engine owns retries. */
  async function call<T>(name: ClientName, verb: string, doing: string, request: Resource): Promise<T> {
    const client = await clients(name);
    const startedAt = performance.now();
    const report = (result: string) => reportCall(onCall, `compute.${name}.${verb}`, result, startedAt);
    try {
      const method = client[verb];
      if (method === undefined) throw new TypeError(`compute has no ${name}.${verb}`);
      const options = {
        retry: null,
        timeout: timeoutMilliseconds,
        autoPaginate: false,
        // Of its own for each call: the client adds headers to it.
        ...(reason === undefined ? {} : { otherArgs: { headers: { [reasonHeader]: reason } } }),
      };
      const [answer] = await method.call(client, request, options);
      report('ok');
      return answer as T;
    } catch (error) {
      // A request that the client cannot write is a fault of ours.
      if (error instanceof TypeError) throw error;
      const fault = faultOfThrown(error);
      report(String(fault.http ?? 'no answer'));
      throw problemOf(fault, doing, error);
    }
  }

  const get = <T>(name: ClientName, doing: string, request: Resource): Promise<T | undefined> =>
    orUndefined(call<T>(name, 'get', doing, request));

  /** A change; a `requestId` seen before is answered with the operation it began then. */
  async function change(name: ClientName, verb: string, doing: string, request: Resource): Promise<Operation> {
    const { latestResponse } = await call<{ latestResponse: ComputeAnswer }>(name, verb, doing, request);
    return readCompute(latestResponse, doing);
  }

  function operations(project: string, scope: Scope, filter: string): Promise<readonly ComputeAnswer[]> {
    const [name, place] =
      scope === 'global'
        ? (['globalOperations', {}] as const)
        : 'zone' in scope
          ? (['zoneOperations', scope] as const)
          : (['regionOperations', scope] as const);
    return call(name, 'list', `list operations in ${project}`, { project, ...place, filter });
  }

  return {
    /** Loads all clients, which costs more than a second, at a time when there is nothing else to do. */
    async load(): Promise<void> {
      for (const name of Object.keys(clientClasses) as ClientName[]) await clients(name);
    },

    region: (project: string, region: string) =>
      get<Region>('regions', `read the region ${region}`, { project, region }),

    commonMetadata: async (project: string): Promise<Metadata> => {
      const answer = await call<{ commonInstanceMetadata?: Metadata | null }>(
        'projects',
        'get',
        `read the metadata of ${project}`,
        { project },
      );
      return answer.commonInstanceMetadata ?? {};
    },
    setCommonMetadata: (project: string, metadata: Metadata, requestId: string) =>
      change('projects', 'setCommonInstanceMetadata', `change the metadata of ${project}`, {
        project,
        requestId,
        metadataResource: metadata,
      }),

    network: (project: string, network: string) =>
      get<Network>('networks', `read the network ${network}`, { project, network }),
    createNetwork: (project: string, resource: Resource, requestId: string) =>
      change('networks', 'insert', `create the network ${resource['name']}`, {
        project,
        requestId,
        networkResource: resource,
      }),

    subnetwork: (project: string, region: string, subnetwork: string) =>
      get<Subnetwork>('subnetworks', `read the subnet ${subnetwork}`, { project, region, subnetwork }),
    createSubnetwork: (project: string, region: string, resource: Resource, requestId: string) =>
      change('subnetworks', 'insert', `create the subnet ${resource['name']}`, {
        project,
        region,
        requestId,
        subnetworkResource: resource,
      }),

    /** Of these names, those that are there. */
    firewallRules: (project: string, names: readonly string[]) =>
      call<readonly FirewallRule[]>('firewalls', 'list', `list the firewall rules of ${project}`, {
        project,
        filter: names.map((name) => `(name = "${name}")`).join(' OR '),
      }),
    createFirewallRule: (project: string, resource: Resource, requestId: string) =>
      change('firewalls', 'insert', `create the firewall rule ${resource['name']}`, {
        project,
        requestId,
        firewallResource: resource,
      }),
    /** Replaces the rule as a whole. */
    updateFirewallRule: (project: string, firewall: string, resource: Resource, requestId: string) =>
      change('firewalls', 'update', `change the firewall rule ${firewall}`, {
        project,
        firewall,
        requestId,
        firewallResource: resource,
      }),

    router: (project: string, region: string, router: string) =>
      get<Router>('routers', `read the router ${router}`, { project, region, router }),
    createRouter: (project: string, region: string, resource: Resource, requestId: string) =>
      change('routers', 'insert', `create the router ${resource['name']}`, {
        project,
        region,
        requestId,
        routerResource: resource,
      }),
    patchRouter: (project: string, region: string, router: string, resource: Resource, requestId: string) =>
      change('routers', 'patch', `change the router ${router}`, {
        project,
        region,
        router,
        requestId,
        routerResource: resource,
      }),

    address: (project: string, region: string, address: string) =>
      get<Address>('addresses', `read the address ${address}`, { project, region, address }),
    /** The values of all addresses that are reserved in the project, wherever they are. */
    async allAddresses(project: string): Promise<string[]> {
      const doing = `list the addresses of ${project}`;
      const client = await clients('addresses');
      const list = client['aggregatedListAsync'] as unknown as AggregatedList;
      const startedAt = performance.now();
      const report = (result: string) => reportCall(onCall, 'compute.addresses.aggregatedList', result, startedAt);
      try {
        const found: string[] = [];
        const options = {
          retry: null,
          timeout: timeoutMilliseconds,
          autoPaginate: false,
          ...(reason === undefined ? {} : { otherArgs: { headers: { [reasonHeader]: reason } } }),
        };
        for await (const [, { addresses }] of list.call(client, { project }, options)) {
          for (const { address } of addresses ?? []) if (address) found.push(address);
        }
        report('ok');
        return found;
      } catch (error) {
        if (error instanceof TypeError) throw error;
        const fault = faultOfThrown(error);
        report(String(fault.http ?? 'no answer'));
        throw problemOf(fault, doing, error);
      }
    },
    createAddress: (project: string, region: string, resource: Resource, requestId: string) =>
      change('addresses', 'insert', `reserve the address ${resource['name']}`, {
        project,
        region,
        requestId,
        addressResource: resource,
      }),

    instance: (project: string, zone: string, instance: string) =>
      get<Instance>('instances', `read the VM ${instance}`, { project, zone, instance }),
    createInstance: (project: string, zone: string, resource: Resource, requestId: string) =>
      change('instances', 'insert', `create the VM ${resource['name']} in ${zone}`, {
        project,
        zone,
        requestId,
        instanceResource: resource,
      }),
    startInstance: (project: string, zone: string, instance: string, requestId: string) =>
      change('instances', 'start', `start the VM ${instance}`, { project, zone, instance, requestId }),
    removeInstance: (project: string, zone: string, instance: string, requestId: string) =>
      change('instances', 'delete', `delete the VM ${instance}`, { project, zone, instance, requestId }),
    setMetadata: (project: string, zone: string, instance: string, metadata: Metadata, requestId: string) =>
      change('instances', 'setMetadata', `change the metadata of the VM ${instance}`, {
        project,
        zone,
        instance,
        requestId,
        metadataResource: metadata,
      }),
    /** What the VM's guest published under `queryPath` (`hostkeys/`); undefined before it did. */
    guestAttributes: async (
      project: string,
      zone: string,
      instance: string,
      queryPath: string,
    ): Promise<readonly GuestAttribute[] | undefined> => {
      const doing = `read the guest attributes of the VM ${instance}`;
      const request = { project, zone, instance, queryPath };
      const answer = await orUndefined(
        call<{ queryValue?: { items?: readonly GuestAttribute[] } | null }>(
          'instances',
          'getGuestAttributes',
          doing,
          request,
        ),
      );
      return answer?.queryValue?.items ?? undefined;
    },
    setTags: (project: string, zone: string, instance: string, tags: Resource, requestId: string) =>
      change('instances', 'setTags', `change the tags of the VM ${instance}`, {
        project,
        zone,
        instance,
        requestId,
        tagsResource: tags,
      }),

    disk: (project: string, zone: string, disk: string) =>
      get<Disk>('disks', `read the disk ${disk}`, { project, zone, disk }),
    removeDisk: (project: string, zone: string, disk: string, requestId: string) =>
      change('disks', 'delete', `delete the disk ${disk}`, { project, zone, disk, requestId }),

    /** Ids of the resources that something is being done to. */
    async underWay(project: string, scope: Scope): Promise<ReadonlySet<string>> {
      const answers = await operations(project, scope, 'status != "DONE"');
      return new Set(answers.flatMap(({ targetId }) => targetId ?? []));
    },

    /** Operations on one resource, ended ones for some weeks too. `targetId` is the resource's numeric id. */
    async operationsOn(project: string, scope: Scope, targetId: string) {
      const answers = await operations(project, scope, `targetId = ${targetId}`);
      return answers.map((answer) => ({ ...readCompute(answer, 'change it'), type: answer.operationType }));
    },
  };
}
