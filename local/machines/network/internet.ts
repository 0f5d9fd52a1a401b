/**
 * Whether packets of a VM reach the internet and come back: by an address of its own, or by a NAT for its subnet, and in both
 * cases along a route of its network. Private Google Access is not simulated.
 */
import { collections, heldIn, lastOf, link, unlink } from '../../cloud/compute/resources.js';
import type { JsonObject, World } from '../../cloud/kernel/api.js';
import { objectsOf, textOf, textsOf } from '../../cloud/kernel/json-fields.js';
import type { Vm } from '../vms.js';

export const reachesInternet = (world: World, vm: Vm): boolean =>
  hasRoute(world, vm) && (vm.externalAddress !== undefined || hasNat(world, vm));

const ofNetwork = (world: World, collection: (typeof collections)['routes' | 'routers'], vm: Vm): JsonObject[] =>
  heldIn(world, collection, vm.projectId)
    .filter(([, { phase }]) => phase !== 'making')
    .map(([, { resource }]) => resource)
    .filter(({ network }) => unlink(textOf(network) ?? '') === vm.network);

/** A route with tags counts only for VMs that have one of them. */
const hasRoute = (world: World, vm: Vm): boolean =>
  ofNetwork(world, collections.routes, vm).some(({ destRange, nextHopGateway, tags }) => {
    const only = textsOf(tags);
    return (
      destRange === '0.0.0.0/0' &&
      lastOf(textOf(nextHopGateway) ?? '') === 'default-internet-gateway' &&
      (only.length === 0 || only.some((tag) => vm.tags.includes(tag)))
    );
  });

function hasNat(world: World, vm: Vm): boolean {
  const region = link(`projects/${vm.projectId}/regions/${vm.zone.replace(/-[^-]+$/, '')}`);
  return ofNetwork(world, collections.routers, vm)
    .filter((router) => router['region'] === region)
    .flatMap(({ nats }) => objectsOf(nats))
    .filter(({ type }) => type === 'PUBLIC')
    .some(
      ({ sourceSubnetworkIpRangesToNat, subnetworks }) =>
        sourceSubnetworkIpRangesToNat !== 'LIST_OF_SUBNETWORKS' ||
        objectsOf(subnetworks).some(({ name }) => unlink(textOf(name) ?? '') === vm.subnetwork),
    );
}
