/** Compute's disks. Most disks are made together with an instance. */
import type { JsonObject, World } from '../kernel/api.js';
import { notSimulated } from '../kernel/errors.js';
import { numberOf, objectsOf, textOf, textsOf } from '../kernel/json-fields.js';
import { type Change, defineCollection, type Found, relabelled, type Wanted } from './collection.js';
import { guestOsFeatures, imageFrom } from './images.js';
import { checkQuota, isSsd } from './quotas.js';
import {
  checkLabels,
  collections,
  fingerprint,
  type Held,
  held,
  inUse,
  invalid,
  lastOf,
  link,
  type Place,
  required,
  serverFields,
  unlink,
} from './resources.js';

const { disks } = collections;

const largestGb = 65_536;
const types: readonly string[] = ['pd-standard', 'pd-balanced', 'pd-ssd', 'pd-extreme'];

export interface DiskWish {
  readonly sourceImage?: string | undefined;
  readonly sizeGb?: number | undefined;
  readonly type?: string | undefined;
  readonly labels?: JsonObject | undefined;
  /** The path of these in the body, for refusals. */
  readonly field: string;
  readonly sizeField: string;
}

/** A checked disk that is not in the state yet. */
export function diskFrom(wish: DiskWish, path: string, place: Place, world: World): Held {
  const image = wish.sourceImage === undefined ? undefined : imageFrom(wish.sourceImage, `${wish.field}.sourceImage`);
  const smallest = numberOf(image?.['diskSizeGb']) ?? 10;
  const type = wish.type === undefined ? 'pd-standard' : lastOf(wish.type);
  if (!types.includes(type)) {
    const field = `${wish.field}.${wish.sizeField === 'sizeGb' ? 'type' : 'diskType'}`;
    throw invalid(field, wish.type ?? '', `Disk type '${type}' does not exist.`);
  }
  const size = wish.sizeGb ?? (image === undefined ? (type === 'pd-standard' ? 500 : 100) : smallest);
  if (image !== undefined && size < smallest) {
    throw invalid(
      `${wish.field}.${wish.sizeField}`,
      String(size),
      `Disk size cannot be smaller than the size of the source image: '${smallest} GB'.`,
    );
  }
  if (
    size < 1 ||
    size > largestGb ||
    (size < 10 && type !== 'pd-standard' && type !== 'pd-ssd' && type !== 'pd-balanced')
  ) {
    throw invalid(`${wish.field}.${wish.sizeField}`, String(size), 'Disk size must be between 10 GB and 65536 GB.');
  }
  const labels = checkLabels(wish.labels, `${wish.field}.labels`);
  return {
    phase: 'making',
    resource: {
      ...serverFields(path, disks, world),
      name: lastOf(path),
      sizeGb: String(size),
      zone: link(`projects/${place.project.projectId}/${place.scope}`),
      status: 'CREATING',
      type: link(`projects/${place.project.projectId}/${place.scope}/diskTypes/${type}`),
      physicalBlockSizeBytes: '4096',
      labelFingerprint: fingerprint(labels),
      ...(Object.keys(labels).length === 0 ? {} : { labels }),
      ...(image === undefined
        ? {}
        : {
            sourceImage: image['selfLink'] ?? '',
            sourceImageId: image['id'] ?? '',
            licenses: image['licenses'] ?? [],
            guestOsFeatures,
            architecture: 'X86_64',
          }),
    },
  };
}

function make({ call, path, place }: Wanted, world: World): JsonObject {
  if (call.body['sourceSnapshot'] !== undefined) throw notSimulated('snapshots of disks');
  const wish: DiskWish = {
    sourceImage: call.params['sourceImage'] ?? textOf(call.body['sourceImage']),
    sizeGb: numberOf(call.body['sizeGb']),
    type: textOf(call.body['type']),
    labels: checkLabels(call.body['labels']),
    field: 'resource',
    sizeField: 'sizeGb',
  };
  const { resource } = diskFrom(wish, path, place, world);
  checkQuota(world, place, isSsd(resource) ? 'SSD_TOTAL_GB' : 'DISKS_TOTAL_GB', Number(resource['sizeGb']));
  const description = textOf(call.body['description']);
  return description === undefined ? resource : { ...resource, description };
}

function checkUser({ path, found }: Found): void {
  const [user] = textsOf(found.resource['users']);
  if (user !== undefined) throw inUse('disk', path, unlink(user));
  found.resource['status'] = 'DELETING';
}

/** The disks of a VM. */
export function disksOf(vm: JsonObject): { path: string; boot: boolean; autoDelete: boolean }[] {
  return objectsOf(vm['disks']).map((disk) => ({
    path: unlink(textOf(disk['source']) ?? ''),
    boot: disk['boot'] === true,
    autoDelete: disk['autoDelete'] === true,
  }));
}

const setReady = ({ resource }: Held): void => {
  resource['status'] = 'READY';
};

/** A disk only grows. The VM that uses it shows the new size too. */
const resized: Change = ({ path, found: { resource }, place }, body, world) => {
  const size = numberOf(body['sizeGb']);
  if (size === undefined) throw required('sizeGb');
  const stands = numberOf(resource['sizeGb']) ?? 0;
  if (size <= stands) {
    const why = `New disk size '${size}' GiB must be larger than existing size '${stands}' GiB.`;
    throw invalid('sizeGb', String(size), why);
  }
  if (size > largestGb) throw invalid('sizeGb', String(size), 'Disk size must be between 10 GB and 65536 GB.');
  checkQuota(world, place, isSsd(resource) ? 'SSD_TOTAL_GB' : 'DISKS_TOTAL_GB', size - stands);
  for (const user of textsOf(resource['users'])) {
    const vm = held(world, collections.instances)[unlink(user)];
    if (vm === undefined) continue;
    const attached = objectsOf(vm.resource['disks']).map((disk) =>
      unlink(String(disk['source'])) === path ? { ...disk, diskSizeGb: String(size) } : disk,
    );
    vm.resource = { ...vm.resource, disks: attached };
  }
  return { ...resource, sizeGb: String(size) };
};

export const servedDisks = defineCollection({
  of: disks,
  scope: 'zone',
  seconds: { insert: 5, change: 4, delete: 5 },
  make,
  changes: { resize: resized, setLabels: relabelled },
  made: setReady,
  beforeDelete: checkUser,
});
