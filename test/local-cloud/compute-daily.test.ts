/** The commands of daily use on networks, addresses, disks and VMs, and the requests of Terraform's provider. */
import { expect } from 'chai';
import type { JsonObject } from '../../local/cloud/kernel/api.js';
import { furnish, region, vmBody, zone } from './furnished.js';
import { project, type ReadyCloud, readyCloud } from './ready-cloud.js';

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
    ['a disk', `${zonal}/disks/data`, `POST ${zonal}/disks/data/setLabels`],
  ] as const) {
    it(`label ${what}, with its fingerprint`, async () => {
      await change(`POST ${zonal}/disks`, { name: 'data', sizeGb: '20' });
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
    for (const path of [`${root}/global`, regional, zonal]) {
      expect((await get(`${path}/operations`))['items'], path).not.to.have.length(0);
    }
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
