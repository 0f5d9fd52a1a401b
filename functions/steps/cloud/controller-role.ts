/**
 * What the nodes' account may do: what the GCE cloud controller calls for nodes and external load balancers
 * (cloud-provider-gcp, providers/gce, commit 4e24531 of 2026-08-19). A test has the call behind each permission.
 *
 * It is a role of the project's own, because no predefined one fits. `roles/compute.loadBalancerAdmin` holds no firewall
 * rules, and those that do hold far more than the controller calls.
 */
const verbs = {
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
} as const;

export const controllerRole = {
  title: 'Cloud controller of the Kubernetes nodes',
  description: 'What the GCE cloud controller calls for nodes and external load balancers. plinth keeps it so.',
  stage: 'GA',
  includedPermissions: Object.entries(verbs).flatMap(([collection, each]) =>
    each.map((verb) => `compute.${collection}.${verb}`),
  ),
} as const;

export const controllerRoleName = (projectId: string): string => `projects/${projectId}/roles/plinthCloudController`;
