/**
 * Whether packets of a VM reach the internet and come back: by an address of its own, or by a NAT for its subnet. Routes and
 * Private Google Access are not simulated: each network has Google's default route.
 */
import { collections, heldIn, link, unlink } from '../../cloud/compute/resources.js';
import type { World } from '../../cloud/kernel/api.js';
import { objectsOf, textOf } from '../../cloud/kernel/json-fields.js';
import type { Vm } from '../vms.js';

export const reachesInternet = (world: World, vm: Vm): boolean => vm.externalAddress !== undefined || hasNat(world, vm);

function hasNat(world: World, vm: Vm): boolean {
  const region = link(`projects/${vm.projectId}/regions/${vm.zone.replace(/-[^-]+$/, '')}`);
  return heldIn(world, collections.routers, vm.projectId)
    .filter(([, { phase }]) => phase !== 'making')
    .map(([, { resource }]) => resource)
    .filter((router) => router['region'] === region && unlink(textOf(router['network']) ?? '') === vm.network)
    .flatMap(({ nats }) => objectsOf(nats))
    .filter(({ type }) => type === 'PUBLIC')
    .some(
      ({ sourceSubnetworkIpRangesToNat, subnetworks }) =>
        sourceSubnetworkIpRangesToNat !== 'LIST_OF_SUBNETWORKS' ||
        objectsOf(subnetworks).some(({ name }) => unlink(textOf(name) ?? '') === vm.subnetwork),
    );
}
