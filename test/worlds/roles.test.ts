/**
 * What the nodes' account may do in a world with Google's real roles: what the GCE cloud controller calls, and no more. The
 * calls are those of cloud-provider-gcp (providers/gce, commit 4e24531 of 2026-08-19) for nodes and external load balancers.
 */
import { expect } from 'chai';
import { accountEmail, accountIds } from '../../functions/steps/topology.js';
import { customRoles } from '../../local/cloud/iam/custom-roles.js';
import type { JsonObject } from '../../local/cloud/kernel/api.js';
import { makeScene, type Scene, succeeded } from '../support/scene.js';

interface ControllerCall {
  readonly line: string;
  readonly body?: object;
  /** The controller's function that makes the call. */
  readonly by: string;
  readonly needs: readonly string[];
}

/** In the order of a load balancer's life. Each is answered with 200. */
const controllerCalls = (
  project: string,
  region: string,
  zone: string,
  reserved: string,
): readonly ControllerCall[] => {
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
  const changes = (kind: string) => [`compute.firewalls.${kind}`, 'compute.networks.updatePolicy'];
  const wait = (where: string, kind: string): ControllerCall => ({
    line: `POST ${where}/operations/LAST/wait`,
    by: 'gaOperation.isDone',
    needs: [`compute.${kind}.get`],
  });
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
    },
    {
      line: `GET global/httpHealthChecks/${check.name}`,
      by: 'ensureHTTPHealthCheck',
      needs: ['compute.httpHealthChecks.get'],
    },
    {
      line: `PUT global/httpHealthChecks/${check.name}`,
      body: check,
      by: 'ensureHTTPHealthCheck, of one that has drifted',
      needs: ['compute.httpHealthChecks.update'],
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
    },
    wait(regional, 'regionOperations'),
    { line: `GET ${regional}/targetPools/a1`, by: 'updateTargetPool', needs: ['compute.targetPools.get'] },
    {
      line: `POST ${regional}/targetPools/a1/addInstance`,
      body: { instances: [instance('k0s-2')] },
      by: 'updateTargetPool, of a new node',
      needs: ['compute.targetPools.addInstance', 'compute.instances.use'],
    },
    {
      line: `POST ${regional}/targetPools/a1/removeInstance`,
      body: { instances: [instance('k0s-2')] },
      by: 'updateTargetPool, of a node that is gone',
      needs: ['compute.targetPools.removeInstance', 'compute.instances.use'],
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
    },
    {
      line: `DELETE global/httpHealthChecks/${check.name}`,
      by: 'DeleteExternalTargetPoolAndChecks',
      needs: ['compute.httpHealthChecks.delete'],
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

describe('with Google’s real roles, the identity of the nodes', function () {
  this.timeout(120_000);
  let scene: Scene;
  let projectId: string;
  let email: string;
  let calls: readonly ControllerCall[];

  before(async () => {
    scene = await makeScene();
    const view = succeeded(await (await scene.caller()).bootstrap('real-roles'));
    ({ projectId } = view);
    email = accountEmail(accountIds.cloudController, projectId);
    const reserved = view.result.addresses.find(({ name }) => name === 'gateway')?.address ?? '';
    calls = controllerCalls(projectId, view.region, `${view.region}-a`, reserved);
  });
  after(() => scene?.close());

  const roleName = () => `projects/${projectId}/roles/plinthCloudController`;
  const role = () => {
    const found = customRoles(scene.cloud.world)[roleName()];
    expect(found, roleName()).not.to.equal(undefined);
    return found as NonNullable<typeof found>;
  };

  async function ask({ line, body }: Pick<ControllerCall, 'line' | 'body'>, operation = 'any') {
    const [method = 'GET', path = ''] = line.replace('LAST', operation).split(' ');
    const reply = await fetch(`${scene.cloud.endpoints.compute}/compute/v1/projects/${projectId}/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${scene.cloud.identity.accessToken(email)}`,
        'content-type': 'application/json',
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = (await reply.json()) as { name?: string; error?: { message: string } };
    return { status: reply.status, message: answer.error?.message ?? '', name: answer.name ?? '' };
  }

  it('has one role in the project, of the project’s own', () => {
    const bindings = scene.cloud.world.policies.get(`projects/${projectId}`, 3)['bindings'] as JsonObject[];
    const roles = bindings.filter(({ members }) => (members as string[]).includes(`serviceAccount:${email}`));
    expect(roles.map((each) => each['role'])).to.deep.equal([roleName()]);
  });

  it('may do all that the cloud controller does in the life of a load balancer', async () => {
    let operation = '';
    for (const call of calls) {
      const { status, message, name } = await ask(call, operation);
      expect(status, `${call.by}: ${call.line}: ${message}`).to.equal(200);
      operation = name;
    }
  });

  it('holds no permission that none of these calls needs', () => {
    expect(role().permissions).to.have.members([...new Set(calls.flatMap(({ needs }) => needs))]);
  });

  it('lacks none of them without a call of the controller that is refused', async () => {
    const whole = role().permissions;
    try {
      for (const permission of whole) {
        role().permissions = whole.filter((each) => each !== permission);
        for (const call of calls.filter(({ needs }) => needs.includes(permission))) {
          const { status, message } = await ask(call);
          expect(status, `${call.by} without ${permission}`).to.equal(403);
          expect(message, call.by).to.include(`'${permission}' permission`);
        }
      }
    } finally {
      role().permissions = whole;
    }
  });

  it('changes and deletes no machine, and sees no disk', async () => {
    const zone = calls.find(({ line }) => line.includes('/instances/'))?.line.split('/')[1] ?? '';
    for (const line of [
      `DELETE zones/${zone}/instances/k0s-1`,
      `POST zones/${zone}/instances/k0s-1/stop`,
      `POST zones/${zone}/instances/k0s-1/setMetadata`,
      `GET zones/${zone}/disks`,
      'DELETE global/networks/any',
    ]) {
      expect((await ask({ line, ...(line.startsWith('GET') ? {} : { body: {} }) })).status, line).to.equal(403);
    }
  });
});
