/** Wraps VMs and their disks. */

import { hostKeysOfAttributes, hostKeysOnConsole } from '../console-host-keys.js';
import { orUndefined } from '../errors.js';
import type { ComputeCalls } from './calls.js';
import type { Disk, GuestAttribute, Instance, Metadata, Resource } from './resources.js';

export const createInstances = ({ call, get, change }: ComputeCalls) => ({
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
  stopInstance: (project: string, zone: string, instance: string, requestId: string) =>
    change('instances', 'stop', `stop the VM ${instance}`, { project, zone, instance, requestId }),
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
  /** The host keys, as `<type> <base64>`, that the VM's guest has published. Empty before that. */
  publishedHostKeys: async (project: string, zone: string, instance: string): Promise<string[]> => {
    const doing = `read the guest attributes of the VM ${instance}`;
    const request = { project, zone, instance, queryPath: 'hostkeys/' };
    const answer = await orUndefined(
      call<{ queryValue?: { items?: readonly GuestAttribute[] } | null }>(
        'instances',
        'getGuestAttributes',
        doing,
        request,
      ),
    );
    return hostKeysOfAttributes(answer?.queryValue?.items ?? []);
  },
  /** The host keys, as `<type> <base64>`, that the VM has printed on its serial console since its power went on. */
  consoleHostKeys: async (project: string, zone: string, instance: string): Promise<string[]> => {
    const doing = `read the serial console of the VM ${instance}`;
    const request = { project, zone, instance, port: 1, start: 0 };
    const answer = await call<{ contents?: string | null }>('instances', 'getSerialPortOutput', doing, request);
    return hostKeysOnConsole(answer.contents ?? '');
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
});
