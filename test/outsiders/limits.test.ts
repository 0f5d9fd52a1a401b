import { expect } from 'chai';
import type { SimulatedApi } from '../../local/cloud/kernel/api.js';
import { furnish, vmBody, zone } from '../local-cloud/furnished.js';
import { type ReadyCloud, readyCloud } from '../local-cloud/ready-cloud.js';

const limit = 'SIMULATOR_LIMIT';

/** What Google has is never refused as if it did not exist. */
describe('what Google has and the simulated cloud lacks', () => {
  let cloud: ReadyCloud;
  before(async () => {
    cloud = await readyCloud();
    await furnish(cloud);
  });
  after(() => cloud.close());

  const compute = '/compute/v1/projects/P';
  const methods: readonly (readonly [SimulatedApi, string, string])[] = [
    ['compute', `GET ${compute}/zones/${zone}/acceleratorTypes`, 'compute.acceleratorTypes.list'],
    ['compute', `GET ${compute}/zones/${zone}/acceleratorTypes/nvidia-l4`, 'compute.acceleratorTypes.get'],
    ['compute', `GET ${compute}/aggregated/acceleratorTypes`, 'compute.acceleratorTypes.aggregatedList'],
    ['compute', `POST ${compute}/global/urlMaps`, 'compute.urlMaps.insert'],
    ['compute', `PATCH ${compute}/global/urlMaps/one`, 'compute.urlMaps.patch'],
    ['compute', `PUT ${compute}/global/urlMaps/one`, 'compute.urlMaps.update'],
    ['compute', `DELETE ${compute}/regions/us-east1/sslCertificates/one`, 'compute.regionSslCertificates.delete'],
    ['compute', `POST ${compute}/zones/${zone}/instances/bulkInsert`, 'compute.instances.bulkInsert'],
    ['compute', `POST ${compute}/zones/${zone}/instances/vm/setMinCpuPlatform`, 'compute.instances.setMinCpuPlatform'],
    ['compute', `POST ${compute}/zones/${zone}/instances/vm/attachDisk`, 'compute.instances.attachDisk'],
    ['compute', `POST ${compute}/global/snapshots`, 'compute.snapshots.insert'],
    ['compute', `GET ${compute}/global/addresses`, 'compute.globalAddresses.list'],
    ['compute', `GET ${compute}/global/routes/one`, 'compute.routes.get'],
    ['compute', `DELETE ${compute}/zones/${zone}/operations/one`, 'compute.zoneOperations.delete'],
    ['compute', `GET ${compute}/aggregated/operations`, 'compute.globalOperations.aggregatedList'],
    ['compute', `POST ${compute}/enableXpnHost`, 'compute.projects.enableXpnHost'],
    ['compute', `GET ${compute}/getXpnHost`, 'compute.projects.getXpnHost'],
    ['compute', 'GET /compute/v1/locations/global/operations', 'compute.globalOrganizationOperations.list'],
    ['compute', `GET ${compute}/zones/${zone}/reservations/one/reservationBlocks/two`, 'compute.reservationBlocks.get'],
    ['storage', 'GET /storage/v1/b/bucket/anywhereCaches', 'storage.anywhereCaches.list'],
    ['cloudbilling', 'GET /v1/services', 'cloudbilling.services.list'],
    [
      'iam',
      `GET /v1/projects/P/locations/global/workloadIdentityPools`,
      'iam.projects.locations.workloadIdentityPools.list',
    ],
  ];
  for (const [api, line, id] of methods) {
    it(`answers 501 to ${id}`, async () => {
      const reply = await cloud.call(api, line, line.startsWith('GET') ? undefined : {});
      expect(reply.message).to.equal(`The simulated cloud has no method ${id}.`);
      expect(reply.status).to.equal(501);
      expect(JSON.stringify(reply.body)).to.include(`"reason":"${limit}"`);
    });
  }

  it('answers 404 where Google has no such method or collection either', async () => {
    for (const line of [
      `GET ${compute}/zones/${zone}/nonsense`,
      `PATCH ${compute}/zones/${zone}/acceleratorTypes/one`,
      `POST ${compute}/zones/${zone}/instances/vm/explode`,
      `GET ${compute}/constructor/nonsense`,
    ]) {
      expect((await cloud.call('compute', line)).status, line).to.equal(404);
    }
  });

  describe('by the front port', () => {
    const at = async (path: string) => {
      const response = await fetch(cloud.frontUrl + path);
      const text = await response.text();
      return { status: response.status, text };
    };

    it('answers 501 for a service of Google', async () => {
      for (const path of ['/container.googleapis.com/v1/projects/p/locations/-/clusters', '/run.googleapis.com']) {
        const { status, text } = await at(path);
        expect(status, text).to.equal(501);
        expect(text).to.include(limit);
      }
    });

    it('answers 501 for another version of a simulated service', async () => {
      const { status, text } = await at(`/compute.googleapis.com/compute/beta/projects/p/global/networks`);
      expect(status).to.equal(501);
      expect(text).to.include('version beta of compute');
      expect((await at('/pubsub.googleapis.com/v1beta2/projects/p/topics')).status).to.equal(501);
    });

    it('answers 404 for a service that Google lacks', async () => {
      const { status, text } = await at('/nonsense.googleapis.com/v1/things');
      expect(status).to.equal(404);
      expect(text).to.match(/^<!DOCTYPE html>/);
    });
  });

  describe('as machine types', () => {
    const get = (name: string) => cloud.call('compute', `GET ${compute}/zones/${zone}/machineTypes/${name}`);
    const insert = (name: string) =>
      cloud.call(
        'compute',
        `POST ${compute}/zones/${zone}/instances`,
        vmBody('other', { machineType: `zones/${zone}/machineTypes/${name}` }),
      );

    it('answers 501 to a type of Google', async () => {
      for (const reply of [await get('a2-highgpu-1g'), await insert('a2-highgpu-1g')]) {
        expect(`${reply.status} ${reply.reason} ${reply.message}`).to.equal(
          `501 ${limit} The simulated cloud has no machine type a2-highgpu-1g.`,
        );
      }
    });

    it("answers as Google to a type that it hasn't", async () => {
      expect((await get('z9-standard-3')).status).to.equal(404);
      expect(await insert('z9-standard-3')).to.include({ status: 400, reason: 'invalid' });
    });
  });

  describe('as services to enable', () => {
    const enable = (name: string) => cloud.call('serviceusage', `POST /v1/projects/P/services/${name}:enable`, {});

    it('is switched on like any other', async () => {
      expect(await enable('redis.googleapis.com')).to.include({ status: 200 });
      const reply = await cloud.call('serviceusage', 'GET /v1/projects/P/services/redis.googleapis.com');
      expect(reply.body['state']).to.equal('ENABLED');
    });

    it('is refused where Google has no such service', async () => {
      expect(await enable('nonsense.googleapis.com')).to.include({ status: 403, reason: 'PERMISSION_DENIED' });
    });
  });
});
