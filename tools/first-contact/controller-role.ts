/** What the GCE cloud controller calls (cloud-provider-gcp, providers/gce), as permissions of a role. */
const verbs = {
  addresses: ['create', 'delete', 'get', 'list', 'use'],
  firewalls: ['create', 'delete', 'get', 'update'],
  forwardingRules: ['create', 'delete', 'get'],
  globalOperations: ['get'],
  httpHealthChecks: ['create', 'delete', 'get', 'update', 'useReadOnly'],
  instances: ['get', 'list', 'use'],
  networks: ['updatePolicy'],
  regionOperations: ['get'],
  targetPools: ['addInstance', 'create', 'delete', 'get', 'removeInstance', 'use'],
  zones: ['list'],
} as const;

export const controllerPermissions: readonly string[] = Object.entries(verbs).flatMap(([collection, each]) =>
  each.map((verb) => `compute.${collection}.${verb}`),
);
