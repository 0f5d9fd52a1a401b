/** Checks the body of an instance insert. Makes the instance and the disks it asks for. */
import { GoogleError, type JsonObject, type World } from '../kernel/api.js';
import { flagOf, numberOf, objectOf, objectsOf, textOf, textsOf } from '../kernel/json-fields.js';
import { regionOf } from '../kernel/places.js';
import { reservedIn, takenIn } from './addresses.js';
import { defaultAccountOf } from './default-network.js';
import { diskFrom } from './disks.js';
import { guestOsFeatures } from './images.js';
import { contains, parseIp, parseRange } from './ip-ranges.js';
import { checkMachineTypeLimit, machineTypeOf } from './machine-types.js';
import { metadataFrom } from './metadata.js';
import {
  alreadyExists,
  checkLabels,
  checkName,
  collections,
  fingerprint,
  type Held,
  held,
  inUse,
  invalid,
  lastOf,
  link,
  notFound,
  notReady,
  type Place,
  pathOf,
  required,
  serverFields,
  stamp,
  unlink,
} from './resources.js';
import { ensureAutoSubnetworks } from './subnetworks.js';

const { instances, disks, networks, subnetworks } = collections;

export interface Wanted {
  readonly instance: Held;
  /** New disks by path. */
  readonly disks: readonly (readonly [string, Held])[];
  readonly attached: readonly string[];
  readonly provisioning: 'SPOT' | 'PREEMPTIBLE' | 'STANDARD';
}

export function wantedInstance(body: JsonObject, path: string, place: Place, world: World): Wanted {
  const machineType = machineTypeFrom(body, place, world);
  const { attachedDisks, made, attached } = disksFrom(body, path, place, world);
  const networkInterfaces = interfacesFrom(body, place, world);
  const scheduling = schedulingFrom(objectOf(body['scheduling']) ?? {});
  const metadata = metadataFrom(objectOf(body['metadata']), 'resource.metadata');
  const labels = checkLabels(body['labels']);
  const tags = tagsFrom(objectOf(body['tags']), 'resource.tags');
  const serviceAccounts = accountsFrom(body, place, world);
  const description = textOf(body['description']);
  const hostname = textOf(body['hostname']);
  const resource: JsonObject = {
    ...serverFields(path, instances, world),
    name: lastOf(path),
    ...(description === undefined ? {} : { description }),
    ...(hostname === undefined ? {} : { hostname }),
    tags,
    machineType: link(machineType),
    status: 'PROVISIONING',
    zone: link(`projects/${place.project.projectId}/${place.scope}`),
    canIpForward: flagOf(body['canIpForward']) ?? false,
    networkInterfaces,
    disks: attachedDisks,
    metadata,
    ...(serviceAccounts.length === 0 ? {} : { serviceAccounts }),
    scheduling,
    cpuPlatform: 'Unknown CPU Platform',
    ...(Object.keys(labels).length === 0 ? {} : { labels }),
    labelFingerprint: fingerprint(labels),
    startRestricted: false,
    deletionProtection: flagOf(body['deletionProtection']) ?? false,
    reservationAffinity: body['reservationAffinity'] ?? { consumeReservationType: 'ANY_RESERVATION' },
    shieldedInstanceConfig: body['shieldedInstanceConfig'] ?? {
      enableSecureBoot: false,
      enableVtpm: true,
      enableIntegrityMonitoring: true,
    },
    shieldedInstanceIntegrityPolicy: { updateAutoLearnPolicy: true },
    fingerprint: fingerprint([path, world.id()]),
    lastStartTimestamp: stamp(world.now()),
  };
  return { instance: { phase: 'making', resource }, disks: made, attached, provisioning: provisioningOf(scheduling) };
}

// --- machine type ---------------------------------------------------------------------------------------------------

export function machineTypeFrom(body: JsonObject, place: Place, world: World): string {
  const given = textOf(body['machineType']);
  if (given === undefined || given === '') throw required('resource.machineType');
  const path = pathOf(given, 'resource.machineType', place, world);
  const match = /^projects\/[^/]+\/zones\/([^/]+)\/machineTypes\/(.+)$/.exec(path);
  if (match === null) throw invalid('resource.machineType', given, 'The URL is malformed.');
  const [, zone, name = ''] = match;
  if (zone !== place.zone) {
    throw invalid('resource.machineType', given, `Machine type must be in the zone of the instance, '${place.zone}'.`);
  }
  const isCustom = /^(\w+-)?custom-\d+-\d+$/.test(name);
  if (machineTypeOf(name) === undefined && !isCustom) {
    checkMachineTypeLimit(name);
    throw invalid(
      'resource.machineType',
      given,
      `Machine type with name '${name}' does not exist in zone '${place.zone}'.`,
    );
  }
  return path;
}

// --- disks ----------------------------------------------------------------------------------------------------------

function disksFrom(body: JsonObject, path: string, place: Place, world: World) {
  const given = objectsOf(body['disks']);
  const boots = given.filter((disk) => disk['boot'] === true);
  if (given.length === 0) throw invalid('resource.disks', '', 'No disks are specified.');
  if (boots.length !== 1 || given[0] !== boots[0]) {
    throw invalid(
      'resource.disks[0].boot',
      String(given[0]?.['boot'] ?? false),
      'Exactly one disk, the first, must be the boot disk.',
    );
  }
  const made: [string, Held][] = [];
  const attached: string[] = [];
  const attachedDisks = given.map((disk, index): JsonObject => {
    const field = `resource.disks[${index}]`;
    const wish = objectOf(disk['initializeParams']);
    const source = textOf(disk['source']);
    if ((wish === undefined) === (source === undefined)) {
      throw invalid(field, '', 'Exactly one of source and initializeParams must be specified.');
    }
    const at = wish === undefined ? existingDisk(source ?? '', field, place, world) : newDisk(disk, wish, index);
    const one = made.find(([disk]) => disk === at)?.[1] ?? held(world, disks)[at];
    if (wish === undefined) attached.push(at);
    const boot = index === 0;
    return {
      kind: 'compute#attachedDisk',
      type: 'PERSISTENT',
      mode: textOf(disk['mode']) ?? 'READ_WRITE',
      source: link(at),
      deviceName: textOf(disk['deviceName']) ?? (boot ? 'persistent-disk-0' : `persistent-disk-${index}`),
      index,
      boot,
      autoDelete: flagOf(disk['autoDelete']) ?? false,
      interface: textOf(disk['interface']) ?? 'SCSI',
      diskSizeGb: String(one?.resource['sizeGb'] ?? '10'),
      ...(boot ? { licenses: one?.resource['licenses'] ?? [], guestOsFeatures, architecture: 'X86_64' } : {}),
    };
  });
  return { attachedDisks, made, attached };

  function newDisk(disk: JsonObject, wish: JsonObject, index: number): string {
    const field = `resource.disks[${index}].initializeParams`;
    if (index === 0 && wish['sourceImage'] === undefined && wish['sourceSnapshot'] === undefined) {
      throw invalid('resource.disks[0]', '', 'Boot disk must have a source specified.');
    }
    const name = textOf(wish['diskName']) ?? (index === 0 ? lastOf(path) : `${lastOf(path)}-${index}`);
    checkName(name, `${field}.diskName`);
    const at = `${place.prefix}/disks/${name}`;
    if (held(world, disks)[at] !== undefined || made.some(([other]) => other === at)) throw alreadyExists(at);
    const filled = diskFrom(
      {
        sourceImage: textOf(wish['sourceImage']),
        sizeGb: numberOf(wish['diskSizeGb'] ?? disk['diskSizeGb']),
        type: textOf(wish['diskType']),
        labels: objectOf(wish['labels']),
        field,
        sizeField: 'diskSizeGb',
      },
      at,
      place,
      world,
    );
    filled.resource['users'] = [link(path)];
    made.push([at, filled]);
    return at;
  }
}

/** The path of a disk that a VM may take: it exists, is ready and has no user. */
export function existingDisk(source: string, field: string, place: Place, world: World): string {
  const at = pathOf(source, `${field}.source`, place, world);
  const found = held(world, disks)[at];
  if (found === undefined) throw notFound(at);
  if (found.phase !== 'ready') throw notReady(at);
  const [user] = textsOf(found.resource['users']);
  if (user !== undefined) throw inUse('disk', at, unlink(user));
  return at;
}

// --- network interfaces ---------------------------------------------------------------------------------------------

function interfacesFrom(body: JsonObject, place: Place, world: World): JsonObject[] {
  const given = objectsOf(body['networkInterfaces']);
  if (given.length === 0) {
    throw invalid('resource.networkInterfaces', '', 'At least one network interface is required.');
  }
  return given.map((nic, index) => {
    const field = `resource.networkInterfaces[${index}]`;
    const { network, subnetwork } = networksOf(nic, field, place, world);
    const networkIP = textOf(nic['networkIP']);
    if (networkIP !== undefined && subnetwork !== undefined) checkInternalIp(networkIP, subnetwork, field, world);
    const accessConfigs = objectsOf(nic['accessConfigs']).map((access, at) =>
      accessConfigFrom(access, `${field}.accessConfigs[${at}]`, place, world),
    );
    if (accessConfigs.length > 1)
      throw invalid(`${field}.accessConfigs`, '', 'At most one access config currently supported.');
    return {
      kind: 'compute#networkInterface',
      name: `nic${index}`,
      network: link(network),
      ...(subnetwork === undefined ? {} : { subnetwork: link(subnetwork) }),
      ...(networkIP === undefined ? {} : { networkIP }),
      ...(accessConfigs.length === 0 ? {} : { accessConfigs }),
      stackType: textOf(nic['stackType']) ?? 'IPV4_ONLY',
      fingerprint: fingerprint([network, subnetwork ?? null, accessConfigs]),
    };
  });
}

function networksOf(
  nic: JsonObject,
  field: string,
  place: Place,
  world: World,
): { network: string; subnetwork?: string } {
  const subnetReference = textOf(nic['subnetwork']);
  const networkReference =
    textOf(nic['network']) ?? (subnetReference === undefined ? 'global/networks/default' : undefined);
  if (subnetReference !== undefined) {
    const path = pathOf(subnetReference, `${field}.subnetwork`, place, world);
    if (lastOf(path) === 'default') ensureAutoSubnetworks(world, place.project.projectId);
    const found = held(world, subnetworks)[path];
    if (found === undefined) {
      throw invalid(`${field}.subnetwork`, subnetReference, 'The referenced subnetwork resource cannot be found.');
    }
    if (found.phase !== 'ready') throw notReady(path);
    if (path.split('/')[3] !== regionOf(place.zone ?? '')) {
      throw invalid(`${field}.subnetwork`, subnetReference, 'The subnetwork must be in the region of the instance.');
    }
    const network = unlink(String(found.resource['network']));
    if (networkReference !== undefined && pathOf(networkReference, `${field}.network`, place, world) !== network) {
      throw invalid(`${field}.network`, networkReference, 'The network does not match the network of the subnetwork.');
    }
    return { network, subnetwork: path };
  }
  const network = pathOf(networkReference ?? '', `${field}.network`, place, world);
  const found = held(world, networks)[network];
  if (found === undefined) {
    throw invalid(`${field}.network`, networkReference ?? '', 'The referenced network resource cannot be found.');
  }
  if (found.phase !== 'ready') throw notReady(network);
  if (found.resource['autoCreateSubnetworks'] !== true) {
    throw invalid(field, '', 'Subnetwork should be specified for custom subnetmode network');
  }
  const project = network.split('/')[1] ?? '';
  ensureAutoSubnetworks(world, project);
  return {
    network,
    subnetwork: `projects/${project}/regions/${regionOf(place.zone ?? '')}/subnetworks/${lastOf(network)}`,
  };
}

function checkInternalIp(ip: string, subnetwork: string, field: string, world: World): void {
  const range = parseRange(String(held(world, subnetworks)[subnetwork]?.resource['ipCidrRange']));
  const value = parseIp(ip);
  if (value === undefined || range === undefined || !contains(range, value)) {
    throw invalid(`${field}.networkIP`, ip, 'Requested internal IP address is outside the subnetwork range.');
  }
  const reserved = Object.values(held(world, collections.addresses)).some(
    ({ resource }) =>
      resource['address'] === ip &&
      unlink(String(resource['subnetwork'])) === subnetwork &&
      resource['users'] === undefined,
  );
  if (!reserved && takenIn(world, subnetwork).has(ip)) {
    throw new GoogleError(400, 'FAILED_PRECONDITION', `IP '${ip}' is already being used by another resource.`, {
      reason: 'resourceInUseByAnotherResource',
    });
  }
}

export function accessConfigFrom(access: JsonObject, field: string, place: Place, world: World): JsonObject {
  const natIP = textOf(access['natIP']);
  if (natIP !== undefined && natIP !== '') {
    const reserved = reservedIn(world, place, natIP);
    if (reserved === undefined) {
      throw invalid(
        `${field}.natIP`,
        natIP,
        `The specified external IP address '${natIP}' was not found in region '${place.region}'.`,
      );
    }
    const [user] = textsOf(reserved.found.resource['users']);
    if (user !== undefined) throw inUse('address', reserved.path, unlink(user));
  }
  return {
    kind: 'compute#accessConfig',
    type: 'ONE_TO_ONE_NAT',
    name: textOf(access['name']) ?? 'External NAT',
    networkTier: textOf(access['networkTier']) ?? 'PREMIUM',
    ...(natIP === undefined || natIP === '' ? {} : { natIP }),
  };
}

// --- the rest -------------------------------------------------------------------------------------------------------

/** Spot and preemptible VMs must be stoppable at any time. Google refuses settings that contradict that. */
export function schedulingFrom(given: JsonObject): JsonObject {
  const isSpot = given['provisioningModel'] === 'SPOT';
  const preemptible = flagOf(given['preemptible']) ?? isSpot;
  const onHostMaintenance = textOf(given['onHostMaintenance']) || (preemptible ? 'TERMINATE' : 'MIGRATE');
  const automaticRestart = flagOf(given['automaticRestart']) ?? !preemptible;
  const action = textOf(given['instanceTerminationAction']);
  if (isSpot && !preemptible) {
    throw invalid('resource.scheduling.preemptible', 'false', 'A VM of provisioning model SPOT is preemptible.');
  }
  if (preemptible && automaticRestart) {
    throw invalid(
      'resource.scheduling.automaticRestart',
      'true',
      'Scheduling must have automaticRestart be false when preemptible is true.',
    );
  }
  if (preemptible && onHostMaintenance !== 'TERMINATE') {
    throw invalid(
      'resource.scheduling.onHostMaintenance',
      onHostMaintenance,
      "Scheduling must have preemptible be false when OnHostMaintenance isn't TERMINATE.",
    );
  }
  if (
    action !== undefined &&
    action !== 'INSTANCE_TERMINATION_ACTION_UNSPECIFIED' &&
    !isSpot &&
    given['maxRunDuration'] === undefined
  ) {
    throw invalid(
      'resource.scheduling.instanceTerminationAction',
      action,
      'You cannot specify a termination action for a VM instance that has the standard provisioning model.',
    );
  }
  // Terraform's provider writes `[null]` for no affinities.
  const { nodeAffinities, ...rest } = given;
  const affinities = objectsOf(nodeAffinities);
  return {
    ...rest,
    ...(affinities.length === 0 ? {} : { nodeAffinities: affinities }),
    onHostMaintenance,
    automaticRestart,
    preemptible,
    provisioningModel: textOf(given['provisioningModel']) || 'STANDARD',
  };
}

export function provisioningOf(scheduling: JsonObject): Wanted['provisioning'] {
  if (scheduling['provisioningModel'] === 'SPOT') return 'SPOT';
  return scheduling['preemptible'] === true ? 'PREEMPTIBLE' : 'STANDARD';
}

export function tagsFrom(given: JsonObject | undefined, field: string): JsonObject {
  const items = textsOf(given?.['items']);
  for (const [index, tag] of items.entries()) checkName(tag, `${field}.items[${index}]`);
  if (items.length > 64) throw invalid(`${field}.items`, String(items.length), 'At most 64 tags are allowed.');
  const unique = [...new Set(items)];
  return { fingerprint: fingerprint(unique), ...(unique.length === 0 ? {} : { items: unique }) };
}

export function accountsFrom(body: JsonObject, place: Place, world: World): JsonObject[] {
  const given = objectsOf(body['serviceAccounts']);
  if (given.length > 1) throw invalid('resource.serviceAccounts', '', 'At most one service account is allowed.');
  return given.map((account, index) => {
    const byDefault = defaultAccountOf(place.project);
    const wanted = textOf(account['email']) ?? 'default';
    const email = wanted === 'default' ? byDefault : wanted;
    if (!/^[^@\s]+@[^@\s]+$/.test(email)) {
      throw invalid(
        `resource.serviceAccounts[${index}].email`,
        email,
        'Must be an email address of a service account.',
      );
    }
    if (!serviceAccountExists(world, email)) {
      throw new GoogleError(404, 'NOT_FOUND', `The resource '${email}' of type 'serviceAccount' was not found.`, {
        reason: 'notFound',
      });
    }
    return { email, scopes: textsOf(account['scopes']) };
  });
}

const serviceAccountExists = (world: World, email: string): boolean =>
  world.table('iam.serviceAccounts')[email.toLowerCase()] !== undefined;
