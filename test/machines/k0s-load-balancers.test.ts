/**
 * The cloud controller of the stand-in for k0s against the simulated cloud, over HTTP and without machines: what the role of the
 * nodes and the organization's policies allow it, and what it makes of a refusal.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { controllerRole, controllerRoleId } from '../../functions/steps/cloud/controller-role.js';
import { customRoles } from '../../local/cloud/iam/custom-roles.js';
import type { JsonObject } from '../../local/cloud/kernel/api.js';
import { createGuestMetadata, type GuestMetadata } from '../../local/machines/guest-metadata.js';
import { runCloudController } from '../../local/machines/k0s/cloud-controller.js';
import { kindOf, type Thing } from '../../local/machines/k0s/kinds.js';
import { createObjects, type Objects } from '../../local/machines/k0s/objects.js';
import { vmAt } from '../../local/machines/vms.js';
import { furnish, region, vmBody, zone } from '../local-cloud/furnished.js';
import { ownersBindings, project, type ReadyCloud, readyCloud } from '../local-cloud/ready-cloud.js';

const email = `nodes@${project}.iam.gserviceaccount.com`;
const role = `projects/${project}/roles/${controllerRoleId}`;
const rules = `/compute/v1/projects/P/regions/${region}/forwardingRules`;
const services = kindOf('services');

interface Wanted {
  readonly ip?: string | undefined;
  readonly isInternal?: boolean;
}

for (const kind of ['external', 'internal'] as const) {
  describe(`services of type LoadBalancer on the stand-in for k0s, ${kind}`, function () {
    this.timeout(60_000);
    let cloud: ReadyCloud;
    let metadata: GuestMetadata;
    let server: Server;
    let folder: string;
    let objects: Objects;
    let running: Promise<void>;
    const end = new AbortController();
    const isInternal = kind === 'internal';

    before(async () => {
      cloud = await readyCloud({
        initial: {
          serviceAccounts: [email],
          customRoles: [{ name: role, title: 'Nodes', permissions: [...controllerRole(kind).includedPermissions] }],
          bindings: [
            ...ownersBindings,
            { resource: `projects/${project}`, role, members: [`serviceAccount:${email}`] },
          ],
        },
      });
      await furnish(cloud);
      const scopes = ['https://www.googleapis.com/auth/cloud-platform'];
      const body = vmBody('k0s-1', { serviceAccounts: [{ email, scopes }] });
      const made = await cloud.call('compute', `POST /compute/v1/projects/P/zones/${zone}/instances`, body);
      expect(made.status, made.message).to.equal(200);
      const subnetwork = `regions/${region}/subnetworks/sub`;
      const address = { name: 'inside', addressType: 'INTERNAL', subnetwork };
      await cloud.call('compute', `POST /compute/v1/projects/P/regions/${region}/addresses`, address);

      metadata = createGuestMetadata(cloud);
      server = createServer((socket) => {
        const vm = vmAt(cloud.world, `projects/${project}/zones/${zone}/instances/k0s-1`);
        if (vm !== undefined) metadata.take(vm, socket);
      });
      await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
      folder = mkdtempSync(join(tmpdir(), 'plinth-k0s-'));
      objects = createObjects(join(folder, 'objects.json'));
      const urls = {
        compute: `${cloud.endpoints.compute}/compute/v1/`,
        metadata: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      };
      running = runCloudController(objects, urls, end.signal);
    });
    after(async () => {
      end.abort();
      await running;
      metadata?.close();
      await new Promise((resolve) => server?.close(resolve));
      await cloud?.close();
      rmSync(folder, { recursive: true, force: true });
    });

    const create = (name: string, { ip }: Wanted = {}): Thing =>
      objects.create(services, 'default', {
        metadata: {
          name,
          ...(isInternal ? { annotations: { 'networking.gke.io/load-balancer-type': 'Internal' } } : {}),
        },
        spec: { type: 'LoadBalancer', ports: [{ port: 80 }, { port: 443 }], ...(ip && { loadBalancerIP: ip }) },
      });
    const find = (name: string): Thing | undefined => objects.find(services, 'default', name);
    const addressOf = (name: string): unknown =>
      (find(name)?.['status'] as { loadBalancer?: { ingress?: { ip: string }[] } } | undefined)?.loadBalancer
        ?.ingress?.[0]?.ip;
    const eventsOf = (name: string): string[] =>
      objects
        .list(kindOf('events'))
        .filter((event) => (event['involvedObject'] as { name: string }).name === name)
        .map(({ reason, message }) => `${reason}: ${message}`);
    async function until<T>(what: string, look: () => T | undefined | false): Promise<T> {
      for (let turn = 0; turn < 400; turn += 1) {
        const found = look();
        if (found !== undefined && found !== false) return found;
        await sleep(50);
      }
      throw new Error(`not within 20 s: ${what}`);
    }
    const refusal = (name: string): Promise<string> =>
      until(`${name} is refused`, () => eventsOf(name).find((each) => each.startsWith('SyncLoadBalancerFailed')));
    const listed = async (): Promise<JsonObject[]> =>
      ((await cloud.call('compute', `GET ${rules}`)).body['items'] ?? []) as JsonObject[];
    const remove = async (name: string): Promise<void> => {
      objects.remove(services, 'default', name);
      await until(`${name} is gone`, () => find(name) === undefined);
    };
    const reserved = async (): Promise<string> => {
      const path = `/compute/v1/projects/P/regions/${region}/addresses/${isInternal ? 'inside' : 'gateway'}`;
      return String((await cloud.call('compute', `GET ${path}`)).body['address']);
    };

    it('have one forwarding rule each, at the address that they ask for, until they are deleted', async () => {
      const ip = await reserved();
      const { uid } = create('web', { ip }).metadata;
      expect(await until('it has an address', () => addressOf('web') as string | undefined)).to.equal(ip);
      const [rule, ...others] = await listed();
      expect(others).to.deep.equal([]);
      expect(rule).to.deep.include({
        name: `a${uid.replaceAll('-', '')}`.slice(0, 32),
        IPAddress: ip,
        loadBalancingScheme: kind.toUpperCase(),
        ...(isInternal ? { ports: ['80', '443'] } : { portRange: '80-443' }),
      });
      const inserted = cloud.calls.list({ method: 'compute.forwardingRules.insert' });
      expect(inserted.map(({ caller, status }) => [caller, status])).to.deep.equal([[email, 200]]);
      await remove('web');
      expect(await listed()).to.deep.equal([]);
    });

    it('have a rule at another address when they ask for another one', async () => {
      create('moved');
      const first = await until('it has an address', () => addressOf('moved') as string | undefined);
      const ip = await reserved();
      const thing = find('moved') as Thing;
      const spec = { ...(thing['spec'] as object), loadBalancerIP: ip };
      objects.replace(services, 'default', 'moved', { ...thing, spec });
      await until('it has the other address', () => addressOf('moved') === ip);
      expect(ip).not.to.equal(first);
      expect(await listed()).to.have.length(1);
      await remove('moved');
    });

    it('say what a policy of the organization refuses, and are served once it does not', async () => {
      const constraint = 'compute.restrictLoadBalancerCreationForTypes';
      const type = isInternal ? 'INTERNAL_TCP_UDP' : 'EXTERNAL_NETWORK_TCP_UDP';
      const put = (value: string) =>
        fetch(`${cloud.frontUrl}/_local/world`, {
          method: 'PUT',
          body: JSON.stringify({ settings: { [`policy.${constraint}`]: value } }),
        });
      await put(`allow:in:${isInternal ? 'EXTERNAL' : 'INTERNAL'}`);
      const { uid } = create('policy').metadata;
      const name = `projects/${project}/regions/${region}/forwardingRules/${`a${uid.replaceAll('-', '')}`.slice(0, 32)}`;
      expect(await refusal('policy')).to.equal(
        `SyncLoadBalancerFailed: Error syncing load balancer: failed to ensure load balancer: googleapi: Error 412: Constraint constraints/${constraint} violated for projects/${project}. Forwarding Rule ${name} of type ${type} is not allowed., conditionNotMet`,
      );
      expect(await listed()).to.deep.equal([]);
      await put('allow-all');
      await until('it has an address', () => addressOf('policy'));
      await remove('policy');
    });

    const needed = isInternal
      ? ['forwardingRules.create', 'regionBackendServices.use', 'subnetworks.use', 'networks.use']
      : ['forwardingRules.create', 'targetPools.use'];
    it('say what the role of the nodes lacks', async () => {
      const held = customRoles(cloud.world)[role];
      if (held === undefined) throw new Error('the nodes have no role');
      const whole = held.permissions;
      for (const permission of needed.map((each) => `compute.${each}`)) {
        const name = permission.toLowerCase().replaceAll('.', '-');
        held.permissions = whole.filter((each) => each !== permission);
        create(name);
        const why = `googleapi: Error 403: Required '${permission}' permission for 'projects/${project}', forbidden`;
        expect(await refusal(name)).to.include(why);
        await remove(name);
      }
      held.permissions = whole;
      expect(await listed()).to.deep.equal([]);
    });

    it('keep their finalizer until the rule is gone', async () => {
      create('kept');
      await until('it has an address', () => addressOf('kept'));
      const held = customRoles(cloud.world)[role];
      if (held === undefined) throw new Error('the nodes have no role');
      const whole = held.permissions;
      held.permissions = whole.filter((each) => each !== 'compute.forwardingRules.delete');
      objects.remove(services, 'default', 'kept');
      expect(await refusal('kept')).to.include(
        "failed to delete load balancer: googleapi: Error 403: Required 'compute.",
      );
      expect(find('kept')?.metadata['finalizers']).to.deep.equal(['service.kubernetes.io/load-balancer-cleanup']);
      held.permissions = whole;
      await until('it is gone', () => find('kept') === undefined);
      expect(await listed()).to.deep.equal([]);
    });
  });
}
