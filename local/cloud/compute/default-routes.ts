/** The route to the internet that each network has from its beginning, and the names of default routes. */
import { createHash } from 'node:crypto';
import type { World } from '../kernel/api.js';
import { projectIn } from './of-project.js';
import { collections, type Held, held, heldIn, hold, lastOf, link, serverFields, unlink } from './resources.js';

const { routes } = collections;

export const hashed = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);

/** The path of the default route to `of`, a network or a subnetwork. */
export const defaultPath = (of: string, id: string): string =>
  `projects/${of.split('/')[1]}/global/routes/default-route-${hashed(`${of} ${id}`)}`;

export const isDefaultRoute = (path: string): boolean => lastOf(path).startsWith('default-route-');

/** Stores the route to the internet. A caller may delete it. */
export function makeDefaultRoute({ resource }: Held, world: World): void {
  const network = unlink(String(resource['selfLink']));
  const path = defaultPath(network, String(resource['id']));
  hold(world, routes, path, {
    phase: 'ready',
    resource: {
      ...serverFields(path, routes, world),
      name: lastOf(path),
      description: 'Default route to the Internet.',
      network: link(network),
      destRange: '0.0.0.0/0',
      priority: 1000,
      nextHopGateway: link(`projects/${network.split('/')[1]}/global/gateways/default-internet-gateway`),
    },
  });
}

export function deleteDefaultRoute(network: string, world: World): void {
  for (const [path, { resource }] of heldIn(world, routes, projectIn(network))) {
    if (isDefaultRoute(path) && unlink(String(resource['network'])) === network) delete held(world, routes)[path];
  }
}
