/** The commands of daily use on networks, addresses, disks and VMs, and the requests of Terraform's provider. */
import { expect } from 'chai';
import type { JsonObject } from '../../local/cloud/kernel/api.js';
import { furnish, region, vmBody, zone } from './furnished.js';
import { project, type ReadyCloud, readyCloud } from './ready-cloud.js';
import { itRefuses, type Refusal } from './refusals.js';

const root = '/compute/v1/projects/P';
const regional = `${root}/regions/${region}`;
const zonal = `${root}/zones/${zone}`;
const links = `https://www.googleapis.com/compute/v1/projects/${project}`;

describe('daily commands of the simulated Compute', () => {
  let cloud: ReadyCloud;
  const call = (line: string, body?: unknown) => cloud.call('compute', line, body);
  const get = async (path: string): Promise<JsonObject> => (await call(`GET ${path}`)).body;
  /** The operation of a change that is accepted. With no delays it is over at once. */
  const change = async (line: string, body?: unknown): Promise<JsonObject> => {
    const reply = await call(line, body);
    expect(reply.status, `${line}: ${reply.message}`).to.equal(200);
    expect(reply.body['error'], line).to.equal(undefined);
    return reply.body;
  };
  beforeEach(async () => {
    cloud = await readyCloud();
    await furnish(cloud);
  });
  afterEach(() => cloud.close());

  for (const [what, path, line] of [
    ['an address', `${regional}/addresses/gateway`, `POST ${regional}/addresses/gateway/setLabels`],
    ['a global address', `${root}/global/addresses/front`, `POST ${root}/global/addresses/front/setLabels`],
    ['a disk', `${zonal}/disks/data`, `POST ${zonal}/disks/data/setLabels`],
    ['a snapshot', `${root}/global/snapshots/kept`, `POST ${root}/global/snapshots/kept/setLabels`],
  ] as const) {
    it(`label ${what}, with its fingerprint`, async () => {
      await change(`POST ${root}/global/addresses`, { name: 'front' });
      await change(`POST ${zonal}/disks`, { name: 'data', sizeGb: '20' });
      await change(`POST ${zonal}/disks/data/createSnapshot`, { name: 'kept' });
      const { labelFingerprint } = await get(path);
      const operation = await change(line, { labels: { team: 'a' }, labelFingerprint });
      expect(operation['operationType']).to.equal('setLabels');
      const labelled = await get(path);
      expect(labelled['labels']).to.deep.equal({ team: 'a' });
      expect(labelled['labelFingerprint']).not.to.equal(labelFingerprint);
      const stale = await call(line, { labels: {}, labelFingerprint });
      expect([stale.status, stale.reason]).to.deep.equal([412, 'conditionNotMet']);
    });
  }

  it('change a subnetwork: patch, expandIpCidrRange, setPrivateIpGoogleAccess', async () => {
    const path = `${regional}/subnetworks/sub`;
    const { fingerprint, state } = await get(path);
    expect(state).to.equal('READY');
    const secondaryIpRanges = [{ rangeName: 'pods', ipCidrRange: '10.64.0.0/14' }];
    const patch = await change(`PATCH ${path}`, { secondaryIpRanges, fingerprint });
    expect(patch['operationType']).to.equal('patch');
    const stale = await call(`PATCH ${path}`, { secondaryIpRanges: [], fingerprint });
    expect([stale.status, stale.reason]).to.deep.equal([412, 'conditionNotMet']);
    await change(`POST ${path}/expandIpCidrRange`, { ipCidrRange: '10.10.0.0/18' });
    await change(`POST ${path}/setPrivateIpGoogleAccess`, { privateIpGoogleAccess: true });
    expect(await get(path)).to.deep.include({
      secondaryIpRanges,
      ipCidrRange: '10.10.0.0/18',
      privateIpGoogleAccess: true,
    });
  });

  it('name the best path selection of a network, and the type of its patch', async () => {
    expect((await get(`${root}/global/networks/net`))['routingConfig']).to.deep.equal({
      routingMode: 'REGIONAL',
      bgpBestPathSelectionMode: 'LEGACY',
    });
    const patch = await change(`PATCH ${root}/global/networks/net`, { routingConfig: { routingMode: 'GLOBAL' } });
    expect(patch['operationType']).to.equal('compute.networks.patch');
  });

  it('resize a disk, also in the VM that uses it', async () => {
    await change(`POST ${zonal}/disks/jumpbox/resize`, { sizeGb: '80' });
    expect((await get(`${zonal}/disks/jumpbox`))['sizeGb']).to.equal('80');
    const [disk] = (await get(`${zonal}/instances/jumpbox`))['disks'] as JsonObject[];
    expect(disk?.['diskSizeGb']).to.equal('80');
  });

  it('attach a disk to a VM, and detach it', async () => {
    await change(`POST ${zonal}/disks`, { name: 'data', sizeGb: '20' });
    const vm = `${zonal}/instances/jumpbox`;
    const source = `projects/${project}/zones/${zone}/disks/data`;
    await change(`POST ${vm}/attachDisk`, { source, deviceName: 'data' });
    expect((await get(`${zonal}/disks/data`))['users']).to.deep.equal([`${links}/zones/${zone}/instances/jumpbox`]);
    expect((await get(vm))['disks']).to.have.length(2);
    expect(((await get(vm))['disks'] as JsonObject[])[1]).to.deep.include({
      deviceName: 'data',
      index: 1,
      boot: false,
      autoDelete: false,
      diskSizeGb: '20',
      source: `${links}/zones/${zone}/disks/data`,
    });
    await change(`POST ${vm}/setDiskAutoDelete?deviceName=data&autoDelete=true`);
    expect(((await get(vm))['disks'] as JsonObject[])[1]).to.include({ autoDelete: true });
    await change(`POST ${vm}/detachDisk?deviceName=data`);
    expect(await get(`${zonal}/disks/data`)).not.to.have.property('users');
    expect((await get(vm))['disks']).to.have.length(1);
  });

  it('protect a VM from deletion', async () => {
    const vm = `${zonal}/instances/jumpbox`;
    await change(`POST ${vm}/setDeletionProtection`);
    expect((await get(vm))['deletionProtection']).to.equal(true);
    const refused = await call(`DELETE ${vm}`);
    expect(refused.message).to.contain('protected against deletion');
    await change(`POST ${vm}/setDeletionProtection?deletionProtection=false`);
    await change(`DELETE ${vm}`);
  });

  it('list the operations of every scope', async () => {
    const items = async (path: string) => (await get(path))['items'] as JsonObject[];
    expect(await items(`${root}/global/operations`)).not.to.have.length(0);
    expect(await items(`${regional}/operations`)).not.to.have.length(0);
    expect(await items(`${zonal}/operations`)).not.to.have.length(0);
    const all = (await get(`${root}/aggregated/operations`))['items'] as unknown as Record<string, JsonObject>;
    for (const scope of ['global', `regions/${region}`, `zones/${zone}`]) {
      expect(all[scope]?.['operations'], scope).not.to.equal(undefined);
    }
    const [operation] = await items(`${root}/global/operations`);
    expect((await call(`DELETE ${root}/global/operations/${operation?.['name']}`)).status).to.equal(204);
    expect((await call(`GET ${root}/global/operations/${operation?.['name']}`)).status).to.equal(404);
  });

  it('list the types of disks in every zone', async () => {
    const { items } = await get(`${root}/aggregated/diskTypes`);
    const here = (items as JsonObject)[`zones/${zone}`] as { diskTypes: JsonObject[] };
    expect(here.diskTypes.map(({ name }) => name)).to.include('pd-ssd');
  });

  it('show the routes that a network and its subnetworks have', async () => {
    const filter = encodeURIComponent(`network="${links}/global/networks/net"`);
    const routes = (await get(`${root}/global/routes?filter=${filter}`))['items'] as JsonObject[];
    expect(routes.map(({ destRange, priority }) => [destRange, priority])).to.have.deep.members([
      ['0.0.0.0/0', 1000],
      ['10.10.0.0/20', 0],
    ]);
    const [first] = routes;
    expect(first?.['name']).to.match(/^default-route-[0-9a-f]{16}$/);
    expect(await get(`${root}/global/routes/${first?.['name']}`)).to.deep.equal(first);
  });

  it('make a route of their own, which keeps the network', async () => {
    await change(`POST ${root}/global/routes`, {
      name: 'out',
      network: 'global/networks/net',
      destRange: '192.0.2.0/24',
      priority: 900,
      nextHopGateway: 'global/gateways/default-internet-gateway',
    });
    expect(await get(`${root}/global/routes/out`)).to.include({ kind: 'compute#route', priority: 900 });
    await change(`DELETE ${root}/global/routes/out`);
    expect((await call(`GET ${root}/global/routes/out`)).status).to.equal(404);
  });

  it('name a default service account that exists', async () => {
    const { defaultServiceAccount } = await get(root);
    const account = await cloud.call('iam', `GET /v1/projects/P/serviceAccounts/${defaultServiceAccount}`);
    expect(account.status, account.message).to.equal(200);
    expect(account.body).to.include({
      email: defaultServiceAccount,
      displayName: 'Compute Engine default service account',
    });
  });

  describe("as Terraform's provider", () => {
    it('makes a NAT by a patch of the router, changes it and takes it away', async () => {
      const router = `${regional}/routers/router`;
      const address = `projects/${project}/regions/${region}/addresses/gateway`;
      const nats = (await get(router))['nats'] as JsonObject[];
      const nat = {
        name: 'second',
        natIpAllocateOption: 'MANUAL_ONLY',
        natIps: [address],
        initialNatIps: [],
        drainNatIps: [],
        sourceSubnetworkIpRangesToNat: 'LIST_OF_SUBNETWORKS',
        subnetworks: [
          {
            name: `projects/${project}/regions/${region}/subnetworks/sub`,
            sourceIpRangesToNat: ['ALL_IP_RANGES'],
          },
        ],
        enableDynamicPortAllocation: false,
        enableEndpointIndependentMapping: false,
        icmpIdleTimeoutSec: 30,
        tcpEstablishedIdleTimeoutSec: 1200,
        tcpTransitoryIdleTimeoutSec: 30,
        udpIdleTimeoutSec: 30,
        logConfig: null,
        rules: [],
      };
      await change(`PATCH ${router}`, { nats: [{ ...nats[0], natIps: [] }, nat] });
      const made = ((await get(router))['nats'] as JsonObject[])[1];
      expect(made).to.deep.include({
        name: 'second',
        natIps: [`${links}/regions/${region}/addresses/gateway`],
        subnetworks: [{ name: `${links}/regions/${region}/subnetworks/sub`, sourceIpRangesToNat: ['ALL_IP_RANGES'] }],
      });
      expect(made).not.to.have.property('initialNatIps');
      expect(await get(`${regional}/addresses/gateway`)).to.deep.include({
        status: 'IN_USE',
        users: [`${links}/regions/${region}/routers/router`],
      });
      expect((await call(`DELETE ${regional}/addresses/gateway`)).reason).to.equal('resourceInUseByAnotherResource');
      await change(`PATCH ${router}`, { nats: [nats[0]] });
      expect((await get(router))['nats']).to.have.length(1);
      expect(await get(`${regional}/addresses/gateway`)).to.include({ status: 'RESERVED' });
      await change(`PATCH ${router}`, { nats: [] });
      expect(await get(router)).not.to.have.property('nats');
    });

    it('makes an address, and labels it', async () => {
      await change(`POST ${regional}/addresses`, { name: 'ingress', addressType: 'EXTERNAL', networkTier: 'PREMIUM' });
      const path = `${regional}/addresses/ingress`;
      const { labelFingerprint } = await get(path);
      await change(`POST ${path}/setLabels`, { labelFingerprint, labels: { 'goog-terraform-provisioned': 'true' } });
      expect(await get(path)).to.deep.include({
        addressType: 'EXTERNAL',
        networkTier: 'PREMIUM',
        status: 'RESERVED',
        labels: { 'goog-terraform-provisioned': 'true' },
        region: `${links}/regions/${region}`,
      });
    });

    it('takes the default route from a network', async () => {
      const wanted = `(network="${links}/global/networks/net") AND (destRange="0.0.0.0/0")`;
      const routes = (await get(`${root}/global/routes?filter=${encodeURIComponent(wanted)}`))['items'] as JsonObject[];
      expect(routes).to.have.length(1);
      await change(`DELETE ${root}/global/routes/${routes[0]?.['name']}`);
      expect(await get(`${root}/global/routes?filter=${encodeURIComponent(wanted)}`)).not.to.have.property('items');
    });

    it('makes a spot VM', async () => {
      const body = vmBody('spot', {
        canIpForward: false,
        deletionProtection: false,
        labels: {},
        params: {},
        scheduling: {
          automaticRestart: false,
          instanceTerminationAction: 'STOP',
          nodeAffinities: [null],
          onHostMaintenance: '',
          preemptible: true,
          provisioningModel: 'SPOT',
        },
        tags: {},
      });
      await change(`POST ${zonal}/instances`, body);
      expect((await get(`${zonal}/instances/spot`))['scheduling']).to.deep.equal({
        automaticRestart: false,
        instanceTerminationAction: 'STOP',
        onHostMaintenance: 'TERMINATE',
        preemptible: true,
        provisioningModel: 'SPOT',
      });
    });
  });
});

describe('daily commands of the simulated Compute, wrongly given', () => {
  let cloud: ReadyCloud;
  before(async () => {
    cloud = await readyCloud();
    await furnish(cloud);
    const make = (line: string, body: unknown) => cloud.call('compute', line, body);
    await make(`POST ${zonal}/disks`, { name: 'data', sizeGb: '20' });
    await make(`POST ${regional}/subnetworks`, {
      name: 'near',
      network: 'global/networks/net',
      ipCidrRange: '10.10.32.0/20',
    });
  });
  after(() => cloud.close());
  const vm = `${zonal}/instances/jumpbox`;
  const expand = `POST ${regional}/subnetworks/sub/expandIpCidrRange`;
  const route = (more: object) => ({
    name: 'out',
    network: 'global/networks/net',
    destRange: '192.0.2.0/24',
    priority: 900,
    ...more,
  });
  const gateway = { nextHopGateway: 'global/gateways/default-internet-gateway' };
  const rows: readonly (readonly [string, string, unknown, number, string, RegExp?])[] = [
    [
      'a disk made smaller',
      `POST ${zonal}/disks/data/resize`,
      { sizeGb: '10' },
      400,
      'invalid',
      /must be larger than existing size '20' GiB/,
    ],
    ['a resize of no size', `POST ${zonal}/disks/data/resize`, {}, 400, 'required'],
    ['a subnetwork made narrower', expand, { ipCidrRange: '10.10.0.0/24' }, 400, 'invalid'],
    ['a subnetwork that grows over another', expand, { ipCidrRange: '10.10.0.0/16' }, 400, 'invalid'],
    ['a range moved by patch', `PATCH ${regional}/subnetworks/sub`, { ipCidrRange: '10.99.0.0/20' }, 400, 'invalid'],
    ['an attached disk without its source', `POST ${vm}/attachDisk`, {}, 400, 'required'],
    ['a disk that is not there', `POST ${vm}/attachDisk`, { source: `zones/${zone}/disks/none` }, 404, 'notFound'],
    [
      'a disk that another VM uses',
      `POST ${vm}/attachDisk`,
      { source: `zones/${zone}/disks/jumpbox` },
      400,
      'resourceInUseByAnotherResource',
    ],
    [
      'a device name twice',
      `POST ${vm}/attachDisk`,
      { source: `zones/${zone}/disks/data`, deviceName: 'persistent-disk-0' },
      400,
      'invalid',
    ],
    ['a device that is not attached', `POST ${vm}/detachDisk?deviceName=none`, undefined, 400, 'invalid'],
    ['a detached boot disk', `POST ${vm}/detachDisk?deviceName=persistent-disk-0`, undefined, 400, 'invalid'],
    ['a detach of no device', `POST ${vm}/detachDisk`, undefined, 400, 'required'],
    ['a route without a next hop', `POST ${root}/global/routes`, route({}), 400, 'invalid'],
    [
      'a route with two next hops',
      `POST ${root}/global/routes`,
      route({ ...gateway, nextHopIp: '10.10.0.9' }),
      400,
      'invalid',
    ],
    ['a route to no range', `POST ${root}/global/routes`, route({ ...gateway, destRange: 'all' }), 400, 'invalid'],
  ];
  itRefuses(
    () => cloud,
    rows.map(
      ([name, line, body, code, reason, says]): Refusal => ({
        name,
        api: 'compute',
        line,
        body,
        code,
        reason,
        ...(says === undefined ? {} : { says }),
      }),
    ),
  );
});
