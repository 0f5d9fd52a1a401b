/** What a bootstrap leaves behind, made over HTTP: network, rules, router, address, VM, zone, records, repository, secret. */
import { expect } from 'chai';
import { project, type ReadyCloud } from './ready-cloud.js';

export const region = 'europe-west4';
export const zone = 'europe-west4-a';
const compute = '/compute/v1/projects/P';

export const vmBody = (name: string, more: object = {}) => ({
  name,
  machineType: `zones/${zone}/machineTypes/e2-medium`,
  disks: [
    {
      boot: true,
      autoDelete: true,
      initializeParams: {
        sourceImage: 'projects/ubuntu-os-cloud/global/images/family/ubuntu-2204-lts',
        diskSizeGb: '50',
        diskType: `zones/${zone}/diskTypes/pd-ssd`,
      },
    },
  ],
  networkInterfaces: [{ subnetwork: `regions/${region}/subnetworks/sub` }],
  metadata: { items: [{ key: 'enable-guest-attributes', value: 'TRUE' }] },
  ...more,
});

export async function furnish(cloud: ReadyCloud): Promise<void> {
  const make = async (...[api, line, body]: Parameters<ReadyCloud['call']>) => {
    const reply = await cloud.call(api, line, body);
    expect(reply.status, `${line}: ${reply.message}`).to.be.oneOf([200, 204]);
  };
  await make('compute', `POST ${compute}/global/networks`, { name: 'net', autoCreateSubnetworks: false });
  await make('compute', `POST ${compute}/regions/${region}/subnetworks`, {
    name: 'sub',
    network: 'global/networks/net',
    ipCidrRange: '10.10.0.0/20',
  });
  await make('compute', `POST ${compute}/global/firewalls`, {
    name: 'allow-ssh',
    network: 'global/networks/net',
    allowed: [{ IPProtocol: 'tcp', ports: ['22'] }],
    targetTags: ['ssh'],
  });
  await make('compute', `POST ${compute}/regions/${region}/routers`, {
    name: 'router',
    network: 'global/networks/net',
    nats: [
      {
        name: 'nat',
        natIpAllocateOption: 'AUTO_ONLY',
        sourceSubnetworkIpRangesToNat: 'ALL_SUBNETWORKS_ALL_IP_RANGES',
      },
    ],
  });
  await make('compute', `POST ${compute}/regions/${region}/addresses`, { name: 'gateway' });
  await make(
    'compute',
    `POST ${compute}/zones/${zone}/instances`,
    vmBody('jumpbox', {
      tags: { items: ['ssh'] },
      networkInterfaces: [{ subnetwork: `regions/${region}/subnetworks/sub`, accessConfigs: [{}] }],
    }),
  );
  await make('dns', 'POST /dns/v1/projects/P/managedZones', {
    name: 'platform',
    dnsName: 'platform.example.com.',
    description: 'Platform',
  });
  await make('dns', 'POST /dns/v1/projects/P/managedZones/platform/changes', {
    additions: [{ name: 'cs.platform.example.com.', type: 'A', ttl: 300, rrdatas: ['203.0.113.7'] }],
  });
  await make(
    'artifactregistry',
    `POST /v1/projects/P/locations/${region}/repositories?repositoryId=platform-registry`,
    {
      format: 'DOCKER',
    },
  );
  await make('secretmanager', `POST /v1/projects/${project}/secrets?secretId=age-identity`, {
    replication: { automatic: {} },
  });
}
