import { expect } from 'chai';
import { GoogleAuth, OAuth2Client } from 'google-auth-library';
import { furnish, region, vmBody, zone } from './furnished.js';
import { owner, project, type ReadyCloud, readyCloud } from './ready-cloud.js';

/** Only as much of the clients' types as is used here: the real ones take the compiler fifteen seconds. */
interface Client {
  close(): Promise<void>;
  [method: string]: (request: object) => Promise<unknown>;
}
type ClientClass = new (options: object) => Client;

async function clientOf(cloud: ReadyCloud, file: string, name: string): Promise<Client> {
  const path = `@google-cloud/compute/build/src/v1/${file}.js`;
  const loaded = (await import(path)) as Record<string, ClientClass> & { default?: Record<string, ClientClass> };
  const Loaded = (loaded[name] ?? loaded.default?.[name]) as ClientClass;
  const { hostname, port } = new URL(cloud.endpoints.compute);
  const authClient = new OAuth2Client();
  authClient.setCredentials({
    access_token: cloud.identity.accessToken(owner),
    expiry_date: Date.now() + 3_600_000,
  });
  const auth = new GoogleAuth({ authClient, projectId: project });
  return new Loaded({ auth, fallback: true, apiEndpoint: hostname, port: Number(port), protocol: 'http' });
}

async function ask<T>(client: Client, method: string, request: object): Promise<[T]> {
  const call = client[method];
  if (call === undefined) throw new Error(`the client has no ${method}`);
  return (await call.call(client, request)) as [T];
}

interface Answer {
  latestResponse: { name: string; status: string; error?: { errors: { code: string }[] } };
}

describe("Google's compute clients against the simulated cloud", function () {
  this.timeout(240_000);
  let cloud: ReadyCloud;
  const clients: Client[] = [];
  const client = async (file: string, name: string): Promise<Client> => {
    const made = await clientOf(cloud, file, name);
    clients.push(made);
    return made;
  };

  before(async () => {
    cloud = await readyCloud({ timeFactor: 0.002 });
    await cloud.call('compute', 'GET /compute/v1/projects/P/regions/europe-west4');
  });
  after(async () => {
    for (const one of clients) await one.close();
    await cloud.close();
  });

  it('make a VM, wait for it, list it, and remove it', async () => {
    const operations = await client('zone_operations_client', 'ZoneOperationsClient');
    const global = await client('global_operations_client', 'GlobalOperationsClient');
    const regional = await client('region_operations_client', 'RegionOperationsClient');
    const networks = await client('networks_client', 'NetworksClient');
    const subnetworks = await client('subnetworks_client', 'SubnetworksClient');
    const instances = await client('instances_client', 'InstancesClient');

    const [net] = await ask<Answer>(networks, 'insert', {
      project,
      networkResource: { name: 'net', autoCreateSubnetworks: false, routingConfig: { routingMode: 'REGIONAL' } },
    });
    await until(global, { project, operation: net.latestResponse.name });
    const [sub] = await ask<Answer>(subnetworks, 'insert', {
      project,
      region,
      subnetworkResource: { name: 'sub', network: 'global/networks/net', ipCidrRange: '10.10.0.0/20' },
    });
    await until(regional, { project, region, operation: sub.latestResponse.name });

    const [answer] = await ask<Answer>(instances, 'insert', {
      project,
      zone,
      requestId: '6b6c4dd5-6d26-4a9a-8fd8-6d6f0a7d3c55',
      instanceResource: vmBody('vm', {
        scheduling: {
          provisioningModel: 'SPOT',
          onHostMaintenance: 'TERMINATE',
          automaticRestart: false,
          instanceTerminationAction: 'STOP',
        },
      }),
    });
    expect(answer.latestResponse.status).to.be.oneOf(['PENDING', 'RUNNING']);
    await until(operations, { project, zone, operation: answer.latestResponse.name });
    const [vm] = await ask<Record<string, unknown>>(instances, 'get', { project, zone, instance: 'vm' });
    expect(vm).to.include({ name: 'vm', status: 'RUNNING' });
    expect(vm['scheduling']).to.include({ provisioningModel: 'SPOT', automaticRestart: false });
    const [listed] = await ask<{ name: string }[]>(instances, 'list', { project, zone });
    expect(listed.map(({ name }) => name)).to.deep.equal(['vm']);
    const [gone] = await ask<Answer>(instances, 'delete', { project, zone, instance: 'vm' });
    await until(operations, { project, zone, operation: gone.latestResponse.name });
    const error = await ask(instances, 'get', { project, zone, instance: 'vm' }).catch(
      (thrown: { code: unknown }) => thrown,
    );
    expect(String((error as { code: unknown }).code)).to.be.oneOf(['404', '5']);
  });

  it('hear of a stockout only from the operation, whose wait resolves all the same', async () => {
    await furnish(await cloudWithoutWait());
    cloud.faults.stockout({ name: 'unlucky', provisioning: 'STANDARD' });
    const operations = await client('zone_operations_client', 'ZoneOperationsClient');
    const instances = await client('instances_client', 'InstancesClient');
    const [answer] = await ask<Answer>(instances, 'insert', { project, zone, instanceResource: vmBody('unlucky') });
    const done = await until(operations, { project, zone, operation: answer.latestResponse.name });
    expect(done.error?.errors[0]?.code).to.match(/^ZONE_RESOURCE_POOL_EXHAUSTED(_WITH_DETAILS)?$/);
  });

  /** The clients above go on with a cloud that is furnished at once. */
  async function cloudWithoutWait(): Promise<ReadyCloud> {
    await cloud.close();
    cloud = await readyCloud();
    return cloud;
  }

  /** `wait` may come back early. */
  async function until(operations: Client, request: object): Promise<Answer['latestResponse']> {
    for (;;) {
      const [operation] = await ask<Answer['latestResponse']>(operations, 'wait', request);
      if (operation.status === 'DONE') return operation;
    }
  }
});
