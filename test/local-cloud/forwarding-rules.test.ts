/** Forwarding rules of the simulated Compute, external and internal: their addresses, ports and refusals. */
import { expect } from 'chai';
import type { JsonObject } from '../../local/cloud/kernel/api.js';
import { furnish, region, vmBody, zone } from './furnished.js';
import { ownersBindings, project, type ReadyCloud, readyCloud, stranger } from './ready-cloud.js';
import { itRefuses, refusalsOf } from './refusals.js';

const root = '/compute/v1/projects/P';
const regional = `${root}/regions/${region}`;
const links = `https://www.googleapis.com/compute/v1/projects/${project}`;

const external = (more: object = {}) => ({
  name: 'a1',
  IPProtocol: 'TCP',
  portRange: '80-443',
  target: `${links}/regions/${region}/targetPools/a1`,
  ...more,
});
const internal = (more: object = {}) => ({
  name: 'a1',
  IPProtocol: 'TCP',
  ports: ['80', '443'],
  loadBalancingScheme: 'INTERNAL',
  backendService: `${links}/regions/${region}/backendServices/a1`,
  subnetwork: `${links}/regions/${region}/subnetworks/sub`,
  ...more,
});

const clientOf = (cloud: () => ReadyCloud) => {
  const call = (line: string, body?: unknown) => cloud().call('compute', line, body);
  return {
    call,
    get: async (path: string): Promise<JsonObject> => (await call(`GET ${path}`)).body,
    change: async (line: string, body?: unknown): Promise<void> => {
      const reply = await call(line, body);
      expect(reply.status, `${line}: ${reply.message}`).to.equal(200);
    },
    refusal: async (line: string, body?: unknown) => {
      const { status, reason } = await call(line, body);
      return [status, reason];
    },
  };
};
const insert = `POST ${regional}/forwardingRules`;
const made = `${regional}/forwardingRules/a1`;

describe('forwarding rules of the simulated Compute', () => {
  let cloud: ReadyCloud;
  const { get, change, refusal } = clientOf(() => cloud);
  beforeEach(async () => {
    cloud = await readyCloud();
    await furnish(cloud);
  });
  afterEach(() => cloud.close());

  it('have an ephemeral address, if none is asked for', async () => {
    await change(insert, external({ portRange: '80' }));
    const rule = await get(made);
    expect(rule).to.deep.include({
      kind: 'compute#forwardingRule',
      region: `${links}/regions/${region}`,
      portRange: '80-80',
      loadBalancingScheme: 'EXTERNAL',
      networkTier: 'PREMIUM',
      target: `${links}/regions/${region}/targetPools/a1`,
    });
    expect(rule['IPAddress']).to.match(/^\d+\.\d+\.\d+\.\d+$/);
    // An address that is in use can be reserved.
    await change(`POST ${regional}/addresses`, { name: 'a1', address: rule['IPAddress'] });
    const users = [`${links}/regions/${region}/forwardingRules/a1`];
    expect(await get(`${regional}/addresses/a1`)).to.deep.include({ status: 'IN_USE', users });
  });

  it('use a reserved address, by value or by URL, until the rule goes', async () => {
    const gateway = `${regional}/addresses/gateway`;
    const { address } = await get(gateway);
    const users = [`${links}/regions/${region}/forwardingRules/a1`];
    for (const IPAddress of [address, `regions/${region}/addresses/gateway`]) {
      await change(insert, external({ IPAddress }));
      expect(await get(made)).to.include({ IPAddress: address });
      expect(await get(gateway)).to.deep.include({ status: 'IN_USE', users });
      expect(await refusal(`DELETE ${gateway}`)).to.deep.equal([400, 'resourceInUseByAnotherResource']);
      await change(`DELETE ${made}`);
      expect(await get(gateway)).to.include({ status: 'RESERVED' });
      expect(await get(gateway)).not.to.have.property('users');
    }
  });

  it('share an external address on other ports, and on the same ports do not', async () => {
    const { address: IPAddress } = await get(`${regional}/addresses/gateway`);
    await change(insert, external({ IPAddress, portRange: '80' }));
    await change(insert, external({ name: 'a2', IPAddress, portRange: '443' }));
    expect((await get(`${regional}/addresses/gateway`))['users']).to.have.length(2);
    const third = external({ name: 'a3', IPAddress, portRange: '400-500' });
    expect(await refusal(insert, third)).to.deep.equal([400, 'invalid']);
  });

  it('are listed in their region and in all', async () => {
    await change(insert, external());
    expect((await get(`${regional}/forwardingRules`))['items']).to.have.length(1);
    const { items } = await get(`${root}/aggregated/forwardingRules`);
    expect((items as JsonObject)[`regions/${region}`]).to.have.property('forwardingRules');
  });

  it('take a free address of the subnet where they are internal, which no VM gets then', async () => {
    await change(insert, internal());
    const rule = await get(made);
    expect(rule).to.deep.include({ loadBalancingScheme: 'INTERNAL', ports: ['80', '443'], networkTier: 'PREMIUM' });
    expect(rule['IPAddress']).to.match(/^10\./);
    await change(`POST ${root}/zones/${zone}/instances`, vmBody('other'));
    const [nic] = (await get(`${root}/zones/${zone}/instances/other`))['networkInterfaces'] as JsonObject[];
    expect(nic?.['networkIP']).not.to.equal(rule['IPAddress']);
  });

  it('take a reserved internal address, which is in use until they go', async () => {
    const body = { name: 'inside', addressType: 'INTERNAL', subnetwork: internal().subnetwork };
    await change(`POST ${regional}/addresses`, body);
    const { address: IPAddress } = await get(`${regional}/addresses/inside`);
    await change(insert, internal({ IPAddress }));
    expect(await get(`${regional}/addresses/inside`)).to.include({ status: 'IN_USE' });
    const second = internal({ name: 'a2', IPAddress });
    expect(await refusal(insert, second)).to.deep.equal([400, 'resourceInUseByAnotherResource']);
    await change(`DELETE ${made}`);
    expect(await get(`${regional}/addresses/inside`)).to.include({ status: 'RESERVED' });
  });

  it('need the permissions of what they use', async () => {
    await cloud.close();
    const role = `projects/${project}/roles/rules`;
    const bindings = [...ownersBindings, { resource: `projects/${project}`, role, members: [`user:${stranger}`] }];
    const customRoles = [{ name: role, title: 'Rules', permissions: ['compute.forwardingRules.create'] }];
    cloud = await readyCloud({ initial: { bindings, customRoles } });
    for (const [rule, permission] of [
      [external(), 'targetPools'],
      [internal(), 'regionBackendServices'],
    ] as const) {
      const { status, message } = await cloud.call('compute', insert, rule, { as: stranger });
      const words = `Required 'compute.${permission}.use' permission for 'projects/${project}'`;
      expect([status, message]).to.deep.equal([403, words]);
    }
  });
});

describe('forwarding rules of the simulated Compute, wrongly given', () => {
  let cloud: ReadyCloud;
  const elsewhere = `${links}/global/networks/elsewhere`;
  before(async () => {
    cloud = await readyCloud();
    await furnish(cloud);
    const { change } = clientOf(() => cloud);
    await change(`POST ${root}/global/networks`, { name: 'elsewhere', autoCreateSubnetworks: false });
  });
  after(() => cloud.close());
  const named = { IPAddress: `regions/${region}/addresses/none` };
  const refused = refusalsOf('compute');
  itRefuses(
    () => cloud,
    [
      refused('a rule without a target', insert, external({ target: undefined }), 400, 'required', /target/),
      refused('a rule of no ports', insert, external({ portRange: '0-80' }), 400, 'invalid'),
      refused('a rule of ports and no protocol of ports', insert, external({ IPProtocol: 'ESP' }), 400, 'invalid'),
      refused(
        'an address that is not reserved',
        insert,
        external({ IPAddress: '203.0.113.9' }),
        400,
        'invalid',
        /Invalid IP address/,
      ),
      refused('an address that is not there', insert, external(named), 404, 'notFound'),
      refused(
        'an internal one without a backend service',
        insert,
        internal({ backendService: undefined }),
        400,
        'required',
        /backend/,
      ),
      refused(
        'an internal one without a subnet',
        insert,
        internal({ subnetwork: undefined }),
        400,
        'required',
        /subnetwork/,
      ),
      refused(
        'an internal one with a range of ports',
        insert,
        internal({ portRange: '80-80' }),
        400,
        'invalid',
        /portRange/,
      ),
      refused(
        'an internal one with six ports',
        insert,
        internal({ ports: [...'123456'] }),
        400,
        'invalid',
        /One to five/,
      ),
      refused(
        'an internal one outside of the subnet',
        insert,
        internal({ IPAddress: '192.168.7.7' }),
        400,
        'invalid',
        /subnetwork/,
      ),
      refused(
        'an internal one in another network',
        insert,
        internal({ network: elsewhere }),
        400,
        'invalid',
        /another network/,
      ),
    ],
  );
});
