/**
 * The metadata server of VMs, at 169.254.169.254 and metadata.google.internal in each: facts about the VM, and tokens of its
 * account. No firewall rule blocks it.
 *
 * Requests come through the fabric, or through the network of real hosts.
 */
import { createServer } from 'node:http';
import type { Duplex } from 'node:stream';
import { collections, held, lastOf } from '../cloud/compute/resources.js';
import type { World } from '../cloud/kernel/api.js';
import { objectOf, objectsOf, textOf, textsOf } from '../cloud/kernel/json-fields.js';
import { answerMetadata, type MetadataSource } from '../cloud/metadata.js';
import type { Identity } from '../identity/identity.js';
import type { Vm } from './vms.js';

/** The same for every VM in every network. It is also the gateway of real hosts. */
export const metadataAddress = '169.254.169.254';
export const metadataNames = ['metadata.google.internal', 'metadata'] as const;
export const metadataPort = 80;

export interface GuestMetadata {
  /** Takes a connection that came from this VM. */
  take(vm: Vm, stream: Duplex): void;
  close(): void;
}

export function createGuestMetadata({ world, identity }: { world: World; identity: Identity }): GuestMetadata {
  const askers = new WeakMap<Duplex, Vm>();
  const open = new Set<Duplex>();
  const server = createServer((request, response) => {
    const vm = askers.get(request.socket);
    const source = vm === undefined ? undefined : sourceOf(world, identity, vm);
    if (source === undefined) return void response.writeHead(404).end();
    void answerMetadata(source, request, response);
  });
  return {
    take(vm, stream) {
      askers.set(stream, vm);
      open.add(stream);
      stream.once('close', () => open.delete(stream));
      stream.on('error', () => stream.destroy());
      server.emit('connection', stream);
    },
    close() {
      for (const stream of open) stream.destroy();
      server.close();
    },
  };
}

/** The VM as it is now. Undefined once it is gone. */
function sourceOf(world: World, identity: Identity, vm: Vm): MetadataSource | undefined {
  const { path, projectId, name, id, network, address } = vm;
  const resource = held(world, collections.instances)[path]?.resource;
  if (resource === undefined) return undefined;
  const items = objectsOf(objectOf(resource['metadata'])?.['items']);
  // Google lets a VM carry one account.
  const [account] = objectsOf(resource['serviceAccounts']);
  const email = textOf(account?.['email']);
  return {
    world,
    identity,
    project: projectId,
    zone: path.split('/')[3] ?? '',
    id,
    name,
    nic: { network: lastOf(network), ip: address },
    attributes: Object.fromEntries(items.map(({ key, value }) => [textOf(key) ?? '', textOf(value) ?? ''])),
    accounts: email === undefined ? [] : [email],
    scopes: textsOf(account?.['scopes']),
    accountNamed: (asked) => (asked === 'default' || asked === email ? email : undefined),
  };
}
