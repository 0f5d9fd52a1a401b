import { expect } from 'chai';
import { preempt } from '../../local/cloud/compute/instance-life.js';
import type { JsonObject } from '../../local/cloud/kernel/api.js';
import { furnish, region, vmBody, zone } from './furnished.js';
import { project, type ReadyCloud, type Reply, readyCloud } from './ready-cloud.js';

const root = '/compute/v1/projects/P';
const instances = `${root}/zones/${zone}/instances`;
const vmPath = (name: string) => `projects/${project}/zones/${zone}/instances/${name}`;

interface Operation {
  name: string;
  status: string;
  error?: { errors: { code: string; message: string }[] };
  httpErrorStatusCode?: number;
}

describe('simulated Compute', () => {
  let cloud: ReadyCloud;
  const call = (line: string, body?: unknown): Promise<Reply> => cloud.call('compute', line, body);
  const operation = (reply: Reply) => reply.body as unknown as Operation;
  const get = async (name: string): Promise<JsonObject> => (await call(`GET ${instances}/${name}`)).body;
  /** Asks `wait` until it is over. */
  async function over(reply: Reply, scope = `zones/${zone}`): Promise<Operation> {
    expect(reply.status, reply.message).to.equal(200);
    for (;;) {
      const now = operation(await call(`POST ${root}/${scope}/operations/${operation(reply).name}/wait`));
      if (now.status === 'DONE') return now;
    }
  }
  afterEach(() => cloud.close());

  describe('operations', () => {
    beforeEach(async () => {
      cloud = await readyCloud({ timeFactor: 0.005 });
    });
    const insert = () => call(`POST ${root}/global/networks`, { name: 'net', autoCreateSubnetworks: false });

    it('are never DONE in the reply that begins them, however quickly they end', async () => {
      await cloud.close();
      cloud = await readyCloud({ timeFactor: 1e-9 });
      expect((await insert()).body).to.include({ status: 'PENDING', progress: 0 });
    });

    it('go from PENDING to DONE, with names, links and times', async () => {
      const begun = await insert();
      expect(begun.body).to.include({
        kind: 'compute#operation',
        status: 'PENDING',
        progress: 0,
        operationType: 'insert',
        user: 'alice@example.com',
      });
      expect(begun.body['name']).to.match(/^operation-\d{13}-/);
      expect(begun.body['targetLink']).to.equal(
        `https://www.googleapis.com/compute/v1/projects/${project}/global/networks/net`,
      );
      expect(begun.body).not.to.have.any.keys('zone', 'region');
      const done = await over(begun, 'global');
      expect(done).to.include({ status: 'DONE', progress: 100, name: begun.body['name'] });
      expect(done).to.have.keys(
        'kind',
        'id',
        'name',
        'operationType',
        'targetLink',
        'targetId',
        'status',
        'user',
        'progress',
        'insertTime',
        'startTime',
        'endTime',
        'selfLink',
      );
    });

    it('keep what is being made from being used', async () => {
      // Slower, so that the next call comes in time on a busy computer, too.
      await cloud.close();
      cloud = await readyCloud({ timeFactor: 0.03 });
      const begun = await insert();
      const body = { name: 'sub', network: 'global/networks/net', ipCidrRange: '10.10.0.0/20' };
      const early = await call(`POST ${root}/regions/${region}/subnetworks`, body);
      expect([early.status, early.reason]).to.deep.equal([400, 'resourceNotReady']);
      await over(begun, 'global');
      expect((await call(`POST ${root}/regions/${region}/subnetworks`, body)).status).to.equal(200);
    });

    it('are begun once a request id', async () => {
      const line = `POST ${root}/global/networks?requestId=6b6c4dd5-6d26-4a9a-8fd8-6d6f0a7d3c55`;
      const body = { name: 'net', autoCreateSubnetworks: false };
      const [first, second] = [await call(line, body), await call(line, body)];
      expect(second.body['name']).to.equal(first.body['name']);
      const other = await call(line.replace('3c55', '3c56'), body);
      expect([other.status, other.reason]).to.deep.equal([409, 'alreadyExists']);
    });

    it('make the network default some time after the API was enabled', async () => {
      await call(`GET ${root}/global/networks`);
      await new Promise((resolve) => setTimeout(resolve, 100));
      const { body } = await call(`GET ${root}/global/networks/default`);
      expect(body['subnetworks']).to.have.length.greaterThan(30);
      // Google's table of ranges: https://cloud.google.com/vpc/docs/subnets#ip-ranges
      for (const [region, range] of [
        ['us-central1', '10.128.0.0/20'],
        ['europe-west4', '10.164.0.0/20'],
        ['africa-south1', '10.218.0.0/20'],
      ]) {
        const subnet = await call(`GET ${root}/regions/${region}/subnetworks/default`);
        expect(subnet.body['ipCidrRange'], region).to.equal(range);
      }
      const rules = (await call(`GET ${root}/global/firewalls`)).body['items'] as { name: string }[];
      expect(rules.map(({ name }) => name)).to.include.members(['default-allow-ssh', 'default-allow-internal']);
    });
  });

  describe('networks', () => {
    beforeEach(async () => {
      cloud = await readyCloud();
      await furnish(cloud);
    });

    it('have what the server fills in', async () => {
      expect((await call(`GET ${root}/global/networks/net`)).body).to.deep.include({
        mtu: 1460,
        routingConfig: { routingMode: 'REGIONAL', bgpBestPathSelectionMode: 'LEGACY' },
      });
      const { body } = await call(`GET ${root}/regions/${region}/subnetworks/sub`);
      expect(body).to.include({ gatewayAddress: '10.10.0.1', stackType: 'IPV4_ONLY', purpose: 'PRIVATE' });
      const rule = (await call(`GET ${root}/global/firewalls/allow-ssh`)).body;
      expect(rule).to.deep.include({
        priority: 1000,
        direction: 'INGRESS',
        sourceRanges: ['0.0.0.0/0'],
        disabled: false,
      });
    });

    it('take references as full URLs of any host', async () => {
      const reply = await call(`POST ${root}/regions/${region}/subnetworks`, {
        name: 'other',
        network: `http://127.0.0.1:1/compute.googleapis.com/compute/v1/projects/${project}/global/networks/net`,
        ipCidrRange: '10.30.0.0/20',
      });
      expect(operation(reply).status).to.equal('DONE');
    });

    it('say only in the operation that they are in use', async () => {
      const done = operation(await call(`DELETE ${root}/global/networks/net`));
      expect(done.error?.errors[0]).to.deep.include({ code: 'RESOURCE_IN_USE_BY_ANOTHER_RESOURCE' });
      expect(done.httpErrorStatusCode).to.equal(400);
      expect((await call(`GET ${root}/global/networks/net`)).status).to.equal(200);
    });

    it('are listed a page at a time, and by filter', async () => {
      const first = (await call(`GET ${root}/global/firewalls?maxResults=2`)).body;
      expect(first['items']).to.have.length(2);
      const rest = (await call(`GET ${root}/global/firewalls?pageToken=${first['nextPageToken']}`)).body;
      expect(rest['items']).to.have.length(3);
      const one = (await call(`GET ${root}/global/firewalls?filter=${encodeURIComponent('name = allow-ssh')}`)).body;
      expect(one['items']).to.have.length(1);
    });

    it('are listed over all scopes, the empty ones with a warning', async () => {
      const items = (await call(`GET ${root}/aggregated/subnetworks`)).body['items'] as Record<
        string,
        { warning?: { code: string }; subnetworks?: unknown[] }
      >;
      expect(items[`regions/${region}`]?.subnetworks).to.have.length(2);
      const zones = (await call(`GET ${root}/aggregated/instances`)).body['items'] as typeof items;
      expect(zones['zones/us-central1-a']?.warning?.code).to.equal('NO_RESULTS_ON_PAGE');
    });

    it('keep other fields of a firewall rule that is patched', async () => {
      await call(`PATCH ${root}/global/firewalls/allow-ssh`, { name: 'allow-ssh', sourceRanges: ['198.51.100.0/24'] });
      const { body } = await call(`GET ${root}/global/firewalls/allow-ssh`);
      expect(body).to.deep.include({
        sourceRanges: ['198.51.100.0/24'],
        targetTags: ['ssh'],
        allowed: [{ IPProtocol: 'tcp', ports: ['22'] }],
      });
    });
  });

  describe('VMs', () => {
    const begin = async (timeFactor = 0) => {
      cloud = await readyCloud();
      await furnish(cloud);
      if (timeFactor > 0) {
        // Furnished at once, then in time.
        cloud.world.scaled = (seconds) => seconds * 1000 * timeFactor;
      }
    };

    it('live through PROVISIONING and STAGING to RUNNING, then publish host keys', async () => {
      cloud = await readyCloud({ timeFactor: 0.01 });
      const made = await call(`POST ${root}/global/networks`, { name: 'net', autoCreateSubnetworks: false });
      await over(made, 'global');
      const sub = await call(`POST ${root}/regions/${region}/subnetworks`, {
        name: 'sub',
        network: 'global/networks/net',
        ipCidrRange: '10.10.0.0/20',
      });
      await over(sub, `regions/${region}`);
      // So slow that no state passes between two looks of a busy computer.
      cloud.world.scaled = (seconds) => seconds * 50;
      const begun = await call(`POST ${instances}`, vmBody('vm'));
      const seen = new Set<unknown>();
      let early = 0;
      for (let now = await get('vm'); now['status'] !== 'RUNNING'; now = await get('vm')) {
        seen.add(now['status']);
        early = (await call(`GET ${instances}/vm/getGuestAttributes?queryPath=hostkeys/`)).status;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      expect([...seen]).to.deep.equal(['PROVISIONING', 'STAGING']);
      expect(early).to.equal(404);
      expect((await over(begun)).error).to.equal(undefined);
      for (;;) {
        const keys = await call(`GET ${instances}/vm/getGuestAttributes?queryPath=hostkeys/`);
        if (keys.status === 404) continue;
        const value = keys.body['queryValue'] as { items: { key: string; value: string }[] };
        expect(value.items[0]?.key).to.equal('ssh-ed25519');
        expect(value.items[0]?.value).to.match(/^AAAAC3NzaC1lZDI1NTE5/);
        break;
      }
    });

    it('are not there after a late stockout, with either code', async () => {
      await begin();
      cloud.faults.stockout({ name: '*', provisioning: 'SPOT' });
      const codes = new Set<string>();
      for (let n = 0; n < 12; n++) {
        const scheduling = { provisioningModel: 'SPOT', automaticRestart: false, onHostMaintenance: 'TERMINATE' };
        const done = operation(await call(`POST ${instances}`, vmBody(`vm-${n}`, { scheduling })));
        codes.add(done.error?.errors[0]?.code ?? '');
        expect(done.httpErrorStatusCode).to.equal(503);
        expect(done.error?.errors[0]?.message).to.match(/does not have enough resources available/);
        expect((await call(`GET ${instances}/vm-${n}`)).status).to.equal(404);
        expect((await call(`GET ${root}/zones/${zone}/disks/vm-${n}`)).status).to.equal(404);
      }
      expect([...codes].sort()).to.deep.equal([
        'ZONE_RESOURCE_POOL_EXHAUSTED',
        'ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS',
      ]);
      expect(operation(await call(`POST ${instances}`, vmBody('vm-0'))).error).to.equal(undefined);
    });

    it('are preempted: a system operation, STOPPING, then TERMINATED', async () => {
      await begin();
      await call(`POST ${instances}`, vmBody('spot', { scheduling: { provisioningModel: 'SPOT' } }));
      preempt(cloud.world, vmPath('spot'));
      expect(
        cloud.world.table<{ resource: JsonObject }>('compute.instances')[vmPath('spot')]?.resource['status'],
      ).to.equal('STOPPING');
      expect((await get('spot'))['status']).to.equal('TERMINATED');
      const found = (
        await call(
          `GET ${root}/zones/${zone}/operations?filter=${encodeURIComponent('operationType = compute.instances.preempted')}`,
        )
      ).body;
      expect(found['items']).to.have.length(1);
      expect((found['items'] as JsonObject[])[0]).to.include({ status: 'DONE', user: 'system' });
    });

    it('fail their insert when preempted while they start', async () => {
      cloud = await readyCloud({ timeFactor: 0.05 });
      await call(`GET ${root}/global/networks`);
      await new Promise((resolve) => setTimeout(resolve, 750));
      const begun = await call(
        `POST ${instances}`,
        vmBody('spot', { networkInterfaces: [{}], scheduling: { provisioningModel: 'SPOT' } }),
      );
      preempt(cloud.world, vmPath('spot'));
      const done = await over(begun);
      expect(done.error?.errors[0]?.code).to.equal('PREEMPTED');
    });

    it('are refused at the request when what runs fills the quota, and late when what starts does', async () => {
      await begin();
      cloud.faults.quota({ metric: 'CPUS', limit: 3, region });
      const now = await call(`POST ${instances}`, vmBody('vm'));
      expect([now.status, now.reason]).to.deep.equal([403, 'quotaExceeded']);
      expect(now.message).to.equal("Quota 'CPUS' exceeded.  Limit: 3.0 in region europe-west4.");
      cloud.faults.clear();
      cloud.faults.quota({ metric: 'CPUS', limit: 5, region });
      const table = cloud.world.table<{ phase: string }>('compute.instances');
      await call(`POST ${instances}`, vmBody('first'));
      const first = table[vmPath('first')];
      if (first !== undefined) first.phase = 'making';
      const late = operation(await call(`POST ${instances}`, vmBody('second')));
      expect(late.error?.errors[0]).to.deep.include({
        code: 'QUOTA_EXCEEDED',
        message: "Quota 'CPUS' exceeded.  Limit: 5.0 in region europe-west4.",
      });
      expect((await call(`GET ${instances}/second`)).status).to.equal(404);
    });

    it('count in the quotas that a region shows', async () => {
      await begin();
      const { quotas } = (await call(`GET ${root}/regions/${region}`)).body as unknown as {
        quotas: { metric: string; usage: number; limit: number }[];
      };
      const used = Object.fromEntries(quotas.map(({ metric, usage }) => [metric, usage]));
      expect(used).to.include({ CPUS: 2, SSD_TOTAL_GB: 50, STATIC_ADDRESSES: 1, IN_USE_ADDRESSES: 1 });
    });

    it('stop and start again, losing an ephemeral address and keeping a reserved one', async () => {
      await begin();
      const { address } = (await call(`GET ${root}/regions/${region}/addresses/gateway`)).body;
      const nic = { subnetwork: `regions/${region}/subnetworks/sub`, accessConfigs: [{ natIP: address }] };
      await call(`POST ${instances}`, vmBody('fixed', { networkInterfaces: [nic] }));
      expect((await call(`GET ${root}/regions/${region}/addresses/gateway`)).body).to.deep.include({
        status: 'IN_USE',
      });
      const inUse = await call(`DELETE ${root}/regions/${region}/addresses/gateway`);
      expect(inUse.reason).to.equal('resourceInUseByAnotherResource');
      for (const name of ['fixed', 'jumpbox']) await call(`POST ${instances}/${name}/stop`);
      expect((await get('jumpbox'))['status']).to.equal('TERMINATED');
      expect(JSON.stringify((await get('jumpbox'))['networkInterfaces'])).not.to.include('natIP');
      expect(JSON.stringify((await get('fixed'))['networkInterfaces'])).to.include(address);
      await call(`POST ${instances}/jumpbox/start`);
      expect((await get('jumpbox'))['status']).to.equal('RUNNING');
      await call(`DELETE ${instances}/fixed`);
      expect((await call(`GET ${root}/regions/${region}/addresses/gateway`)).body).to.include({ status: 'RESERVED' });
    });

    it('suspend, and are told apart from stopped ones', async () => {
      await begin();
      await call(`POST ${instances}/jumpbox/suspend`);
      expect((await get('jumpbox'))['status']).to.equal('SUSPENDED');
      const refused = await call(`POST ${instances}/jumpbox/start`);
      expect([refused.status, refused.reason]).to.deep.equal([400, 'invalid']);
      await call(`POST ${instances}/jumpbox/resume`);
      expect((await get('jumpbox'))['status']).to.equal('RUNNING');
    });

    it('change metadata, labels and tags with the fingerprint that stands', async () => {
      await begin();
      const { metadata, tags, labelFingerprint } = (await get('jumpbox')) as unknown as {
        metadata: JsonObject;
        tags: JsonObject;
        labelFingerprint: string;
      };
      const changed = await call(`POST ${instances}/jumpbox/setMetadata`, {
        fingerprint: metadata['fingerprint'],
        items: [{ key: 'a', value: 'b' }],
      });
      expect(changed.status).to.equal(200);
      const again = await call(`POST ${instances}/jumpbox/setMetadata`, {
        fingerprint: metadata['fingerprint'],
        items: [],
      });
      expect([again.status, again.reason]).to.deep.equal([412, 'conditionNotMet']);
      expect(
        (await call(`POST ${instances}/jumpbox/setTags`, { fingerprint: tags['fingerprint'], items: ['x'] })).status,
      ).to.equal(200);
      expect(
        (await call(`POST ${instances}/jumpbox/setLabels`, { labelFingerprint, labels: { a: 'b' } })).status,
      ).to.equal(200);
      expect(await get('jumpbox')).to.deep.include({ labels: { a: 'b' } });
    });

    it('take their disks with them where these are auto-delete, and leave the others', async () => {
      await begin();
      const extra = (diskName: string, autoDelete: boolean) => ({
        autoDelete,
        initializeParams: { diskName, diskSizeGb: '10', diskType: `zones/${zone}/diskTypes/pd-ssd` },
      });
      const body = vmBody('ceph');
      await call(`POST ${instances}`, {
        ...body,
        disks: [...body.disks, extra('ceph-gone', true), extra('ceph-kept', false)],
      });
      await call(`DELETE ${instances}/ceph`);
      expect((await call(`GET ${root}/zones/${zone}/disks/ceph-gone`)).status).to.equal(404);
      const kept = (await call(`GET ${root}/zones/${zone}/disks/ceph-kept`)).body;
      expect(kept).to.include({ status: 'READY' });
      expect(kept).not.to.have.property('users');
    });
  });

  describe('a project', () => {
    it('has common metadata that is guarded by its fingerprint', async () => {
      cloud = await readyCloud();
      const line = `POST ${root}/setCommonInstanceMetadata`;
      const before = (await call(`GET ${root}`)).body['commonInstanceMetadata'] as JsonObject;
      expect(
        (await call(line, { fingerprint: before['fingerprint'], items: [{ key: 'a', value: 'b' }] })).status,
      ).to.equal(200);
      const stale = await call(line, { fingerprint: before['fingerprint'], items: [] });
      expect([stale.status, stale.reason]).to.deep.equal([412, 'conditionNotMet']);
    });

    it('is refused further addresses at the request when its quota is used up', async () => {
      cloud = await readyCloud();
      cloud.faults.quota({ metric: 'STATIC_ADDRESSES', limit: 1 });
      await call(`POST ${root}/regions/${region}/addresses`, { name: 'one' });
      const two = await call(`POST ${root}/regions/${region}/addresses`, { name: 'two' });
      expect([two.status, two.reason]).to.deep.equal([403, 'quotaExceeded']);
    });

    it('is told to slow down with 403, not 429', async () => {
      cloud = await readyCloud();
      cloud.faults.add({ method: 'compute.networks.list', kind: 'rate' });
      const reply = await call(`GET ${root}/global/networks`);
      expect([reply.status, reply.reason]).to.deep.equal([403, 'rateLimitExceeded']);
    });
  });
});
