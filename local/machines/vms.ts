/**
 * The VMs of the simulated cloud as their machines see them: addresses, tags, keys, whether the guest is up. Each question
 * reads the present state.
 */

import { guests } from '../cloud/compute/instance-life.js';
import { metadataValue } from '../cloud/compute/metadata.js';
import { collections, type Held, held, heldIn, lastOf, unlink } from '../cloud/compute/resources.js';
import type { JsonObject, World } from '../cloud/kernel/api.js';
import { objectOf, objectsOf, textOf, textsOf } from '../cloud/kernel/json-fields.js';
import { isEnforced } from '../cloud/org-policy/policies.js';
import { type OsLoginUser, osLoginUser } from '../cloud/os-login/guest.js';
import type { Endpoint } from './network/firewall.js';

export interface Vm extends Endpoint {
  /** `projects/P/zones/Z/instances/N` */
  readonly path: string;
  readonly name: string;
  readonly id: string;
  readonly projectId: string;
  readonly zone: string;
  /** Whether Google's DNS knows it by its zone alone. */
  readonly isZonalDnsOnly: boolean;
  /** Path of its network. */
  readonly network: string;
  /** Path of its subnetwork. */
  readonly subnetwork: string;
  readonly externalAddress?: string | undefined;
  /** Whether its guest has booted. */
  readonly isUp: boolean;
  /** Changes with every start. */
  readonly boot: string;
  metadata(key: string): string | undefined;
  /** Undefined: the VM uses no OS Login. Whether it does, and who may log in, is a question of this moment. */
  osLogin(user: string): OsLoginUser | undefined;
}

const commonMetadata = (world: World, projectId: string): JsonObject | undefined =>
  world.table<JsonObject>('compute.commonInstanceMetadata')[projectId];

export function vmAt(world: World, path: string): Vm | undefined {
  const found = held(world, collections.instances)[path];
  return found === undefined ? undefined : vmOf(world, path, found);
}

export const allVms = (world: World): Vm[] =>
  Object.entries(held(world, collections.instances)).map(([path, one]) => vmOf(world, path, one));

function vmOf(world: World, path: string, { resource }: Held): Vm {
  const [, projectId = ''] = path.split('/');
  const [nic = {}] = objectsOf(resource['networkInterfaces']);
  const guest = guests(world)[path];
  const subnetwork = unlink(textOf(nic['subnetwork']) ?? '');
  const common = commonMetadata(world, projectId);
  const own = objectOf(resource['metadata']);
  const serviceAccounts = objectsOf(resource['serviceAccounts']).map(({ email }) => String(email));
  const usesOsLogin = (): boolean => {
    const wanted = metadataValue(own, 'enable-oslogin') ?? metadataValue(common, 'enable-oslogin');
    return wanted?.toLowerCase() === 'true' || isEnforced(world, `projects/${projectId}`, 'compute.requireOsLogin');
  };
  return {
    path,
    name: lastOf(path),
    id: String(resource['id']),
    projectId,
    zone: path.split('/')[3] ?? '',
    isZonalDnsOnly: isEnforced(world, `projects/${projectId}`, 'compute.setNewProjectDefaultToZonalDNSOnly'),
    network: unlink(
      textOf(nic['network'] ?? held(world, collections.subnetworks)[subnetwork]?.resource['network']) ?? '',
    ),
    subnetwork,
    address: textOf(nic['networkIP']) ?? '',
    externalAddress: textOf(objectsOf(nic['accessConfigs'])[0]?.['natIP']),
    tags: textsOf(objectOf(resource['tags'])?.['items']),
    serviceAccounts,
    isUp: resource['status'] === 'RUNNING' && guest?.attributes['hostkeys'] !== undefined,
    boot: `${guest?.boots ?? 0}`,
    metadata(key) {
      if (key !== 'ssh-keys') return metadataValue(own, key) ?? metadataValue(common, key);
      // With OS Login, the guest agent takes no keys from metadata.
      if (usesOsLogin()) return undefined;
      const isBlocked = metadataValue(own, 'block-project-ssh-keys')?.toLowerCase() === 'true';
      const both = [metadataValue(own, key), isBlocked ? undefined : metadataValue(common, key)];
      return both.filter((text) => text !== undefined).join('\n');
    },
    osLogin: (user) => (usesOsLogin() ? osLoginUser(world, { projectId, serviceAccounts }, user) : undefined),
  };
}

/** The firewall rules of a network. */
export const rulesOf = (world: World, { projectId, network }: Pick<Vm, 'projectId' | 'network'>): JsonObject[] =>
  heldIn(world, collections.firewalls, projectId)
    .filter(([, { phase, resource }]) => phase !== 'making' && unlink(textOf(resource['network']) ?? '') === network)
    .map(([, { resource }]) => resource);
