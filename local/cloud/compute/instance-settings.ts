/** Changes of what a VM carries: metadata, tags, labels, machine type, account, scheduling, public addresses, disks, protection. */
import { type CloudCall, GoogleError, type Handler, type JsonObject, type World } from '../kernel/api.js';
import { flagOf, numberOf, objectOf, objectsOf, textOf } from '../kernel/json-fields.js';
import { freshExternalIp, useAddresses } from './addresses.js';
import {
  accessConfigFrom,
  accountsFrom,
  existingDisk,
  machineTypeFrom,
  schedulingFrom,
  tagsFrom,
} from './instance-request.js';
import { metadataFrom } from './metadata.js';
import { begin, once } from './operations.js';
import { checkQuota } from './quotas.js';
import {
  checkLabels,
  collections,
  conditionNotMet,
  findReady,
  fingerprint,
  type Held,
  held,
  invalid,
  link,
  type Place,
  required,
  sameFingerprint,
  unlink,
} from './resources.js';

const { instances, disks } = collections;

/** Begins an operation on a VM. */
export function change(
  call: CloudCall,
  world: World,
  place: Place,
  path: string,
  found: Held,
  type: string,
  seconds: number,
  effect: string,
): JsonObject {
  const id = String(found.resource['id']);
  return begin(call, world, place, { type, target: path, targetId: id, seconds, effect, args: { id } });
}

type Setter = (found: Held, call: CloudCall, world: World, place: Place) => JsonObject;

/** Changes some fields, in an operation of its own. */
const setting = (type: string, fields: Setter, needs?: 'TERMINATED'): Handler =>
  once((call, world) => {
    const { path, found, place } = findReady(call, world, instances);
    const status = textOf(found.resource['status']);
    if (needs !== undefined && status !== needs) {
      throw new GoogleError(
        400,
        'FAILED_PRECONDITION',
        `The instance '${path}' must be stopped for that; it is ${status}.`,
        {
          reason: 'instanceNotStopped',
        },
      );
    }
    found.resource = { ...found.resource, ...fields(found, call, world, place) };
    return change(call, world, place, path, found, type, 4, 'compute.instances.changed');
  });

function checkFingerprint(given: string | undefined, current: string | undefined, words: string): void {
  if (!sameFingerprint(given, current)) throw conditionNotMet(words);
}

const setMetadata: Setter = (found, call) => {
  const current = objectOf(found.resource['metadata']);
  checkFingerprint(
    textOf(call.body['fingerprint']),
    textOf(current?.['fingerprint']),
    'Supplied fingerprint does not match current metadata fingerprint.',
  );
  return { metadata: metadataFrom(call.body, '') };
};

const setTags: Setter = (found, call) => {
  const current = objectOf(found.resource['tags']);
  checkFingerprint(
    textOf(call.body['fingerprint']),
    textOf(current?.['fingerprint']),
    'Supplied fingerprint does not match current tags fingerprint.',
  );
  return { tags: tagsFrom(call.body, '') };
};

const setLabels: Setter = (found, call) => {
  checkFingerprint(
    textOf(call.body['labelFingerprint']),
    textOf(found.resource['labelFingerprint']),
    'Labels fingerprint either invalid or resource labels have changed',
  );
  const labels = checkLabels(call.body['labels'], 'labels');
  return { labels, labelFingerprint: fingerprint(labels) };
};

const setMachineType: Setter = (_found, call, world, place) => ({
  machineType: link(machineTypeFrom(call.body, place, world)),
});

const setServiceAccount: Setter = (_found, call, world, place) => {
  const { email, scopes } = call.body;
  if (email === undefined || email === '') return { serviceAccounts: [] };
  return { serviceAccounts: accountsFrom({ serviceAccounts: [{ email, scopes: scopes ?? [] }] }, place, world) };
};

const setScheduling: Setter = (found, call) => ({
  scheduling: schedulingFrom({ ...objectOf(found.resource['scheduling']), ...call.body }),
});

function nicOf(found: Held, call: CloudCall): { nics: JsonObject[]; nic: JsonObject } {
  const name = call.params['networkInterface'] ?? '';
  const nics = objectsOf(found.resource['networkInterfaces']);
  const nic = nics.find((one) => one['name'] === name);
  if (nic === undefined) throw invalid('networkInterface', name, 'The instance has no such network interface.');
  return { nics, nic };
}

const addAccessConfig: Setter = (found, call, world, place) => {
  const { nics, nic } = nicOf(found, call);
  if (objectsOf(nic['accessConfigs']).length > 0) {
    throw invalid('networkInterface', String(nic['name']), 'At most one access config currently supported.');
  }
  checkQuota(world, place, 'IN_USE_ADDRESSES');
  const access = accessConfigFrom(call.body, 'resource', place, world);
  const natIP = textOf(access['natIP']) ?? freshExternalIp(world);
  useAddresses(world, place, [natIP], `${place.prefix}/instances/${found.resource['name']}`, true);
  const changed = { ...nic, accessConfigs: [{ ...access, natIP }] };
  return { networkInterfaces: nics.map((one) => (one === nic ? changed : one)) };
};

const deleteAccessConfig: Setter = (found, call, world, place) => {
  const { nics, nic } = nicOf(found, call);
  const name = call.params['accessConfig'];
  const [access] = objectsOf(nic['accessConfigs']);
  if (access === undefined || access['name'] !== name)
    throw invalid('accessConfig', name ?? '', 'There is no such access config.');
  const ips = [textOf(access['natIP']) ?? ''];
  useAddresses(world, place, ips, `${place.prefix}/instances/${found.resource['name']}`, false);
  const { accessConfigs: _gone, ...rest } = nic;
  return { networkInterfaces: nics.map((one) => (one === nic ? rest : one)) };
};

const setDeletionProtection: Setter = (_found, call) => ({
  deletionProtection: call.params['deletionProtection'] !== 'false',
});

// --- disks ----------------------------------------------------------------------------------------------------------

const attachDisk: Setter = (found, call, world, place) => {
  const source = textOf(call.body['source']);
  if (source === undefined || source === '') throw required('resource.source');
  const attached = objectsOf(found.resource['disks']);
  const path = existingDisk(source, 'resource', place, world);
  const disk = held(world, disks)[path];
  const index = Math.max(-1, ...attached.map((one) => numberOf(one['index']) ?? 0)) + 1;
  const deviceName = textOf(call.body['deviceName']) ?? `persistent-disk-${index}`;
  if (attached.some((one) => one['deviceName'] === deviceName)) {
    throw invalid(
      'resource.deviceName',
      deviceName,
      'The device name is already in use by another disk of the instance.',
    );
  }
  if (disk !== undefined) disk.resource['users'] = [link(`${place.prefix}/instances/${found.resource['name']}`)];
  const added: JsonObject = {
    kind: 'compute#attachedDisk',
    type: 'PERSISTENT',
    mode: textOf(call.body['mode']) ?? 'READ_WRITE',
    source: link(path),
    deviceName,
    index,
    boot: flagOf(call.body['boot']) ?? false,
    autoDelete: flagOf(call.body['autoDelete']) ?? false,
    interface: textOf(call.body['interface']) ?? 'SCSI',
    diskSizeGb: String(disk?.resource['sizeGb'] ?? ''),
  };
  return { disks: [...attached, added] };
};

/** The disk that a call names by its device. */
function attachedDisk(found: Held, call: CloudCall): { attached: JsonObject[]; disk: JsonObject } {
  const name = call.params['deviceName'] ?? '';
  const attached = objectsOf(found.resource['disks']);
  const disk = attached.find((one) => one['deviceName'] === name);
  if (disk === undefined) throw invalid('disk', name, `No attached disk found with device name '${name}'`);
  return { attached, disk };
}

const detachDisk: Setter = (found, call, world) => {
  const { attached, disk } = attachedDisk(found, call);
  if (disk['boot'] === true && found.resource['status'] !== 'TERMINATED') {
    throw invalid(
      'disk',
      String(disk['deviceName']),
      'The boot disk can be detached only while the instance is stopped.',
    );
  }
  const freed = held(world, disks)[unlink(String(disk['source']))];
  if (freed !== undefined) {
    const { users: _users, ...rest } = freed.resource;
    freed.resource = rest;
  }
  return { disks: attached.filter((one) => one !== disk) };
};

const setDiskAutoDelete: Setter = (found, call) => {
  const { attached, disk } = attachedDisk(found, call);
  const changed = { ...disk, autoDelete: call.params['autoDelete'] === 'true' };
  return { disks: attached.map((one) => (one === disk ? changed : one)) };
};

export const instanceSettings: Readonly<Record<string, Handler>> = {
  'compute.instances.setMetadata': setting('setMetadata', setMetadata),
  'compute.instances.setTags': setting('setTags', setTags),
  'compute.instances.setLabels': setting('setLabels', setLabels),
  'compute.instances.setMachineType': setting('setMachineType', setMachineType, 'TERMINATED'),
  'compute.instances.setServiceAccount': setting('setServiceAccount', setServiceAccount, 'TERMINATED'),
  'compute.instances.setScheduling': setting('setScheduling', setScheduling),
  'compute.instances.addAccessConfig': setting('addAccessConfig', addAccessConfig),
  'compute.instances.deleteAccessConfig': setting('deleteAccessConfig', deleteAccessConfig),
  'compute.instances.setDeletionProtection': setting('setDeletionProtection', setDeletionProtection),
  'compute.instances.attachDisk': setting('attachDisk', attachDisk),
  'compute.instances.detachDisk': setting('detachDisk', detachDisk),
  'compute.instances.setDiskAutoDelete': setting('setDiskAutoDelete', setDiskAutoDelete),
};
