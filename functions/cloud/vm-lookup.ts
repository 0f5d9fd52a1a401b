/**
 * Lists VMs, and reads a VM's addresses and published host keys by plain REST. Compute Engine's clients take too long to load
 * in a function that answers people.
 */
import { Problem } from '../../shared/problems.js';
import { hostKeysOfAttributes, hostKeysOnConsole } from './console-host-keys.js';
import { orUndefined } from './errors.js';
import { createRest, type Transport } from './rest.js';

interface Instance {
  readonly metadata?: { readonly items?: readonly { readonly key?: string; readonly value?: string }[] };
  readonly networkInterfaces?: readonly {
    readonly networkIP?: string;
    readonly accessConfigs?: readonly { readonly natIP?: string }[];
  }[];
}

interface InstancePage {
  /** By `zones/<zone>`. */
  readonly items?: Readonly<Record<string, { readonly instances?: readonly { readonly name: string }[] }>>;
  readonly nextPageToken?: string;
}

export interface SeenVm {
  readonly internalIp: string;
  readonly externalIp?: string;
  /** Whether it has an external address while it runs. */
  readonly isPublic: boolean;
  /** By its own metadata. */
  readonly usesOsLogin: boolean;
  /** Each is `<type> <base64>`. */
  readonly hostKeys: readonly string[];
}

export function createVmLookup(transport: Transport) {
  const rest = createRest(transport, 'compute');
  async function publishedKeys(path: string, name: string): Promise<string[]> {
    const attributes = await orUndefined(
      rest<{ queryValue?: { items?: readonly { readonly key?: string; readonly value?: string }[] } }>(
        'GET',
        `${path}/getGuestAttributes`,
        { doing: `read the guest attributes of the VM ${name}`, query: { queryPath: 'hostkeys/' } },
      ),
    );
    return hostKeysOfAttributes(attributes?.queryValue?.items ?? []);
  }
  async function keysOnConsole(path: string, name: string): Promise<string[]> {
    const { contents = '' } = await rest<{ contents?: string }>('GET', `${path}/serialPort`, {
      doing: `read the serial console of the VM ${name}`,
      query: { port: '1', start: '0' },
    });
    return hostKeysOnConsole(contents);
  }
  return {
    /** Names and zones of all VMs of a project. Empty if Compute Engine is not enabled there. */
    async list(project: string): Promise<{ readonly name: string; readonly zone: string }[]> {
      const found: { name: string; zone: string }[] = [];
      let pageToken: string | undefined;
      do {
        const page = await rest<InstancePage>('GET', `/compute/v1/projects/${project}/aggregated/instances`, {
          doing: `list the VMs of ${project}`,
          query: { maxResults: '500', pageToken },
        }).catch((error: unknown): InstancePage => {
          if (error instanceof Problem && error.code === 'cloud-propagation') return {};
          throw error;
        });
        for (const [place, { instances = [] }] of Object.entries(page.items ?? {})) {
          found.push(...instances.map(({ name }) => ({ name, zone: place.replace(/^zones\//, '') })));
        }
        pageToken = page.nextPageToken;
      } while (pageToken !== undefined && pageToken !== '');
      return found;
    },

    /** Undefined if the zone has no VM of that name. Host keys come from the serial console where a policy hides the others. */
    async find(project: string, zone: string, name: string): Promise<SeenVm | undefined> {
      const path = `/compute/v1/projects/${project}/zones/${zone}/instances/${name}`;
      const instance = await orUndefined(rest<Instance>('GET', path, { doing: `read the VM ${name}` }));
      if (instance === undefined) return undefined;
      const hostKeys = await publishedKeys(path, name).catch((error: unknown) => {
        if (error instanceof Problem && error.code === 'cloud-policy') return keysOnConsole(path, name);
        throw error;
      });
      const [nic] = instance.networkInterfaces ?? [];
      const externalIp = nic?.accessConfigs?.[0]?.natIP;
      return {
        internalIp: nic?.networkIP ?? '',
        ...(externalIp ? { externalIp } : {}),
        usesOsLogin: (instance.metadata?.items ?? []).some(
          ({ key, value }) => key === 'enable-oslogin' && value?.toUpperCase() === 'TRUE',
        ),
        isPublic: (nic?.accessConfigs ?? []).length > 0,
        hostKeys,
      };
    },
  };
}
