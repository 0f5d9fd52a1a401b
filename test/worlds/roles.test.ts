/**
 * What plinth cannot do in a world with Google's real roles. Each test names today's refusal, so that whoever mends it turns
 * the test around.
 */
import { expect } from 'chai';
import { accountEmail, accountIds } from '../../functions/steps/topology.js';
import type { JsonObject } from '../../local/cloud/kernel/api.js';
import { makeScene, type Scene, succeeded } from '../support/scene.js';

describe('with Google’s real roles, the identity of the nodes', function () {
  this.timeout(120_000);
  let scene: Scene;
  let projectId: string;
  let email: string;

  before(async () => {
    scene = await makeScene();
    ({ projectId } = succeeded(await (await scene.caller()).bootstrap('real-roles')));
    email = accountEmail(accountIds.cloudController, projectId);
  });
  after(() => scene?.close());

  async function ask(line: string, body?: object) {
    const [method = 'GET', path = ''] = line.split(' ');
    const reply = await fetch(`${scene.cloud.endpoints.compute}/compute/v1/projects/${projectId}/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${scene.cloud.identity.accessToken(email)}`,
        'content-type': 'application/json',
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = (await reply.json()) as { error?: { message: string } };
    return { status: reply.status, message: answer.error?.message ?? '' };
  }

  it('has three roles in the project', async () => {
    const bindings = scene.cloud.world.policies.get(`projects/${projectId}`, 3)['bindings'] as JsonObject[];
    const roles = bindings.filter(({ members }) => (members as string[]).includes(`serviceAccount:${email}`));
    expect(roles.map(({ role }) => role)).to.have.members([
      'roles/compute.loadBalancerAdmin',
      'roles/compute.networkViewer',
      'roles/compute.viewer',
    ]);
  });

  it('sees firewall rules', async () => {
    expect((await ask('GET global/firewalls')).status).to.equal(200);
  });

  // For each Service of type LoadBalancer the cloud controller makes one, and another for health checks.
  it('makes no firewall rule: 403 compute.firewalls.create', async () => {
    const rule = { name: 'k8s-fw-any', allowed: [{ IPProtocol: 'tcp', ports: ['443'] }] };
    const { status, message } = await ask('POST global/firewalls', rule);
    expect(status).to.equal(403);
    expect(message).to.include("'compute.firewalls.create' permission");
  });

  for (const permission of [
    'compute.firewalls.create',
    'compute.firewalls.update',
    'compute.firewalls.delete',
    'compute.networks.updatePolicy',
  ]) {
    it(`lacks ${permission}, which the cloud controller asks for`, () => {
      const caller = { email, kind: 'serviceAccount' } as const;
      expect(scene.cloud.world.policies.allows(caller, permission, `projects/${projectId}`)).to.equal(false);
    });
  }
});
