import { commonRefusals } from './common-refusals.js';
import { furnish, region, vmBody, zone } from './furnished.js';
import { type ReadyCloud, readyCloud } from './ready-cloud.js';
import { itRefuses, type Refusal } from './refusals.js';

const root = '/compute/v1/projects/P';
const instances = `${root}/zones/${zone}/instances`;

const refused = (name: string, line: string, body: unknown, code: number, reason: string, says?: RegExp): Refusal => ({
  name,
  api: 'compute',
  line,
  body,
  code,
  reason,
  ...(says === undefined ? {} : { says }),
});

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
const disk = (more: object) => ({
  boot: true,
  initializeParams: { sourceImage: 'projects/ubuntu-os-cloud/global/images/family/ubuntu-2204-lts', ...more },
});

describe('simulated Compute, bad requests', () => {
  let cloud: ReadyCloud;
  before(async () => {
    cloud = await readyCloud();
    await furnish(cloud);
  });
  after(() => cloud.close());
  const here = () => cloud;

  describe('of every API', () =>
    itRefuses(here, commonRefusals('compute', `POST ${root}/global/networks`, network({}))));

  describe('of networks', () => {
    const line = `POST ${root}/global/networks`;
    itRefuses(here, [
      refused('a network without a name', line, { autoCreateSubnetworks: false }, 400, 'required', /resource\.name/),
      refused('a name in capitals', line, network({ name: 'Other' }), 400, 'invalid', /'resource\.name': 'Other'/),
      refused('a name of 64 letters', line, network({ name: 'a'.repeat(64) }), 400, 'invalid'),
      refused(
        'a network that exists',
        line,
        network({ name: 'net' }),
        409,
        'alreadyExists',
        /^The resource 'projects\/ready-project\/global\/networks\/net' already exists$/,
      ),
      refused('a legacy network', line, { name: 'other' }, 400, 'invalid'),
      refused('a flag that is a text', line, network({ autoCreateSubnetworks: 'no' }), 400, 'badRequest', /TYPE_BOOL/),
      refused(
        'a routing mode that there is not',
        line,
        network({ routingConfig: { routingMode: 'LOCAL' } }),
        400,
        'invalid',
      ),
      refused('a packet size that is too small', line, network({ mtu: 100 }), 400, 'invalid'),
      refused('a request id that is no UUID', `${line}?requestId=1`, network({}), 400, 'invalid'),
      refused(
        'a look at a network that is not there',
        `GET ${root}/global/networks/none`,
        undefined,
        404,
        'notFound',
        /^The resource 'projects\/ready-project\/global\/networks\/none' was not found$/,
      ),
      refused('a filter it cannot read', `GET ${root}/global/networks?filter=name`, undefined, 400, 'invalid'),
      refused('a page of 501', `GET ${root}/global/networks?maxResults=501`, undefined, 400, 'invalid'),
    ]);
  });

  describe('of subnetworks', () => {
    const line = `POST ${root}/regions/${region}/subnetworks`;
    itRefuses(here, [
      refused('a network that is not there', line, subnetwork({ network: 'global/networks/none' }), 404, 'notFound'),
      refused('a network that is no URL', line, subnetwork({ network: 'net' }), 400, 'invalid', /The URL is malformed/),
      refused('no network', line, { name: 'inner', ipCidrRange: '10.20.0.0/20' }, 400, 'required'),
      refused('a range that is none', line, subnetwork({ ipCidrRange: '10.20.0.0' }), 400, 'invalid'),
      refused(
        'a range that does not begin with its first address',
        line,
        subnetwork({ ipCidrRange: '10.20.0.1/20' }),
        400,
        'invalid',
      ),
      refused('a range that is too small', line, subnetwork({ ipCidrRange: '10.20.0.0/30' }), 400, 'invalid'),
      refused(
        'a range that overlaps',
        line,
        subnetwork({ ipCidrRange: '10.10.8.0/24' }),
        400,
        'invalid',
        /conflicts with existing subnetwork 'sub'/,
      ),
      refused(
        'a subnetwork of an auto network',
        line,
        subnetwork({ network: 'global/networks/default' }),
        400,
        'invalid',
      ),
      refused(
        'a region that is not there',
        `POST ${root}/regions/mars-west1/subnetworks`,
        subnetwork({}),
        400,
        'invalid',
        /Unknown region/,
      ),
      refused(
        'removing one in use',
        `DELETE ${root}/regions/${region}/subnetworks/sub`,
        undefined,
        400,
        'resourceInUseByAnotherResource',
        /already being used by 'projects\/ready-project\/zones\/europe-west4-a\/instances\/jumpbox'/,
      ),
    ]);
  });

  describe('of firewall rules', () => {
    const line = `POST ${root}/global/firewalls`;
    itRefuses(here, [
      refused('neither allowed nor denied', line, rule({ allowed: [] }), 400, 'invalid'),
      refused('both allowed and denied', line, rule({ denied: [{ IPProtocol: 'udp' }] }), 400, 'invalid'),
      refused('a protocol that there is not', line, rule({ allowed: [{ IPProtocol: 'teleport' }] }), 400, 'invalid'),
      refused('ports of icmp', line, rule({ allowed: [{ IPProtocol: 'icmp', ports: ['1'] }] }), 400, 'invalid'),
      refused(
        'a port beyond the last',
        line,
        rule({ allowed: [{ IPProtocol: 'tcp', ports: ['70000'] }] }),
        400,
        'invalid',
      ),
      refused('a source that is no range', line, rule({ sourceRanges: ['10.0.0.0/33'] }), 400, 'invalid'),
      refused('a source of IPv6 that is no range', line, rule({ sourceRanges: ['2001:db8::/129'] }), 400, 'invalid'),
      refused('a source that begins elsewhere', line, rule({ sourceRanges: ['10.0.0.1/8'] }), 400, 'invalid'),
      refused('one of IPv6 that does', line, rule({ sourceRanges: ['2001:db8::1/32'] }), 400, 'invalid'),
      refused(
        'sources of both families',
        line,
        rule({ sourceRanges: ['10.0.0.0/8', '2001:db8::/32'] }),
        400,
        'invalid',
        /IPv4 and IPv6/,
      ),
      refused(
        'sources of an egress rule',
        line,
        rule({ direction: 'EGRESS', sourceRanges: ['10.0.0.0/8'] }),
        400,
        'invalid',
      ),
      refused('a direction that there is not', line, rule({ direction: 'SIDEWAYS' }), 400, 'invalid'),
      refused('a priority beyond the last', line, rule({ priority: 70_000 }), 400, 'invalid'),
      refused('a tag in capitals', line, rule({ targetTags: ['SSH'] }), 400, 'invalid'),
      refused(
        'another direction later',
        `PATCH ${root}/global/firewalls/allow-ssh`,
        { name: 'allow-ssh', direction: 'EGRESS' },
        400,
        'invalid',
      ),
    ]);
  });

  describe('of routers and addresses', () => {
    const routers = `POST ${root}/regions/${region}/routers`;
    const addresses = `POST ${root}/regions/${region}/addresses`;
    itRefuses(here, [
      refused('a router without network', routers, { name: 'other' }, 400, 'required'),
      refused(
        'a NAT without a way to get addresses',
        routers,
        nat({ natIpAllocateOption: undefined }),
        400,
        'required',
      ),
      refused('an automatic NAT with addresses', routers, nat({ natIps: ['x'] }), 400, 'invalid'),
      refused('a manual NAT without', routers, nat({ natIpAllocateOption: 'MANUAL_ONLY' }), 400, 'invalid'),
      refused(
        'a NAT of listed subnetworks, none listed',
        routers,
        nat({ sourceSubnetworkIpRangesToNat: 'LIST_OF_SUBNETWORKS' }),
        400,
        'invalid',
      ),
      refused('an address that exists', addresses, { name: 'gateway' }, 409, 'alreadyExists'),
      refused(
        'an address of a kind that there is not',
        addresses,
        { name: 'other', addressType: 'MARTIAN' },
        400,
        'invalid',
      ),
      refused(
        'an internal address without subnetwork',
        addresses,
        { name: 'other', addressType: 'INTERNAL' },
        400,
        'required',
      ),
      refused(
        'an internal address from elsewhere',
        addresses,
        {
          name: 'other',
          addressType: 'INTERNAL',
          subnetwork: `regions/${region}/subnetworks/sub`,
          address: '10.99.0.1',
        },
        400,
        'invalid',
      ),
      refused('an external address of one’s choice', addresses, { name: 'other', address: '8.8.8.8' }, 400, 'invalid'),
    ]);
  });

  describe('of instances', () => {
    const line = `POST ${instances}`;
    const nic = { subnetwork: `regions/${region}/subnetworks/sub` };
    itRefuses(here, [
      refused('no machine type', line, vmBody('vm', { machineType: undefined }), 400, 'required'),
      refused(
        'a machine type that there is not',
        line,
        vmBody('vm', { machineType: `zones/${zone}/machineTypes/e9-huge` }),
        400,
        'invalid',
        /Machine type with name 'e9-huge' does not exist in zone/,
      ),
      refused(
        'a machine type of another zone',
        line,
        vmBody('vm', { machineType: 'zones/europe-west4-b/machineTypes/e2-medium' }),
        400,
        'invalid',
      ),
      refused('no disks', line, vmBody('vm', { disks: [] }), 400, 'invalid', /No disks are specified/),
      refused('no boot disk', line, vmBody('vm', { disks: [{ ...disk({}), boot: false }] }), 400, 'invalid'),
      refused(
        'a boot disk of nothing',
        line,
        vmBody('vm', { disks: [{ boot: true, initializeParams: {} }] }),
        400,
        'invalid',
      ),
      refused(
        'an image family that there is not',
        line,
        vmBody('vm', { disks: [disk({ sourceImage: 'projects/ubuntu-os-cloud/global/images/family/none' })] }),
        404,
        'notFound',
      ),
      refused(
        'a disk smaller than its image',
        line,
        vmBody('vm', { disks: [disk({ diskSizeGb: '5' })] }),
        400,
        'invalid',
      ),
      refused(
        'a disk type that there is not',
        line,
        vmBody('vm', { disks: [disk({ diskType: `zones/${zone}/diskTypes/pd-cheap` })] }),
        400,
        'invalid',
      ),
      refused(
        'a disk whose name is taken',
        line,
        vmBody('vm', { disks: [disk({ diskName: 'jumpbox' })] }),
        409,
        'alreadyExists',
      ),
      refused(
        'no network interface',
        line,
        vmBody('vm', { networkInterfaces: [] }),
        400,
        'invalid',
        /At least one network interface is required/,
      ),
      refused(
        'a custom network without subnetwork',
        line,
        vmBody('vm', { networkInterfaces: [{ network: 'global/networks/net' }] }),
        400,
        'invalid',
        /Subnetwork should be specified for custom subnetmode network/,
      ),
      refused(
        'a subnetwork that is not there',
        line,
        vmBody('vm', { networkInterfaces: [{ subnetwork: `regions/${region}/subnetworks/none` }] }),
        400,
        'invalid',
        /The referenced subnetwork resource cannot be found/,
      ),
      refused(
        'a subnetwork of another region',
        `POST ${root}/zones/europe-west1-b/instances`,
        { ...vmBody('vm'), machineType: 'zones/europe-west1-b/machineTypes/e2-medium', disks: [disk({})] },
        400,
        'invalid',
      ),
      refused(
        'an address outside the subnetwork',
        line,
        vmBody('vm', { networkInterfaces: [{ ...nic, networkIP: '10.99.0.5' }] }),
        400,
        'invalid',
      ),
      refused(
        'an internal address in use',
        line,
        vmBody('vm', { networkInterfaces: [{ ...nic, networkIP: '10.10.0.2' }] }),
        400,
        'resourceInUseByAnotherResource',
      ),
      refused(
        'an external address that nobody reserved',
        line,
        vmBody('vm', { networkInterfaces: [{ ...nic, accessConfigs: [{ natIP: '8.8.8.8' }] }] }),
        400,
        'invalid',
      ),
      refused(
        'the same metadata key twice',
        line,
        vmBody('vm', {
          metadata: {
            items: [
              { key: 'a', value: '1' },
              { key: 'a', value: '2' },
            ],
          },
        }),
        400,
        'invalid',
        /duplicate keys: a/,
      ),
      refused(
        'a metadata key with a space',
        line,
        vmBody('vm', { metadata: { items: [{ key: 'a b', value: '1' }] } }),
        400,
        'invalid',
      ),
      refused('a label in capitals', line, vmBody('vm', { labels: { Team: 'a' } }), 400, 'invalid'),
      refused(
        'a spot VM that restarts by itself',
        line,
        vmBody('vm', { scheduling: { provisioningModel: 'SPOT', automaticRestart: true } }),
        400,
        'invalid',
        /automaticRestart be false/,
      ),
      refused(
        'a spot VM that migrates',
        line,
        vmBody('vm', { scheduling: { provisioningModel: 'SPOT', onHostMaintenance: 'MIGRATE' } }),
        400,
        'invalid',
      ),
      refused(
        'a termination action of a standard VM',
        line,
        vmBody('vm', { scheduling: { instanceTerminationAction: 'STOP' } }),
        400,
        'invalid',
      ),
      refused(
        'a service account that is not there',
        line,
        vmBody('vm', { serviceAccounts: [{ email: 'none@ready-project.iam.gserviceaccount.com', scopes: [] }] }),
        404,
        'notFound',
        /^The resource 'none@ready-project\.iam\.gserviceaccount\.com' of type 'serviceAccount' was not found\.$/,
      ),
      refused('a VM that exists', line, vmBody('jumpbox'), 409, 'alreadyExists'),
      refused(
        'a zone that is not there',
        `POST ${root}/zones/europe-west4-z/instances`,
        vmBody('vm'),
        400,
        'invalid',
        /Unknown zone/,
      ),
      refused(
        'metadata with a stale fingerprint',
        `POST ${instances}/jumpbox/setMetadata`,
        { fingerprint: 'c3RhbGU=', items: [] },
        412,
        'conditionNotMet',
        /^Supplied fingerprint does not match current metadata fingerprint\.$/,
      ),
      refused(
        'labels without a fingerprint',
        `POST ${instances}/jumpbox/setLabels`,
        { labels: { a: 'b' } },
        412,
        'conditionNotMet',
      ),
      refused(
        'another machine type while it runs',
        `POST ${instances}/jumpbox/setMachineType`,
        { machineType: `zones/${zone}/machineTypes/e2-small` },
        400,
        'instanceNotStopped',
      ),
      refused('resuming one that runs', `POST ${instances}/jumpbox/resume`, undefined, 400, 'invalid'),
      refused(
        'guest attributes that nobody wrote',
        `GET ${instances}/jumpbox/getGuestAttributes?queryPath=other/`,
        undefined,
        404,
        'notFound',
        /of type 'Guest Attribute' was not found/,
      ),
      refused('a fifth serial port', `GET ${instances}/jumpbox/serialPort?port=5`, undefined, 400, 'invalidParameter'),
      refused(
        'removing a disk in use',
        `DELETE ${root}/zones/${zone}/disks/jumpbox`,
        undefined,
        400,
        'resourceInUseByAnotherResource',
      ),
      refused(
        'an operation that never was',
        `GET ${root}/zones/${zone}/operations/operation-1`,
        undefined,
        404,
        'notFound',
      ),
    ]);
  });

  it('changes nothing by all of that', async () => {
    const { body } = await cloud.call('compute', `GET ${instances}`);
    const names = (body['items'] as { name: string }[]).map(({ name }) => name);
    if (names.join() !== 'jumpbox') throw new Error(`there are ${names.join()}`);
  });
});
