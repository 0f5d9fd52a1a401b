/** Compute as the simulated cloud serves it: one table, joined from the files of its nouns. Listed in index.ts. */
import type { Access, ApiDefinition, CloudCall, Handler, World } from './api.js';
import { computeAccess } from './compute-access.js';
import { addressEffects, addressHandlers } from './compute-addresses.js';
import { catalogEffects, catalogHandlers } from './compute-catalog.js';
import { defaultNetworkEffects, ensureDefaultNetwork } from './compute-default-network.js';
import { diskEffects, diskHandlers } from './compute-disks.js';
import { firewallEffects, firewallHandlers } from './compute-firewalls.js';
import { isImageProject } from './compute-images.js';
import { instanceEffects } from './compute-instance-life.js';
import { instanceHandlers } from './compute-instances.js';
import { networkEffects, networkHandlers } from './compute-networks.js';
import { operationEffects, operationHandlers } from './compute-operations.js';
import { computeService } from './compute-resources.js';
import { routerEffects, routerHandlers } from './compute-routers.js';
import { subnetworkEffects, subnetworkHandlers } from './compute-subnetworks.js';

const handlers: Readonly<Record<string, Handler>> = {
  ...operationHandlers,
  ...catalogHandlers,
  ...networkHandlers,
  ...subnetworkHandlers,
  ...firewallHandlers,
  ...routerHandlers,
  ...addressHandlers,
  ...diskHandlers,
  ...instanceHandlers,
};

/** Every call to a project of ours sees to its default network first. */
const withDefaultNetwork =
  (handler: Handler): Handler =>
  (call: CloudCall, world: World) => {
    const project = call.params['project'] ?? '';
    if (!isImageProject(project)) ensureDefaultNetwork(world.project(project, { service: computeService }), world);
    return handler(call, world);
  };

export const compute: ApiDefinition = {
  api: 'compute.v1',
  handlers: Object.fromEntries(
    Object.entries(handlers).map(([method, handler]) => [method, withDefaultNetwork(handler)]),
  ),
  effects: {
    ...operationEffects,
    ...catalogEffects,
    ...networkEffects,
    ...defaultNetworkEffects,
    ...subnetworkEffects,
    ...firewallEffects,
    ...routerEffects,
    ...addressEffects,
    ...diskEffects,
    ...instanceEffects,
  },
  access: Object.fromEntries(
    Object.keys(handlers).map((method) => [
      method,
      (call: CloudCall, world: World): readonly Access[] => computeAccess(call, world),
    ]),
  ),
};
