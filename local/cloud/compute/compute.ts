/** Compute in the simulated cloud: one table, joined from the files of its resources. */
import {
  type Access,
  type ApiDefinition,
  type CloudCall,
  GoogleError,
  type Handler,
  type Served,
  type World,
} from '../kernel/api.js';
import { computeAccess } from './access.js';
import { servedAddresses } from './addresses.js';
import { servedCatalog } from './catalog.js';
import { ensureDefaults, servedDefaultNetwork } from './default-network.js';
import { servedDisks } from './disks.js';
import { servedFirewalls } from './firewalls.js';
import { servedForwardingRules } from './forwarding-rules.js';
import { isImageProject } from './images.js';
import { servedInstances } from './instances.js';
import { servedNetworks } from './networks.js';
import { servedOperations } from './operations.js';
import { servedPreemption } from './preemption.js';
import { computeService } from './resources.js';
import { servedRouters } from './routers.js';
import { servedSubnetworks } from './subnetworks.js';

const served: readonly Served[] = [
  servedOperations,
  servedCatalog,
  servedNetworks,
  servedDefaultNetwork,
  servedSubnetworks,
  servedFirewalls,
  servedRouters,
  servedAddresses,
  servedDisks,
  servedInstances,
  servedForwardingRules,
  servedPreemption,
];

const handlers: Readonly<Record<string, Handler>> = Object.assign({}, ...served.map((each) => each.handlers));

/** Every call to a project of ours first makes sure of its default account and network. */
const withDefaults =
  (handler: Handler): Handler =>
  (call: CloudCall, world: World) => {
    const project = call.params['project'] ?? '';
    if (!isImageProject(project)) ensureDefaults(world.project(project, { service: computeService }), world);
    return handler(call, world);
  };

export const compute: ApiDefinition<'compute'> = {
  api: 'compute.v1',
  denied: ({ permission, resource }) =>
    new GoogleError(403, 'PERMISSION_DENIED', `Required '${permission}' permission for '${resource}'`, {
      reason: 'forbidden',
    }),
  handlers: Object.fromEntries(Object.entries(handlers).map(([method, handler]) => [method, withDefaults(handler)])),
  effects: Object.assign({}, ...served.map(({ effects }) => effects)),
  access: Object.fromEntries(
    Object.keys(handlers).map((method) => [
      method,
      (call: CloudCall, world: World): readonly Access[] => computeAccess(call, world),
    ]),
  ),
};
