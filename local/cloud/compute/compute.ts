/** Compute as the simulated cloud serves it: one table, joined from the files of its nouns. Listed in index.ts. */
import {
  type Access,
  type ApiDefinition,
  type CloudCall,
  GoogleError,
  type Handler,
  type World,
} from '../kernel/api.js';
import { computeAccess } from './access.js';
import { addressEffects, addressHandlers } from './addresses.js';
import { catalogEffects, catalogHandlers } from './catalog.js';
import { defaultNetworkEffects, ensureDefaultNetwork } from './default-network.js';
import { diskEffects, diskHandlers } from './disks.js';
import { firewallEffects, firewallHandlers } from './firewalls.js';
import { isImageProject } from './images.js';
import { instanceEffects } from './instance-life.js';
import { instanceHandlers } from './instances.js';
import { networkEffects, networkHandlers } from './networks.js';
import { operationEffects, operationHandlers } from './operations.js';
import { computeService } from './resources.js';
import { routerEffects, routerHandlers } from './routers.js';
import { subnetworkEffects, subnetworkHandlers } from './subnetworks.js';

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

export const compute: ApiDefinition<'compute'> = {
  api: 'compute.v1',
  denied: ({ permission, resource }) =>
    new GoogleError(403, 'PERMISSION_DENIED', `Required '${permission}' permission for '${resource}'`, {
      reason: 'forbidden',
    }),
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
