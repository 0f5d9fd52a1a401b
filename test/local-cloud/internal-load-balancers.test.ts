/** Internal load balancers as Google's cloud controller makes them: instance groups, backend service, forwarding rule. */
import { expect } from 'chai';
import type { JsonObject } from '../../local/cloud/kernel/api.js';
import { furnish, region, vmBody, zone } from './furnished.js';
import { project, type ReadyCloud, readyCloud } from './ready-cloud.js';
import { itRefuses, type Refusal } from './refusals.js';

const root = '/compute/v1/projects/P';
const regional = `${root}/regions/${region}`;
const zonal = `${root}/zones/${zone}`;
const links = `https://www.googleapis.com/compute/v1/projects/${project}`;
const jumpbox = { instance: `${links}/zones/${zone}/instances/jumpbox` };

const check = { name: 'node', type: 'HTTP', httpHealthCheck: { port: 10256, requestPath: '/healthz' } };
const service = (more: object = {}) => ({
  name: 'a1',
  protocol: 'TCP',
  loadBalancingScheme: 'INTERNAL',
  backends: [{ group: `${links}/zones/${zone}/instanceGroups/nodes` }],
  healthChecks: [`${links}/global/healthChecks/node`],
  ...more,
});
const rule = (more: object = {}) => ({
  name: 'a1',
  IPProtocol: 'TCP',
  ports: ['80', '443'],
  loadBalancingScheme: 'INTERNAL',
  backendService: `${links}/regions/${region}/backendServices/a1`,
  subnetwork: `${links}/regions/${region}/subnetworks/sub`,
  ...more,
});

async function balanced(cloud: ReadyCloud): Promise<void> {
  await furnish(cloud);
  const make = async (line: string, body: unknown) => {
    const reply = await cloud.call('compute', line, body);
    expect(reply.status, `${line}: ${reply.message}`).to.equal(200);
  };
  await make(`POST ${root}/global/healthChecks`, check);
  await make(`POST ${zonal}/instanceGroups`, { name: 'nodes' });
  await make(`POST ${zonal}/instanceGroups/nodes/addInstances`, { instances: [jumpbox] });
  await make(`POST ${regional}/backendServices`, service());
}

describe('internal load balancers of the simulated Compute', () => {
  let cloud: ReadyCloud;
  const call = (line: string, body?: unknown) => cloud.call('compute', line, body);
  const get = async (path: string): Promise<JsonObject> => (await call(`GET ${path}`)).body;
  const change = async (line: string, body?: unknown): Promise<void> => {
    const reply = await call(line, body);
    expect(reply.status, `${line}: ${reply.message}`).to.equal(200);
  };
  const refusal = async (line: string, body?: unknown) => {
    const { status, reason } = await call(line, body);
    return [status, reason];
  };
  beforeEach(async () => {
    cloud = await readyCloud();
    await balanced(cloud);
  });
  afterEach(() => cloud.close());

  it('have a group of the VMs of a zone, in the network of the first one', async () => {
    const group = await get(`${zonal}/instanceGroups/nodes`);
    expect(group).to.include({ size: 1, kind: 'compute#instanceGroup' });
    expect(group['network']).to.match(/\/global\/networks\/net$/);
    const listed = (await call(`POST ${zonal}/instanceGroups/nodes/listInstances`, { instanceState: 'ALL' })).body;
    expect(listed['items']).to.deep.equal([{ ...jumpbox, status: 'RUNNING' }]);
    await change(`POST ${zonal}/instanceGroups/nodes/removeInstances`, { instances: [jumpbox] });
    expect(await get(`${zonal}/instanceGroups/nodes`)).to.include({ size: 0 });
  });

  it('take a free address of the subnet, which no VM gets then', async () => {
    await change(`POST ${regional}/forwardingRules`, rule());
    const made = await get(`${regional}/forwardingRules/a1`);
    expect(made).to.deep.include({ loadBalancingScheme: 'INTERNAL', ports: ['80', '443'], networkTier: 'PREMIUM' });
    expect(made['IPAddress']).to.match(/^10\./);
    await change(`POST ${zonal}/instances`, vmBody('other'));
    const [nic] = (await get(`${zonal}/instances/other`))['networkInterfaces'] as JsonObject[];
    expect(nic?.['networkIP']).not.to.equal(made['IPAddress']);
  });

  it('take a reserved address, which is in use until they go', async () => {
    const body = { name: 'inside', addressType: 'INTERNAL', subnetwork: rule().subnetwork };
    await change(`POST ${regional}/addresses`, body);
    const { address } = await get(`${regional}/addresses/inside`);
    await change(`POST ${regional}/forwardingRules`, rule({ IPAddress: address }));
    expect(await get(`${regional}/addresses/inside`)).to.include({ status: 'IN_USE' });
    expect(await refusal(`POST ${regional}/forwardingRules`, rule({ name: 'a2', IPAddress: address }))).to.deep.equal([
      400,
      'resourceInUseByAnotherResource',
    ]);
    await change(`DELETE ${regional}/forwardingRules/a1`);
    expect(await get(`${regional}/addresses/inside`)).to.include({ status: 'RESERVED' });
  });

  it('say which VMs answer', async () => {
    await change(`POST ${regional}/forwardingRules`, rule());
    const group = `${links}/zones/${zone}/instanceGroups/nodes`;
    const { body } = await call(`POST ${regional}/backendServices/a1/getHealth`, { group });
    expect((body['healthStatus'] as JsonObject[])[0]).to.include({ ...jumpbox, healthState: 'HEALTHY' });
  });

  it('go from the rule to the group, and not the other way', async () => {
    await change(`POST ${regional}/forwardingRules`, rule());
    const parts = [
      `${regional}/forwardingRules/a1`,
      `${regional}/backendServices/a1`,
      `${root}/global/healthChecks/node`,
      `${zonal}/instanceGroups/nodes`,
    ];
    for (const part of parts.slice(1)) {
      expect(await refusal(`DELETE ${part}`), part).to.deep.equal([400, 'resourceInUseByAnotherResource']);
    }
    for (const part of parts) await change(`DELETE ${part}`);
  });

  it('keep the network of a rule they were given, and no other', async () => {
    await change(`POST ${root}/global/networks`, { name: 'elsewhere', autoCreateSubnetworks: false });
    const network = `${links}/global/networks/elsewhere`;
    expect(await refusal(`POST ${regional}/forwardingRules`, rule({ network }))).to.deep.equal([400, 'invalid']);
  });

  const insertRule = `POST ${regional}/forwardingRules`;
  const insertService = `POST ${regional}/backendServices`;
  const rows: readonly (readonly [name: string, line: string, body: unknown, reason: string, says: RegExp])[] = [
    ['a rule without a backend service', insertRule, rule({ backendService: undefined }), 'required', /backendService/],
    ['a rule without a subnet', insertRule, rule({ subnetwork: undefined }), 'required', /subnetwork/],
    ['a rule with a range of ports', insertRule, rule({ portRange: '80-80' }), 'invalid', /portRange/],
    ['a rule with six ports', insertRule, rule({ ports: [...'123456'] }), 'invalid', /One to five/],
    ['a rule of another protocol', insertRule, rule({ IPProtocol: 'UDP' }), 'invalid', /backend service/],
    ['a rule outside of the subnet', insertRule, rule({ IPAddress: '192.168.7.7' }), 'invalid', /subnetwork/],
    ['a service without a check', insertService, service({ name: 'a2', healthChecks: [] }), 'invalid', /health check/],
    ['a service of HTTP', insertService, service({ name: 'a2', protocol: 'HTTP' }), 'invalid', /protocol/],
  ];
  itRefuses(
    () => cloud,
    rows.map(
      ([name, line, body, reason, says]): Refusal => ({ name, api: 'compute', line, body, code: 400, reason, says }),
    ),
  );
});
