import { expect } from 'chai';
import { furnish, region, vmBody, zone } from '../local-cloud/furnished.js';
import { project, type ReadyCloud, readyCloud } from '../local-cloud/ready-cloud.js';
import { type Case, itAnswers } from './cases.js';

const compute = '/compute/v1/projects/P';
const jobs = `/v1/projects/P/locations/${region}/jobs`;
const job = `projects/${project}/locations/${region}/jobs/job`;

/** Clients in wide use send exactly these to Google. */
describe('requests that Google takes', () => {
  let cloud: ReadyCloud;
  before(async () => {
    cloud = await readyCloud();
    await furnish(cloud);
    await cloud.call('pubsub', 'PUT /v1/projects/P/topics/topic', {});
    await cloud.call('storage', `POST /storage/v1/b?project=${project}`, {
      name: 'bucket-of-requests',
      iamConfiguration: { uniformBucketLevelAccess: { enabled: true } },
    });
    await cloud.call('cloudscheduler', `POST ${jobs}`, {
      name: job,
      schedule: '* * * * *',
      httpTarget: { uri: 'http://127.0.0.1:9/' },
    });
  });
  after(() => cloud.close());

  const pathFields: readonly Case[] = [
    {
      name: 'the name of a service, again in the body',
      api: 'serviceusage',
      line: 'POST /v1/projects/P/services/dns.googleapis.com:enable',
      body: { name: 'projects/another/services/pubsub.googleapis.com' },
    },
    {
      name: 'the parent of a batch',
      api: 'serviceusage',
      line: 'POST /v1/projects/P/services:batchEnable',
      body: { parent: `projects/${project}`, serviceIds: ['dns.googleapis.com'] },
    },
    {
      name: 'the resource of getIamPolicy',
      api: 'cloudresourcemanager',
      line: 'POST /v3/projects/ready-project:getIamPolicy',
      body: { resource: `projects/${project}` },
    },
    {
      name: 'the resource of testIamPermissions',
      api: 'pubsub',
      line: 'POST /v1/projects/P/topics/topic:testIamPermissions',
      body: { resource: 'projects/p/topics/t', permissions: ['pubsub.topics.get'] },
    },
    {
      name: 'the topic of a message',
      api: 'pubsub',
      line: 'POST /v1/projects/P/topics/topic:publish',
      body: { topic: `projects/${project}/topics/topic`, messages: [{ data: 'YQ==' }] },
    },
    {
      name: 'the parent of a version',
      api: 'secretmanager',
      line: 'POST /v1/projects/P/secrets/age-identity:addVersion',
      body: { parent: `projects/${project}/secrets/age-identity`, payload: { data: 'YQ==' } },
    },
    {
      name: 'a field that is in no message',
      api: 'pubsub',
      line: 'POST /v1/projects/P/topics/topic:publish',
      body: { subject: 'x', messages: [{ data: 'YQ==' }] },
      code: 400,
      says: /Unknown name "subject"/,
    },
    {
      name: "a path's field of another type",
      api: 'pubsub',
      line: 'POST /v1/projects/P/topics/topic:publish',
      body: { topic: 7, messages: [{ data: 'YQ==' }] },
      code: 400,
    },
  ];
  describe("with the path's parameters in the body", () => itAnswers(() => cloud, pathFields));

  const queryFields: readonly Case[] = [
    {
      name: 'the mask of a topic',
      api: 'pubsub',
      line: 'PATCH /v1/projects/P/topics/topic?updateMask=labels',
      body: { topic: { name: `projects/${project}/topics/topic`, labels: { a: 'b' } } },
      has: { labels: { a: 'b' } },
    },
    {
      name: 'a nested option of a zone',
      api: 'dns',
      line: 'POST /dns/v1/projects/P/managedZones/platform:getIamPolicy?options.requestedPolicyVersion=3',
      body: {},
    },
    {
      name: 'a nested field that is not there',
      api: 'dns',
      line: 'POST /dns/v1/projects/P/managedZones/platform:getIamPolicy?options.nonsense=3',
      body: {},
      code: 400,
      says: /Cannot bind query parameter/,
    },
    {
      name: 'a nested field of the wrong type',
      api: 'dns',
      line: 'POST /dns/v1/projects/P/managedZones/platform:getIamPolicy?options.requestedPolicyVersion=three',
      body: {},
      code: 400,
    },
    {
      name: 'a repeated field of the message',
      api: 'pubsub',
      line: 'POST /v1/projects/P/topics/topic:testIamPermissions?permissions=pubsub.topics.get&permissions=pubsub.topics.publish',
      body: {},
      is: { permissions: ['pubsub.topics.get', 'pubsub.topics.publish'] },
    },
  ];
  describe("with the message's fields in the query", () => itAnswers(() => cloud, queryFields));

  const unpublished: readonly Case[] = [
    {
      name: 'deleteBgpAlwaysCompareMed of a network',
      api: 'compute',
      line: `POST ${compute}/global/networks`,
      body: { name: 'med', autoCreateSubnetworks: false, routingConfig: { deleteBgpAlwaysCompareMed: false } },
    },
    {
      name: 'initialNatIps of a router',
      api: 'compute',
      line: `PATCH ${compute}/regions/${region}/routers/router`,
      body: {
        nats: [
          {
            name: 'nat',
            natIpAllocateOption: 'AUTO_ONLY',
            sourceSubnetworkIpRangesToNat: 'ALL_SUBNETWORKS_ALL_IP_RANGES',
            initialNatIps: [],
          },
        ],
      },
    },
    {
      name: 'a field that no client sends',
      api: 'compute',
      line: `PATCH ${compute}/regions/${region}/routers/router`,
      body: { colour: 'red' },
      code: 400,
    },
  ];
  describe('with fields that the published documents lack', () => itAnswers(() => cloud, unpublished));

  const unset: readonly Case[] = [
    {
      name: 'an empty enum',
      api: 'compute',
      line: `POST ${compute}/zones/${zone}/instances`,
      body: vmBody('unset', { scheduling: { onHostMaintenance: '', nodeAffinities: [null] } }),
    },
    {
      name: 'the VM made of it',
      api: 'compute',
      line: `GET ${compute}/zones/${zone}/instances/unset`,
      check: ({ body }) => expect(body['scheduling']).to.include({ onHostMaintenance: 'MIGRATE' }),
    },
    {
      name: 'a schedule with null among its affinities',
      api: 'compute',
      line: `POST ${compute}/zones/${zone}/instances/unset/setScheduling`,
      body: { onHostMaintenance: '', nodeAffinities: [null] },
    },
    { name: 'its zone afterwards', api: 'compute', line: `GET ${compute}/zones/${zone}/instances` },
    {
      name: 'a policy of a bucket without bindings',
      api: 'storage',
      line: 'PUT /storage/v1/b/bucket-of-requests/iam',
      body: {},
    },
  ];
  describe('with what is not set', () => itAnswers(() => cloud, unset));

  const partial: readonly Case[] = [
    {
      name: 'a change of a firewall rule without its name',
      api: 'compute',
      line: `PATCH ${compute}/global/firewalls/allow-ssh`,
      body: { targetTags: ['other'] },
    },
    {
      name: 'a new rule without its name',
      api: 'compute',
      line: `POST ${compute}/global/firewalls`,
      body: { network: 'global/networks/net', allowed: [{ IPProtocol: 'tcp' }] },
      code: 400,
      reason: 'required',
    },
    {
      name: 'a masked change of a job',
      api: 'cloudscheduler',
      line: `PATCH /v1/${job}?updateMask=description`,
      body: { description: 'changed' },
      has: { description: 'changed', schedule: '* * * * *' },
    },
    {
      name: 'a resume of a job that runs',
      api: 'cloudscheduler',
      line: `POST /v1/${job}:resume`,
      body: {},
      has: { state: 'ENABLED' },
    },
    { name: 'a pause of it', api: 'cloudscheduler', line: `POST /v1/${job}:pause`, body: {}, has: { state: 'PAUSED' } },
  ];
  describe('with a part of the resource, or again', () => itAnswers(() => cloud, partial));

  describe('with whole numbers of 64 bits', () => {
    it('keeps the digits of an id', async () => {
      const made = await cloud.call('dns', 'GET /dns/v1/projects/P/managedZones/platform');
      const text = JSON.stringify({ ...made.body, description: 'changed "1234567890123456789" \\' }).replace(
        /"id":"(\d+)"/,
        '"id":$1',
      );
      expect(text).to.match(/"id":\d{16,}/);
      const reply = await cloud.call('dns', 'PATCH /dns/v1/projects/P/managedZones/platform', undefined, { text });
      expect(reply.status, reply.message).to.equal(200);
      const after = await cloud.call('dns', 'GET /dns/v1/projects/P/managedZones/platform');
      expect(after.body['description']).to.equal('changed "1234567890123456789" \\');
    });

    it('refuses a number that is too large', async () => {
      const text = '{"name":"big","sizeGb":99999999999999999999}';
      const reply = await cloud.call('compute', `POST ${compute}/zones/${zone}/disks`, undefined, { text });
      expect(reply.status).to.equal(400);
    });
  });
});
