import { expect } from 'chai';
import { furnish, region, zone } from '../local-cloud/furnished.js';
import { project, type ReadyCloud, readyCloud } from '../local-cloud/ready-cloud.js';
import { type Case, itAnswers } from './cases.js';

const compute = '/compute/v1/projects/P';
const repositories = `/v1/projects/P/locations/${region}/repositories`;

describe('replies as the caller asks for them', () => {
  let cloud: ReadyCloud;
  before(async () => {
    cloud = await readyCloud();
    await furnish(cloud);
  });
  after(() => cloud.close());

  const fields: readonly Case[] = [
    {
      name: 'two fields of a list',
      api: 'compute',
      line: `GET ${compute}/zones/${zone}/instances?fields=items(name,networkInterfaces/accessConfigs/type),kind`,
      is: {
        kind: 'compute#instanceList',
        items: [{ name: 'jumpbox', networkInterfaces: [{ accessConfigs: [{ type: 'ONE_TO_ONE_NAT' }] }] }],
      },
    },
    {
      name: 'fields of every scope',
      api: 'compute',
      line: `GET ${compute}/aggregated/disks?fields=items/*/disks/name`,
      check: ({ body }) =>
        expect((body['items'] as Record<string, unknown>)[`zones/${zone}`]).to.deep.equal({
          disks: [{ name: 'jumpbox' }],
        }),
    },
    {
      name: 'one field of a zone',
      api: 'dns',
      line: 'GET /dns/v1/projects/P/managedZones/platform?fields=name',
      is: { name: 'platform' },
    },
    {
      name: 'one field of a project',
      api: 'cloudresourcemanager',
      line: `GET /v3/projects/${project}?fields=project_id`,
      is: { projectId: project },
    },
    {
      name: 'everything',
      api: 'cloudresourcemanager',
      line: `GET /v3/projects/${project}?fields=*`,
      has: { projectId: project },
    },
    {
      name: 'one field of an operation',
      api: 'compute',
      line: `POST ${compute}/global/networks?fields=operationType`,
      body: { name: 'masked', autoCreateSubnetworks: false },
      check: ({ body }) => expect(Object.keys(body)).to.deep.equal(['operationType']),
    },
    {
      name: 'a field that is not there',
      api: 'dns',
      line: 'GET /dns/v1/projects/P/managedZones?fields=nonsense',
      code: 400,
    },
    {
      name: 'a mask that does not parse',
      api: 'compute',
      line: `GET ${compute}/global/networks?fields=items(name`,
      code: 400,
    },
  ];
  describe('hold the wanted fields', () => itAnswers(() => cloud, fields));

  const enums: readonly Case[] = [
    {
      name: 'the state of a VM',
      api: 'compute',
      line: `GET ${compute}/zones/${zone}/instances/jumpbox?$alt=json;enum-encoding=int&fields=status`,
      is: { status: 121_282_975 },
    },
    {
      name: 'a project',
      api: 'cloudresourcemanager',
      line: `GET /v3/projects/${project}?alt=json;enum-encoding=int&fields=state`,
      is: { state: 1 },
    },
    {
      name: 'a repository of format 1',
      api: 'artifactregistry',
      line: `POST ${repositories}?repositoryId=five`,
      body: { format: 1, mode: 1 },
    },
    {
      name: 'a repository',
      api: 'artifactregistry',
      line: `GET ${repositories}/five?$alt=json;enum-encoding=int&fields=format`,
      is: { format: 1 },
    },
    {
      name: 'its names',
      api: 'artifactregistry',
      line: `GET ${repositories}/five?fields=format`,
      is: { format: 'DOCKER' },
    },
    { name: 'a number that is none', api: 'pubsub', line: 'GET /v1/projects/P/schemas?view=77', code: 501 },
    {
      name: 'a number that nobody published',
      api: 'dns',
      line: 'POST /dns/v1/projects/P/managedZones',
      body: { name: 'number', dnsName: 'number.example.com.', description: 'x', visibility: 0 },
      code: 501,
      reason: 'SIMULATOR_LIMIT',
    },
  ];
  describe('write and read enums as numbers of the published protos', () => itAnswers(() => cloud, enums));

  describe('have errors in the wanted form', () => {
    const missing = `${compute}/global/networks/none`;
    const errorOf = async (query: string) =>
      (await cloud.call('compute', `GET ${missing}${query}`)).body['error'] as Record<string, unknown>;

    it('with errors[], as compute writes them', async () => {
      expect(await errorOf('')).to.have.keys('code', 'message', 'errors');
    });

    it('without, in the second version', async () => {
      expect(await errorOf('?$.xgafv=2')).to.have.keys('code', 'message', 'status');
    });
  });

  describe('of operations', () => {
    it('name the whole method', async () => {
      const patched = await cloud.call('compute', `PATCH ${compute}/global/networks/net`, {
        routingConfig: { routingMode: 'GLOBAL' },
      });
      expect(patched.body['operationType'], patched.message).to.equal('compute.networks.patch');
      const made = await cloud.call('compute', `POST ${compute}/global/networks`, {
        name: 'typed',
        autoCreateSubnetworks: false,
      });
      expect(made.body['operationType']).to.equal('insert');
    });
  });
});
