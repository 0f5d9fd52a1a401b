/** Wraps networks, subnets, firewall rules and routers. */
import type { ComputeCalls } from './calls.js';
import type { EffectiveFirewalls, FirewallRule, Network, Resource, Router, Subnetwork } from './resources.js';

export const createNetworks = ({ call, get, change }: ComputeCalls) => ({
  network: (project: string, network: string) =>
    get<Network>('networks', `read the network ${network}`, { project, network }),
  createNetwork: (project: string, resource: Resource, requestId: string) =>
    change('networks', 'insert', `create the network ${resource['name']}`, {
      project,
      requestId,
      networkResource: resource,
    }),

  subnetwork: (project: string, region: string, subnetwork: string) =>
    get<Subnetwork>('subnetworks', `read the subnet ${subnetwork}`, { project, region, subnetwork }),
  createSubnetwork: (project: string, region: string, resource: Resource, requestId: string) =>
    change('subnetworks', 'insert', `create the subnet ${resource['name']}`, {
      project,
      region,
      requestId,
      subnetworkResource: resource,
    }),

  /** The rules among these names that exist. */
  firewallRules: (project: string, names: readonly string[]) =>
    call<readonly FirewallRule[]>('firewalls', 'list', `list the firewall rules of ${project}`, {
      project,
      filter: names.map((name) => `(name = "${name}")`).join(' OR '),
    }),
  /** The rules in force for a network, with those of firewall policies above its project. */
  effectiveFirewalls: (project: string, network: string) =>
    call<EffectiveFirewalls>('networks', 'getEffectiveFirewalls', `read the effective firewall rules of ${network}`, {
      project,
      network,
    }),
  createFirewallRule: (project: string, resource: Resource, requestId: string) =>
    change('firewalls', 'insert', `create the firewall rule ${resource['name']}`, {
      project,
      requestId,
      firewallResource: resource,
    }),
  /** Replaces the whole rule. */
  updateFirewallRule: (project: string, firewall: string, resource: Resource, requestId: string) =>
    change('firewalls', 'update', `change the firewall rule ${firewall}`, {
      project,
      firewall,
      requestId,
      firewallResource: resource,
    }),

  router: (project: string, region: string, router: string) =>
    get<Router>('routers', `read the router ${router}`, { project, region, router }),
  createRouter: (project: string, region: string, resource: Resource, requestId: string) =>
    change('routers', 'insert', `create the router ${resource['name']}`, {
      project,
      region,
      requestId,
      routerResource: resource,
    }),
  patchRouter: (project: string, region: string, router: string, resource: Resource, requestId: string) =>
    change('routers', 'patch', `change the router ${router}`, {
      project,
      region,
      router,
      requestId,
      routerResource: resource,
    }),
});
