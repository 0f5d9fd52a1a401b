/**
 * What the nodes' account may do in a world with Google's real roles: what the GCE cloud controller calls, and no more, with
 * load balancers of either kind.
 */
import { expect } from 'chai';
import { accountEmail, accountIds } from '../../functions/steps/topology.js';
import { customRoles } from '../../local/cloud/iam/custom-roles.js';
import type { JsonObject } from '../../local/cloud/kernel/api.js';
import { makeScene, type Scene, succeeded } from '../support/scene.js';
import { type ControllerCall, externalCalls, internalCalls } from './controller-calls.js';

const kinds = [
  ['external', externalCalls],
  ['internal', internalCalls],
] as const;

for (const [loadBalancers, callsOf] of kinds) {
  describe(`with Google’s real roles and ${loadBalancers} load balancers, the identity of the nodes`, function () {
    this.timeout(120_000);
    let scene: Scene;
    let projectId: string;
    let email: string;
    let calls: readonly ControllerCall[];

    before(async () => {
      scene = await makeScene({ settings: { PLINTH_LOAD_BALANCERS: loadBalancers } });
      const view = succeeded(await (await scene.caller()).bootstrap('real-roles'));
      ({ projectId } = view);
      email = accountEmail(accountIds.cloudController, projectId);
      const reserved = view.result.addresses.find(({ name }) => name === 'gateway')?.address ?? '';
      calls = callsOf({ project: projectId, region: view.region, zone: `${view.region}-a`, reserved });
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
      for (const call of calls.filter(({ isUnserved }) => isUnserved !== true)) {
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
      // Only an address that stands shows that it is internal, so that its removal needs more.
      for (const call of calls.filter(({ line }) => /^POST .*addresses$/.test(line))) await ask(call);
      try {
        for (const permission of whole) {
          role().permissions = whole.filter((each) => each !== permission);
          const without = calls.filter(({ isUnserved, needs }) => isUnserved !== true && needs.includes(permission));
          for (const call of without) {
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
}
