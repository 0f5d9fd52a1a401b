/** Bad requests to the simulated Compute: one table, in which each row is a request and Google's reason to refuse it. */
import { expect } from 'chai';
import { furnish, region, vmBody, zone } from './furnished.js';
import { type ReadyCloud, readyCloud } from './ready-cloud.js';
import { commonRefusals, itRefuses, refusalsOf } from './refusals.js';

const root = '/compute/v1/projects/P';
const regional = `${root}/regions/${region}`;
const zonal = `${root}/zones/${zone}`;
const vm = `${zonal}/instances/jumpbox`;

const codes = {
  badRequest: 400,
  invalid: 400,
  invalidParameter: 400,
  required: 400,
  instanceNotStopped: 400,
  resourceInUseByAnotherResource: 400,
  notFound: 404,
  alreadyExists: 409,
  conditionNotMet: 412,
} as const;
type Reason = keyof typeof codes;

/** The fields that differ from a good body, or all of it where the line has none. */
type Row = readonly [name: string, body: object | undefined, reason: Reason, says?: RegExp];
/** A request line, what makes its good body, and the rows that break it. */
type Case = readonly [line: string, body: (more: object) => object, rows: readonly Row[]];

const whole = (body: object): object => body;
const network = (more: object) => ({ name: 'other', autoCreateSubnetworks: false, ...more });
const subnetwork = (more: object) => ({
  name: 'inner',
  network: 'global/networks/net',
  ipCidrRange: '10.20.0.0/20',
  ...more,
});
const rule = (more: object) => ({
  name: 'rule',
  network: 'global/networks/net',
  allowed: [{ IPProtocol: 'tcp' }],
  ...more,
});
const nat = (more: object) => ({
  name: 'other',
  network: 'global/networks/net',
  nats: [
    {
      name: 'nat',
      natIpAllocateOption: 'AUTO_ONLY',
      sourceSubnetworkIpRangesToNat: 'ALL_SUBNETWORKS_ALL_IP_RANGES',
      ...more,
    },
  ],
});
const address = (more: object) => ({ name: 'other', ...more });
const newVm = (more: object) => vmBody('vm', more);
const bootDisk = (more: object) => ({
  disks: [
    {
      boot: true,
      initializeParams: { sourceImage: 'projects/ubuntu-os-cloud/global/images/family/ubuntu-2204-lts', ...more },
    },
  ],
});
const nic = (more: object) => ({
  networkInterfaces: [{ subnetwork: `regions/${region}/subnetworks/sub`, ...more }],
});
const metadata = (...keys: string[]) => ({ metadata: { items: keys.map((key) => ({ key, value: '1' })) } });
const spot = (more: object) => ({ scheduling: { provisioningModel: 'SPOT', ...more } });

const networks: readonly Case[] = [
  [
    `POST ${root}/global/networks`,
    network,
    [
      ['a network without a name', { name: undefined }, 'required', /resource\.name/],
      ['a name in capitals', { name: 'Other' }, 'invalid', /'resource\.name': 'Other'/],
      ['a name of 64 letters', { name: 'a'.repeat(64) }, 'invalid'],
      [
        'a network that exists',
        { name: 'net' },
        'alreadyExists',
        /^The resource 'projects\/ready-project\/global\/networks\/net' already exists$/,
      ],
      ['a legacy network', { autoCreateSubnetworks: undefined }, 'invalid'],
      ['a flag that is a text', { autoCreateSubnetworks: 'no' }, 'badRequest', /TYPE_BOOL/],
      ['an unknown routing mode', { routingConfig: { routingMode: 'LOCAL' } }, 'invalid'],
      ['a packet size that is too small', { mtu: 100 }, 'invalid'],
    ],
  ],
  [`POST ${root}/global/networks?requestId=1`, network, [['a request id that is no UUID', {}, 'invalid']]],
  [
    `GET ${root}/global/networks/none`,
    whole,
    [
      [
        'a missing network',
        undefined,
        'notFound',
        /^The resource 'projects\/ready-project\/global\/networks\/none' was not found$/,
      ],
    ],
  ],
  [`GET ${root}/global/networks?filter=name`, whole, [['a filter without an operator', undefined, 'invalid']]],
  [`GET ${root}/global/networks?maxResults=501`, whole, [['a page of 501', undefined, 'invalid']]],
];

const subnetworks: readonly Case[] = [
  [
    `POST ${regional}/subnetworks`,
    subnetwork,
    [
      ['a missing network', { network: 'global/networks/none' }, 'notFound'],
      ['a network that is no URL', { network: 'net' }, 'invalid', /The URL is malformed/],
      ['no network', { network: undefined }, 'required'],
      ['a range without a length', { ipCidrRange: '10.20.0.0' }, 'invalid'],
      ['a range that does not begin with its first address', { ipCidrRange: '10.20.0.1/20' }, 'invalid'],
      ['a range that is too small', { ipCidrRange: '10.20.0.0/30' }, 'invalid'],
      ['a range that overlaps', { ipCidrRange: '10.10.8.0/24' }, 'invalid', /conflicts with existing subnetwork 'sub'/],
      ['a subnetwork of an auto network', { network: 'global/networks/default' }, 'invalid'],
    ],
  ],
  [`POST ${root}/regions/mars-west1/subnetworks`, subnetwork, [['an unknown region', {}, 'invalid', /Unknown region/]]],
  [
    `POST ${regional}/subnetworks/sub/expandIpCidrRange`,
    whole,
    [
      ['a narrower subnetwork', { ipCidrRange: '10.10.0.0/24' }, 'invalid'],
      ['a subnetwork that grows over another', { ipCidrRange: '10.10.0.0/16' }, 'invalid'],
    ],
  ],
  [
    `PATCH ${regional}/subnetworks/sub`,
    whole,
    [['a range changed by patch', { ipCidrRange: '10.99.0.0/20' }, 'invalid']],
  ],
  [
    `DELETE ${regional}/subnetworks/sub`,
    whole,
    [
      [
        'deletion while in use',
        undefined,
        'resourceInUseByAnotherResource',
        /already being used by 'projects\/ready-project\/zones\/europe-west4-a\/instances\/jumpbox'/,
      ],
    ],
  ],
];

const firewalls: readonly Case[] = [
  [
    `POST ${root}/global/firewalls`,
    rule,
    [
      ['neither allowed nor denied', { allowed: [] }, 'invalid'],
      ['both allowed and denied', { denied: [{ IPProtocol: 'udp' }] }, 'invalid'],
      ['an unknown protocol', { allowed: [{ IPProtocol: 'teleport' }] }, 'invalid'],
      ['ports of icmp', { allowed: [{ IPProtocol: 'icmp', ports: ['1'] }] }, 'invalid'],
      ['a port beyond the last', { allowed: [{ IPProtocol: 'tcp', ports: ['70000'] }] }, 'invalid'],
      ['a source that is no range', { sourceRanges: ['10.0.0.0/33'] }, 'invalid'],
      ['a source of IPv6 that is no range', { sourceRanges: ['2001:db8::/129'] }, 'invalid'],
      ['a source that begins elsewhere', { sourceRanges: ['10.0.0.1/8'] }, 'invalid'],
      ['a source of IPv6 that begins elsewhere', { sourceRanges: ['2001:db8::1/32'] }, 'invalid'],
      ['sources of both families', { sourceRanges: ['10.0.0.0/8', '2001:db8::/32'] }, 'invalid', /IPv4 and IPv6/],
      ['sources of an egress rule', { direction: 'EGRESS', sourceRanges: ['10.0.0.0/8'] }, 'invalid'],
      ['an unknown direction', { direction: 'SIDEWAYS' }, 'invalid'],
      ['a priority beyond the last', { priority: 70_000 }, 'invalid'],
      ['a tag in capitals', { targetTags: ['SSH'] }, 'invalid'],
    ],
  ],
  [
    `PATCH ${root}/global/firewalls/allow-ssh`,
    whole,
    [['another direction', { name: 'allow-ssh', direction: 'EGRESS' }, 'invalid']],
  ],
];

const routersAndAddresses: readonly Case[] = [
  [`POST ${regional}/routers`, whole, [['a router without network', { name: 'other' }, 'required']]],
  [
    `POST ${regional}/routers`,
    nat,
    [
      ['a NAT without a way to get addresses', { natIpAllocateOption: undefined }, 'required'],
      ['an automatic NAT with addresses', { natIps: ['x'] }, 'invalid'],
      ['a manual NAT without addresses', { natIpAllocateOption: 'MANUAL_ONLY' }, 'invalid'],
      ['a NAT of no listed subnetworks', { sourceSubnetworkIpRangesToNat: 'LIST_OF_SUBNETWORKS' }, 'invalid'],
    ],
  ],
  [
    `POST ${regional}/addresses`,
    address,
    [
      ['an address that exists', { name: 'gateway' }, 'alreadyExists'],
      ['an unknown type of address', { addressType: 'MARTIAN' }, 'invalid'],
      ['an internal address without subnetwork', { addressType: 'INTERNAL' }, 'required'],
      ['an external address that nothing uses', { address: '8.8.8.8' }, 'invalid'],
      [
        'an internal address from elsewhere',
        { addressType: 'INTERNAL', subnetwork: `regions/${region}/subnetworks/sub`, address: '10.99.0.1' },
        'invalid',
      ],
    ],
  ],
];

const inserts: readonly Case[] = [
  [
    `POST ${zonal}/instances`,
    newVm,
    [
      ['a VM without a machine type', { machineType: undefined }, 'required'],
      [
        'an unknown machine type',
        { machineType: `zones/${zone}/machineTypes/e9-huge` },
        'invalid',
        /Machine type with name 'e9-huge' does not exist in zone/,
      ],
      [
        'a machine type of another zone',
        { machineType: 'zones/europe-west4-b/machineTypes/e2-medium' },
        'invalid',
        /must be in the zone/,
      ],
      ['a VM without disks', { disks: [] }, 'invalid', /No disks are specified/],
      ['a VM without a boot disk', { disks: [{ initializeParams: {} }] }, 'invalid', /must be the boot disk/],
      ['a boot disk without an image', { disks: [{ boot: true, initializeParams: {} }] }, 'invalid'],
      [
        'an unknown image family',
        bootDisk({ sourceImage: 'projects/ubuntu-os-cloud/global/images/family/none' }),
        'notFound',
      ],
      ['a disk smaller than its image', bootDisk({ diskSizeGb: '5' }), 'invalid'],
      ['an unknown disk type', bootDisk({ diskType: `zones/${zone}/diskTypes/pd-cheap` }), 'invalid'],
      ['a disk whose name is taken', bootDisk({ diskName: 'jumpbox' }), 'alreadyExists'],
      ['a missing disk', { disks: [{ boot: true, source: `zones/${zone}/disks/none` }] }, 'notFound'],
      [
        'a disk of another VM',
        { disks: [{ boot: true, source: `zones/${zone}/disks/jumpbox` }] },
        'resourceInUseByAnotherResource',
      ],
      [
        'a VM without a network interface',
        { networkInterfaces: [] },
        'invalid',
        /At least one network interface is required/,
      ],
      [
        'a custom network without subnetwork',
        { networkInterfaces: [{ network: 'global/networks/net' }] },
        'invalid',
        /Subnetwork should be specified for custom subnetmode network/,
      ],
      [
        'a missing subnetwork',
        nic({ subnetwork: `regions/${region}/subnetworks/none` }),
        'invalid',
        /The referenced subnetwork resource cannot be found/,
      ],
      ['an address outside the subnetwork', nic({ networkIP: '10.99.0.5' }), 'invalid'],
      ['an internal address in use', nic({ networkIP: '10.10.0.2' }), 'resourceInUseByAnotherResource'],
      ['an external address that is not reserved', nic({ accessConfigs: [{ natIP: '8.8.8.8' }] }), 'invalid'],
      ['the same metadata key twice', metadata('a', 'a'), 'invalid', /duplicate keys: a/],
      ['a metadata key with a space', metadata('a b'), 'invalid'],
      ['a label in capitals', { labels: { Team: 'a' } }, 'invalid'],
      ['a spot VM that restarts by itself', spot({ automaticRestart: true }), 'invalid', /automaticRestart be false/],
      ['a spot VM that migrates', spot({ onHostMaintenance: 'MIGRATE' }), 'invalid'],
      ['a termination action of a standard VM', { scheduling: { instanceTerminationAction: 'STOP' } }, 'invalid'],
      [
        'a missing service account',
        { serviceAccounts: [{ email: 'none@ready-project.iam.gserviceaccount.com', scopes: [] }] },
        'notFound',
        /^The resource 'none@ready-project\.iam\.gserviceaccount\.com' of type 'serviceAccount' was not found\.$/,
      ],
      ['a VM that exists', { name: 'jumpbox' }, 'alreadyExists'],
    ],
  ],
  [
    `POST ${root}/zones/europe-west1-b/instances`,
    newVm,
    [
      [
        'a subnetwork of another region',
        { machineType: 'zones/europe-west1-b/machineTypes/e2-medium', ...bootDisk({}) },
        'invalid',
        /must be in the region of the instance/,
      ],
    ],
  ],
  [`POST ${root}/zones/europe-west4-z/instances`, newVm, [['an unknown zone', {}, 'invalid', /Unknown zone/]]],
];

const changesOfVms: readonly Case[] = [
  [
    `POST ${vm}/setMetadata`,
    whole,
    [
      [
        'metadata with a stale fingerprint',
        { fingerprint: 'c3RhbGU=', items: [] },
        'conditionNotMet',
        /^Supplied fingerprint does not match current metadata fingerprint\.$/,
      ],
    ],
  ],
  [`POST ${vm}/setLabels`, whole, [['labels without a fingerprint', { labels: { a: 'b' } }, 'conditionNotMet']]],
  [
    `POST ${vm}/setMachineType`,
    whole,
    [
      [
        'another machine type while it runs',
        { machineType: `zones/${zone}/machineTypes/e2-small` },
        'instanceNotStopped',
      ],
    ],
  ],
  [`POST ${vm}/resume`, whole, [['resuming a running VM', undefined, 'invalid']]],
  [
    `GET ${vm}/getGuestAttributes?queryPath=other/`,
    whole,
    [['missing guest attributes', undefined, 'notFound', /of type 'Guest Attribute' was not found/]],
  ],
  [`GET ${vm}/serialPort?port=5`, whole, [['a fifth serial port', undefined, 'invalidParameter']]],
];

const disksAndOperations: readonly Case[] = [
  [
    `POST ${zonal}/disks/jumpbox/resize`,
    whole,
    [
      ['a disk made smaller', { sizeGb: '10' }, 'invalid', /must be larger than existing size '50' GiB/],
      ['a resize without a size', {}, 'required'],
    ],
  ],
  [
    `DELETE ${zonal}/disks/jumpbox`,
    whole,
    [['deletion of a disk in use', undefined, 'resourceInUseByAnotherResource']],
  ],
  [`GET ${zonal}/operations/operation-1`, whole, [['a missing operation', undefined, 'notFound']]],
];

const all = [networks, subnetworks, firewalls, routersAndAddresses, inserts, changesOfVms, disksAndOperations].flat();

describe('simulated Compute', () => {
  let cloud: ReadyCloud;
  before(async () => {
    cloud = await readyCloud();
    await furnish(cloud);
    const near = { name: 'near', network: 'global/networks/net', ipCidrRange: '10.10.32.0/20' };
    await cloud.call('compute', `POST ${regional}/subnetworks`, near);
  });
  after(() => cloud.close());

  itRefuses(() => cloud, commonRefusals('compute', `POST ${root}/global/networks`, network({})));
  const refused = refusalsOf('compute');
  for (const [line, body, rows] of all) {
    itRefuses(
      () => cloud,
      rows.map(([what, more, reason, says]) => {
        const name = `${what} (${line.replace(/\/compute\/v1\/projects\/P\//, '')})`;
        return refused(name, line, more && body(more), codes[reason], reason, says);
      }),
    );
  }

  it('changes nothing by all of that', async () => {
    const { body } = await cloud.call('compute', `GET ${zonal}/instances`);
    expect((body['items'] as { name: string }[]).map(({ name }) => name)).to.deep.equal(['jumpbox']);
  });
});
