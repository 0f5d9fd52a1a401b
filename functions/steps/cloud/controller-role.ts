/**
 * What the nodes' account may do: what the GCE cloud controller calls for nodes and load balancers (cloud-provider-gcp,
 * providers/gce, commit 4e24531 of 2026-08-19). A test has the call behind each permission.
 *
 * It is a role of the project's own, because no predefined one fits. `roles/compute.loadBalancerAdmin` holds no firewall
 * rules, and those that do hold far more than the controller calls.
 */
import type { LoadBalancers } from '../../../shared/bootstrap/bootstrap.js';
import type { RoleContent } from './own-role.js';

type Verbs = Readonly<Record<string, readonly string[]>>;

const forExternal: Verbs = {
  addresses: ['create', 'delete', 'get', 'list', 'use'],
  firewalls: ['create', 'delete', 'get', 'update'],
  forwardingRules: ['create', 'delete', 'get'],
  globalOperations: ['get'],
  httpHealthChecks: ['create', 'delete', 'get', 'update', 'useReadOnly'],
  instances: ['get', 'list', 'use'],
  // Each change of a firewall rule needs it, too.
  networks: ['updatePolicy'],
  regionOperations: ['get'],
  targetPools: ['addInstance', 'create', 'delete', 'get', 'removeInstance', 'use'],
  zones: ['list'],
};

const forInternal: Verbs = {
  addresses: ['create', 'createInternal', 'delete', 'deleteInternal', 'get', 'list', 'useInternal'],
  firewalls: ['create', 'delete', 'get', 'update'],
  forwardingRules: ['create', 'delete', 'get'],
  globalOperations: ['get'],
  healthChecks: ['create', 'delete', 'get', 'update', 'useReadOnly'],
  instanceGroups: ['create', 'delete', 'get', 'list', 'update', 'use'],
  instances: ['get', 'list', 'use'],
  networks: ['updatePolicy', 'use'],
  regionBackendServices: ['create', 'delete', 'get', 'update', 'use'],
  regionOperations: ['get'],
  subnetworks: ['use'],
  zoneOperations: ['get'],
  zones: ['list'],
};

const permissionsFor = (verbs: Verbs): string[] =>
  Object.entries(verbs).flatMap(([collection, each]) => each.map((verb) => `compute.${collection}.${verb}`));

export const controllerRole = (loadBalancers: LoadBalancers): RoleContent => ({
  title: 'Cloud controller of the Kubernetes nodes',
  description: `What the GCE cloud controller calls for nodes and ${loadBalancers} load balancers. plinth keeps it so.`,
  includedPermissions: permissionsFor(loadBalancers === 'internal' ? forInternal : forExternal),
});

export const controllerRoleId = 'plinthCloudController';
