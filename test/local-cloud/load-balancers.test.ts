/** Load balancers as Google's cloud controller makes them for a Service: health check, target pool, forwarding rule. */
import { expect } from 'chai';
import type { JsonObject } from '../../local/cloud/kernel/api.js';
import { furnish, region, vmBody, zone } from './furnished.js';
import { owner, project, type ReadyCloud, readyCloud, stranger } from './ready-cloud.js';
import { itRefuses, type Refusal } from './refusals.js';

const root = '/compute/v1/projects/P';
const regional = `${root}/regions/${region}`;
const links = `https://www.googleapis.com/compute/v1/projects/${project}`;

const check = { name: 'k8s-node', port: 10256, requestPath: '/healthz', checkIntervalSec: 8, timeoutSec: 1 };
const pool = {
  name: 'a1',
  description: '{"kubernetes.io/service-name":"default/web"}',
  // The cloud controller writes VMs so.
  instances: [`/zones/${zone}/instances/jumpbox`],
  healthChecks: [`${links}/global/httpHealthChecks/k8s-node`],
  sessionAffinity: 'NONE',
};
const rule = (more: object = {}) => ({
  name: 'a1',
  IPProtocol: 'TCP',
  portRange: '80-443',
  target: `${links}/regions/${region}/targetPools/a1`,
  ...more,
});

async function balanced(cloud: ReadyCloud): Promise<void> {
  await furnish(cloud);
  const make = async (line: string, body: unknown) => {
    const reply = await cloud.call('compute', line, body);
    expect(reply.status, `${line}: ${reply.message}`).to.equal(200);
  };
  await make(`POST ${root}/global/httpHealthChecks`, check);
  await make(`POST ${regional}/targetPools`, pool);
}

describe('load balancers of the simulated Compute', () => {
  let cloud: ReadyCloud;
  const call = (line: string, body?: unknown) => cloud.call('compute', line, body);
  const get = async (path: string): Promise<JsonObject> => (await call(`GET ${path}`)).body;
  const change = async (line: string, body?: unknown): Promise<JsonObject> => {
    const reply = await call(line, body);
    expect(reply.status, `${line}: ${reply.message}`).to.equal(200);
    return reply.body;
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

  it('have a legacy health check, with defaults', async () => {
    expect(await get(`${root}/global/httpHealthChecks/k8s-node`)).to.deep.include({
      kind: 'compute#httpHealthCheck',
      host: '',
      port: 10256,
      requestPath: '/healthz',
      timeoutSec: 1,
      healthyThreshold: 2,
      unhealthyThreshold: 2,
      selfLink: `${links}/global/httpHealthChecks/k8s-node`,
    });
    await change(`PUT ${root}/global/httpHealthChecks/k8s-node`, { name: 'k8s-node', port: 81 });
    expect(await get(`${root}/global/httpHealthChecks/k8s-node`)).to.include({ port: 81, requestPath: '/' });
  });

  it('have a target pool, whose members and health checks change', async () => {
    const path = `${regional}/targetPools/a1`;
    expect(await get(path)).to.deep.include({
      kind: 'compute#targetPool',
      region: `${links}/regions/${region}`,
      instances: [`${links}/zones/${zone}/instances/jumpbox`],
      healthChecks: [`${links}/global/httpHealthChecks/k8s-node`],
    });
    const other = { instances: [{ instance: `/zones/${zone}/instances/worker` }] };
    await change(`POST ${path}/addInstance`, other);
    expect((await get(path))['instances']).to.have.length(2);
    await change(`POST ${path}/removeInstance`, other);
    expect((await get(path))['instances']).to.have.length(1);
    const checks = { healthChecks: [{ healthCheck: `global/httpHealthChecks/k8s-node` }] };
    await change(`POST ${path}/removeHealthCheck`, checks);
    expect(await get(path)).not.to.have.property('healthChecks');
    await change(`POST ${path}/addHealthCheck`, checks);
    expect(await refusal(`DELETE ${root}/global/httpHealthChecks/k8s-node`)).to.deep.equal([
      400,
      'resourceInUseByAnotherResource',
    ]);
  });

  it('have an ephemeral address, if none is asked for', async () => {
    await change(`POST ${regional}/forwardingRules`, rule({ portRange: '80' }));
    const made = await get(`${regional}/forwardingRules/a1`);
    expect(made).to.deep.include({
      kind: 'compute#forwardingRule',
      region: `${links}/regions/${region}`,
      portRange: '80-80',
      loadBalancingScheme: 'EXTERNAL',
      networkTier: 'PREMIUM',
      target: `${links}/regions/${region}/targetPools/a1`,
    });
    expect(made['IPAddress']).to.match(/^\d+\.\d+\.\d+\.\d+$/);
    // The controller keeps the address by reserving it.
    await change(`POST ${regional}/addresses`, { name: 'a1', address: made['IPAddress'] });
    expect(await get(`${regional}/addresses/a1`)).to.deep.include({
      status: 'IN_USE',
      users: [`${links}/regions/${region}/forwardingRules/a1`],
    });
  });

  it('use a reserved address, by value or by URL, until the rule goes', async () => {
    const gateway = `${regional}/addresses/gateway`;
    const { address } = await get(gateway);
    const users = [`${links}/regions/${region}/forwardingRules/a1`];
    for (const IPAddress of [address, `regions/${region}/addresses/gateway`]) {
      await change(`POST ${regional}/forwardingRules`, rule({ IPAddress }));
      expect(await get(`${regional}/forwardingRules/a1`)).to.include({ IPAddress: address });
      expect(await get(gateway)).to.deep.include({ status: 'IN_USE', users });
      expect(await refusal(`DELETE ${gateway}`)).to.deep.equal([400, 'resourceInUseByAnotherResource']);
      expect(await refusal(`DELETE ${regional}/targetPools/a1`)).to.deep.equal([400, 'resourceInUseByAnotherResource']);
      await change(`DELETE ${regional}/forwardingRules/a1`);
      expect(await get(gateway)).to.include({ status: 'RESERVED' });
      expect(await get(gateway)).not.to.have.property('users');
    }
    await change(`DELETE ${regional}/targetPools/a1`);
    await change(`DELETE ${root}/global/httpHealthChecks/k8s-node`);
  });

  it('share an address on other ports, and on the same ports do not', async () => {
    const { address: IPAddress } = await get(`${regional}/addresses/gateway`);
    await change(`POST ${regional}/forwardingRules`, rule({ IPAddress, portRange: '80' }));
    await change(`POST ${regional}/forwardingRules`, rule({ name: 'a2', IPAddress, portRange: '443' }));
    expect((await get(`${regional}/addresses/gateway`))['users']).to.have.length(2);
    const third = await call(`POST ${regional}/forwardingRules`, rule({ name: 'a3', IPAddress, portRange: '400-500' }));
    expect([third.status, third.reason]).to.deep.equal([400, 'invalid']);
  });

  it('say which VMs are healthy', async () => {
    await change(`POST ${regional}/forwardingRules`, rule());
    const asked = { instance: `${links}/zones/${zone}/instances/jumpbox` };
    const health = async () =>
      (await change(`POST ${regional}/targetPools/a1/getHealth`, asked))['healthStatus'] as JsonObject[];
    expect((await health())[0]).to.include({ ...asked, healthState: 'HEALTHY' });
    await change(`POST ${root}/zones/${zone}/instances/jumpbox/stop`);
    expect((await health())[0]).to.include({ healthState: 'UNHEALTHY' });
  });

  it('have labels, and another target', async () => {
    await change(`POST ${regional}/forwardingRules`, rule());
    const path = `${regional}/forwardingRules/a1`;
    const { labelFingerprint } = await get(path);
    await change(`POST ${path}/setLabels`, { labels: { team: 'a' }, labelFingerprint });
    await change(`POST ${regional}/targetPools`, { name: 'a2' });
    await change(`POST ${path}/setTarget`, { target: `regions/${region}/targetPools/a2` });
    expect(await get(path)).to.deep.include({
      labels: { team: 'a' },
      target: `${links}/regions/${region}/targetPools/a2`,
    });
    const { items } = await get(`${root}/aggregated/forwardingRules`);
    expect((items as JsonObject)[`regions/${region}`]).to.have.property('forwardingRules');
  });

  for (const [where, path] of [
    ['global', `${root}/global/healthChecks`],
    ['regional', `${regional}/healthChecks`],
  ] as const) {
    it(`have ${where} health checks of today's form`, async () => {
      await change(`POST ${path}`, { name: 'web', type: 'HTTP', httpHealthCheck: { port: 8080 } });
      expect(await get(`${path}/web`)).to.deep.include({
        kind: 'compute#healthCheck',
        type: 'HTTP',
        httpHealthCheck: { port: 8080, requestPath: '/', proxyHeader: 'NONE' },
        checkIntervalSec: 5,
      });
      await change(`PATCH ${path}/web`, { httpHealthCheck: { requestPath: '/ready' }, timeoutSec: 2 });
      expect(await get(`${path}/web`)).to.deep.include({
        httpHealthCheck: { port: 8080, requestPath: '/ready', proxyHeader: 'NONE' },
        timeoutSec: 2,
      });
      await change(`DELETE ${path}/web`);
    });
  }

  it('need the permissions of what they use', async () => {
    await cloud.close();
    const rules = `projects/${project}/roles/rules`;
    const bindings = [
      { resource: 'organizations/100', role: 'roles/owner', members: [`user:${owner}`] },
      { resource: `projects/${project}`, role: rules, members: [`user:${stranger}`] },
    ];
    const customRoles = [{ name: rules, title: 'Rules', permissions: ['compute.forwardingRules.create'] }];
    cloud = await readyCloud({ initial: { bindings, customRoles } });
    const reply = await cloud.call('compute', `POST ${regional}/forwardingRules`, rule(), { as: stranger });
    expect([reply.status, reply.message]).to.deep.equal([
      403,
      `Required 'compute.targetPools.use' permission for 'projects/${project}'`,
    ]);
  });
});

describe('load balancers of the simulated Compute, wrongly given', () => {
  let cloud: ReadyCloud;
  before(async () => {
    cloud = await readyCloud();
    await balanced(cloud);
    await cloud.call('compute', `POST ${root}/zones/${zone}/instances`, vmBody('other'));
  });
  after(() => cloud.close());
  const rules = `POST ${regional}/forwardingRules`;
  const pools = `POST ${regional}/targetPools`;
  const checks = `POST ${root}/global/httpHealthChecks`;
  const rows: readonly (readonly [string, string, unknown, number, string, RegExp?])[] = [
    ['a rule without a target', rules, rule({ target: undefined }), 400, 'required'],
    ['a rule to a pool that is not there', rules, rule({ target: `regions/${region}/targetPools/b` }), 404, 'notFound'],
    ['a rule to a pool of another region', rules, rule({ target: 'regions/us-east1/targetPools/a1' }), 404, 'notFound'],
    ['a rule of no ports', rules, rule({ portRange: '0-80' }), 400, 'invalid'],
    ['a rule of ports and no protocol of ports', rules, rule({ IPProtocol: 'ESP' }), 400, 'invalid'],
    [
      'a rule of an address that is not its own',
      rules,
      rule({ IPAddress: '203.0.113.9' }),
      400,
      'invalid',
      /Invalid IP address specified/,
    ],
    [
      'a rule of an address that is not there',
      rules,
      rule({ IPAddress: `regions/${region}/addresses/none` }),
      404,
      'notFound',
    ],
    ['a health check without a type', `POST ${regional}/healthChecks`, { name: 'web' }, 400, 'required'],
    [
      'a health check of two types',
      `POST ${regional}/healthChecks`,
      { name: 'web', type: 'TCP', httpHealthCheck: {} },
      400,
      'invalid',
    ],
    ['a timeout longer than the interval', checks, { name: 'slow', timeoutSec: 9 }, 400, 'invalid'],
    ['a port that there is not', checks, { name: 'odd', port: 70000 }, 400, 'invalid'],
    [
      'a pool with a VM of another region',
      pools,
      { name: 'far', instances: ['zones/us-east1-b/instances/x'] },
      400,
      'invalid',
    ],
    [
      'a pool with a health check that is not there',
      pools,
      { name: 'sick', healthChecks: ['global/httpHealthChecks/none'] },
      404,
      'notFound',
    ],
    [
      "a pool with a health check of today's form",
      pools,
      { name: 'sick', healthChecks: ['global/healthChecks/none'] },
      400,
      'invalid',
    ],
    [
      'a VM that leaves a pool it is not in',
      `POST ${regional}/targetPools/a1/removeInstance`,
      { instances: [{ instance: `/zones/${zone}/instances/other` }] },
      400,
      'invalid',
    ],
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
