/**
 * Reads a VM's addresses and published host keys by plain REST. Compute Engine's clients take too long to load in a function
 * that answers people.
 */
import { orUndefined } from './errors.js';
import { createRest, type Transport } from './rest.js';

interface Instance {
  readonly networkInterfaces?: readonly {
    readonly networkIP?: string;
    readonly accessConfigs?: readonly { readonly natIP?: string }[];
  }[];
}

export interface SeenVm {
  readonly internalIp: string;
  readonly externalIp?: string;
  /** Each is `<type> <base64>`. */
  readonly hostKeys: readonly string[];
}

export function createVmLookup(transport: Transport) {
  const rest = createRest(transport, 'compute');
  return {
    /** Undefined if the zone has no VM of that name. */
    async find(project: string, zone: string, name: string): Promise<SeenVm | undefined> {
      const path = `/compute/v1/projects/${project}/zones/${zone}/instances/${name}`;
      const instance = await orUndefined(rest<Instance>('GET', path, { doing: `read the VM ${name}` }));
      if (instance === undefined) return undefined;
      const attributes = await orUndefined(
        rest<{ queryValue?: { items?: readonly { readonly key?: string; readonly value?: string }[] } }>(
          'GET',
          `${path}/getGuestAttributes`,
          { doing: `read the guest attributes of the VM ${name}`, query: { queryPath: 'hostkeys/' } },
        ),
      );
      const [nic] = instance.networkInterfaces ?? [];
      const externalIp = nic?.accessConfigs?.[0]?.natIP;
      return {
        internalIp: nic?.networkIP ?? '',
        ...(externalIp ? { externalIp } : {}),
        hostKeys: (attributes?.queryValue?.items ?? []).map(({ key = '', value = '' }) => `${key} ${value}`),
      };
    },
  };
}
