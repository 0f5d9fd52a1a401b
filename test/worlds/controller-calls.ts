/**
 * What the GCE cloud controller calls for nodes and load balancers (cloud-provider-gcp, providers/gce, commit 4e24531 of
 * 2026-08-19), with the permissions that each call needs.
 */

export interface ControllerCall {
  readonly line: string;
  readonly body?: object;
  /** The controller's function that makes the call. */
  readonly by: string;
  readonly needs: readonly string[];
  /** The simulated cloud does not serve it. First contact tries those of external ones on Google. */
  readonly isUnserved?: true;
}

export interface ControllerPlace {
  readonly project: string;
  readonly region: string;
  readonly zone: string;
  /** The reserved address that a service asks for. */
  readonly reserved: string;
}

const changes = (kind: string) => [`compute.firewalls.${kind}`, 'compute.networks.updatePolicy'];
const wait = (where: string, kind: string): ControllerCall => ({
  line: `POST ${where}/operations/LAST/wait`,
  by: 'gaOperation.isDone',
  needs: [`compute.${kind}.get`],
});

/** In the order of an external load balancer's life. */
export const externalCalls = ({ project, region, zone, reserved }: ControllerPlace): readonly ControllerCall[] => {
  const regional = `regions/${region}`;
  const link = `projects/${project}`;
  const instance = (name: string) => ({ instance: `${link}/zones/${zone}/instances/${name}` });
  const rule = {
    name: 'k8s-fw-a1',
    network: `${link}/global/networks/${project}-vpc`,
    allowed: [{ IPProtocol: 'tcp', ports: ['443'] }],
    destinationRanges: [reserved],
    targetTags: ['k0s'],
  };
  const check = { name: 'k8s-1f2e-node', port: 10256, requestPath: '/healthz' };
  return [
    { line: 'GET zones', by: 'refreshManagedZones, of a cluster in several zones', needs: ['compute.zones.list'] },
    {
      line: `GET zones/${zone}/instances/k0s-1`,
      by: 'InstanceMetadata, of a node that is initialised',
      needs: ['compute.instances.get'],
    },
    {
      line: `GET zones/${zone}/instances?filter=name%20eq%20k0s.*`,
      by: 'getInstancesByNames, computeHostTags',
      needs: ['compute.instances.list'],
    },
    {
      line: `GET ${regional}/addresses?filter=address%20eq%20${reserved}`,
      by: 'verifyUserRequestedIP',
      needs: ['compute.addresses.list'],
    },
    { line: `GET ${regional}/addresses/gateway`, by: 'getNetworkTierFromAddress', needs: ['compute.addresses.get'] },
    {
      line: `POST ${regional}/addresses`,
      body: { name: 'a1' },
      by: 'ensureStaticIP, of a service without loadBalancerIP',
      needs: ['compute.addresses.create'],
    },
    wait(regional, 'regionOperations'),
    { line: 'POST global/firewalls', body: rule, by: 'createFirewall', needs: changes('create') },
    wait('global', 'globalOperations'),
    {
      line: 'GET global/firewalls/k8s-fw-a1',
      by: 'firewallNeedsUpdate, ensureHTTPHealthCheckFirewall',
      needs: ['compute.firewalls.get'],
    },
    { line: 'PATCH global/firewalls/k8s-fw-a1', body: rule, by: 'updateFirewall', needs: changes('update') },
    {
      line: 'POST global/httpHealthChecks',
      body: check,
      by: 'ensureHTTPHealthCheck',
      needs: ['compute.httpHealthChecks.create'],
      isUnserved: true,
    },
    {
      line: `GET global/httpHealthChecks/${check.name}`,
      by: 'ensureHTTPHealthCheck',
      needs: ['compute.httpHealthChecks.get'],
      isUnserved: true,
    },
    {
      line: `PUT global/httpHealthChecks/${check.name}`,
      body: check,
      by: 'ensureHTTPHealthCheck, of one that has drifted',
      needs: ['compute.httpHealthChecks.update'],
      isUnserved: true,
    },
    {
      line: `POST ${regional}/targetPools`,
      body: {
        name: 'a1',
        instances: [`/zones/${zone}/instances/k0s-1`],
        healthChecks: [`${link}/global/httpHealthChecks/${check.name}`],
      },
      by: 'createTargetPoolAndHealthCheck',
      needs: ['compute.targetPools.create', 'compute.instances.use', 'compute.httpHealthChecks.useReadOnly'],
      isUnserved: true,
    },
    {
      line: `GET ${regional}/targetPools/a1`,
      by: 'updateTargetPool',
      needs: ['compute.targetPools.get'],
      isUnserved: true,
    },
    {
      line: `POST ${regional}/targetPools/a1/addInstance`,
      body: { instances: [instance('k0s-2')] },
      by: 'updateTargetPool, of a new node',
      needs: ['compute.targetPools.addInstance', 'compute.instances.use'],
      isUnserved: true,
    },
    {
      line: `POST ${regional}/targetPools/a1/removeInstance`,
      body: { instances: [instance('k0s-2')] },
      by: 'updateTargetPool, of a node that is gone',
      needs: ['compute.targetPools.removeInstance', 'compute.instances.use'],
      isUnserved: true,
    },
    {
      line: `POST ${regional}/forwardingRules`,
      body: {
        name: 'a1',
        IPAddress: reserved,
        IPProtocol: 'TCP',
        portRange: '443-443',
        target: `${link}/${regional}/targetPools/a1`,
      },
      by: 'createForwardingRule',
      needs: ['compute.forwardingRules.create', 'compute.targetPools.use', 'compute.addresses.use'],
    },
    {
      line: `GET ${regional}/forwardingRules/a1`,
      by: 'EnsureLoadBalancer, forwardingRuleNeedsUpdate',
      needs: ['compute.forwardingRules.get'],
    },
    {
      line: `DELETE ${regional}/forwardingRules/a1`,
      by: 'ensureExternalLoadBalancerDeleted',
      needs: ['compute.forwardingRules.delete'],
    },
    {
      line: `DELETE ${regional}/targetPools/a1`,
      by: 'DeleteExternalTargetPoolAndChecks',
      needs: ['compute.targetPools.delete'],
      isUnserved: true,
    },
    {
      line: `DELETE global/httpHealthChecks/${check.name}`,
      by: 'DeleteExternalTargetPoolAndChecks',
      needs: ['compute.httpHealthChecks.delete'],
      isUnserved: true,
    },
    {
      line: 'DELETE global/firewalls/k8s-fw-a1',
      by: 'ensureExternalLoadBalancerDeleted, DeleteExternalTargetPoolAndChecks',
      needs: changes('delete'),
    },
    {
      line: `DELETE ${regional}/addresses/a1`,
      by: 'ensureExternalLoadBalancerDeleted',
      needs: ['compute.addresses.delete'],
    },
  ];
};

/** In the order of an internal load balancer's life. */
export const internalCalls = ({ project, region, zone, reserved }: ControllerPlace): readonly ControllerCall[] => {
  const regional = `regions/${region}`;
  const link = `projects/${project}`;
  const instance = (name: string) => ({ instance: `${link}/zones/${zone}/instances/${name}` });
  const subnetwork = `${link}/${regional}/subnetworks/${project}-${region}-subnet`;
  const groups = `zones/${zone}/instanceGroups`;
  const group = `${groups}/k8s-ig--1f2e`;
  const check = { name: 'k8s-1f2e-node', type: 'HTTP', httpHealthCheck: { port: 10256, requestPath: '/healthz' } };
  const service = {
    name: 'a1',
    protocol: 'TCP',
    loadBalancingScheme: 'INTERNAL',
    backends: [{ group: `${link}/${group}` }],
    healthChecks: [`${link}/global/healthChecks/${check.name}`],
  };
  const rule = {
    name: 'k8s-fw-a1',
    network: `${link}/global/networks/${project}-vpc`,
    allowed: [{ IPProtocol: 'tcp', ports: ['443'] }],
    destinationRanges: [reserved],
    targetTags: ['k0s'],
  };
  return [
    { line: 'GET zones', by: 'refreshManagedZones, of a cluster in several zones', needs: ['compute.zones.list'] },
    {
      line: `GET zones/${zone}/instances/k0s-1`,
      by: 'InstanceMetadata, of a node that is initialised',
      needs: ['compute.instances.get'],
    },
    {
      line: `GET zones/${zone}/instances?filter=name%20eq%20k0s.*`,
      by: 'getInstancesByNames, GetNodeTags',
      needs: ['compute.instances.list'],
    },
    {
      line: `POST ${groups}`,
      body: { name: 'k8s-ig--1f2e' },
      by: 'ensureInternalInstanceGroup',
      needs: ['compute.instanceGroups.create'],
      isUnserved: true,
    },
    { ...wait(`zones/${zone}`, 'zoneOperations'), isUnserved: true },
    {
      line: `GET ${group}`,
      by: 'ensureInternalInstanceGroup',
      needs: ['compute.instanceGroups.get'],
      isUnserved: true,
    },
    {
      line: `POST ${group}/listInstances`,
      body: { instanceState: 'ALL' },
      by: 'ensureInternalInstanceGroup',
      needs: ['compute.instanceGroups.list'],
      isUnserved: true,
    },
    {
      line: `POST ${group}/addInstances`,
      body: { instances: [instance('k0s-1'), instance('k0s-2')] },
      by: 'ensureInternalInstanceGroup, of new nodes',
      needs: ['compute.instanceGroups.update', 'compute.instances.use'],
      isUnserved: true,
    },
    {
      line: `POST ${group}/removeInstances`,
      body: { instances: [instance('k0s-2')] },
      by: 'ensureInternalInstanceGroup, of a node that is gone',
      needs: ['compute.instanceGroups.update'],
      isUnserved: true,
    },
    {
      line: 'POST global/healthChecks',
      body: check,
      by: 'ensureInternalHealthCheck',
      needs: ['compute.healthChecks.create'],
      isUnserved: true,
    },
    {
      line: `GET global/healthChecks/${check.name}`,
      by: 'ensureInternalHealthCheck',
      needs: ['compute.healthChecks.get'],
      isUnserved: true,
    },
    {
      line: `PUT global/healthChecks/${check.name}`,
      body: check,
      by: 'ensureInternalHealthCheck, of one that has drifted',
      needs: ['compute.healthChecks.update'],
      isUnserved: true,
    },
    {
      line: `POST ${regional}/addresses`,
      body: { name: 'a1', addressType: 'INTERNAL', subnetwork },
      by: 'HoldAddress, of a service without loadBalancerIP',
      needs: ['compute.addresses.create', 'compute.addresses.createInternal', 'compute.subnetworks.use'],
    },
    wait(regional, 'regionOperations'),
    { line: `GET ${regional}/addresses/a1`, by: 'HoldAddress', needs: ['compute.addresses.get'] },
    {
      line: `GET ${regional}/addresses?filter=address%20eq%20${reserved}`,
      by: 'GetRegionAddressByIP, of an address that somebody reserved',
      needs: ['compute.addresses.list'],
    },
    {
      line: `POST ${regional}/backendServices`,
      body: service,
      by: 'ensureInternalBackendService',
      needs: ['compute.regionBackendServices.create', 'compute.instanceGroups.use', 'compute.healthChecks.useReadOnly'],
      isUnserved: true,
    },
    {
      line: `GET ${regional}/backendServices/a1`,
      by: 'ensureInternalBackendService',
      needs: ['compute.regionBackendServices.get'],
      isUnserved: true,
    },
    {
      line: `PUT ${regional}/backendServices/a1`,
      body: service,
      by: 'ensureInternalBackendService, of one that has drifted',
      needs: ['compute.regionBackendServices.update', 'compute.instanceGroups.use', 'compute.healthChecks.useReadOnly'],
      isUnserved: true,
    },
    {
      line: `POST ${regional}/forwardingRules`,
      body: {
        name: 'a1',
        IPAddress: reserved,
        IPProtocol: 'TCP',
        ports: ['443'],
        loadBalancingScheme: 'INTERNAL',
        backendService: `${link}/${regional}/backendServices/a1`,
        subnetwork,
        network: rule.network,
      },
      by: 'ensureInternalForwardingRule',
      needs: [
        'compute.forwardingRules.create',
        'compute.regionBackendServices.use',
        'compute.subnetworks.use',
        'compute.networks.use',
        'compute.addresses.useInternal',
      ],
    },
    {
      line: `GET ${regional}/forwardingRules/a1`,
      by: 'ensureInternalLoadBalancer',
      needs: ['compute.forwardingRules.get'],
    },
    { line: 'POST global/firewalls', body: rule, by: 'ensureInternalFirewall', needs: changes('create') },
    wait('global', 'globalOperations'),
    { line: 'GET global/firewalls/k8s-fw-a1', by: 'ensureInternalFirewall', needs: ['compute.firewalls.get'] },
    { line: 'PATCH global/firewalls/k8s-fw-a1', body: rule, by: 'ensureInternalFirewall', needs: changes('update') },
    {
      line: `DELETE ${regional}/forwardingRules/a1`,
      by: 'ensureInternalLoadBalancerDeleted',
      needs: ['compute.forwardingRules.delete'],
    },
    {
      line: `DELETE ${regional}/backendServices/a1`,
      by: 'teardownInternalBackendService',
      needs: ['compute.regionBackendServices.delete'],
      isUnserved: true,
    },
    {
      line: 'DELETE global/firewalls/k8s-fw-a1',
      by: 'ensureInternalLoadBalancerDeleted',
      needs: changes('delete'),
    },
    {
      line: `DELETE global/healthChecks/${check.name}`,
      by: 'teardownInternalHealthCheckAndFirewall',
      needs: ['compute.healthChecks.delete'],
      isUnserved: true,
    },
    {
      line: `DELETE ${group}`,
      by: 'ensureInternalInstanceGroupsDeleted',
      needs: ['compute.instanceGroups.delete'],
      isUnserved: true,
    },
    {
      line: `DELETE ${regional}/addresses/a1`,
      by: 'ReleaseAddress',
      needs: ['compute.addresses.delete', 'compute.addresses.deleteInternal'],
    },
  ];
};
