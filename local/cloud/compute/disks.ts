/** Compute's disks and snapshots. Most disks are made together with an instance. */
import type { Handler, JsonObject, Served, World } from '../kernel/api.js';
import { numberOf, objectsOf, textOf, textsOf } from '../kernel/json-fields.js';
import { checkDiskType } from './catalog.js';
import { beginInsert, type Change, defineCollection, type Found, relabelled, type Wanted } from './collection.js';
import { guestOsFeatures, imageFrom } from './images.js';
import { once } from './operations.js';
import { checkQuota, isSsd } from './quotas.js';
import {
  checkLabels,
  collections,
  findReady,
  fingerprint,
  freshPath,
  type Held,
  held,
  inUse,
  invalid,
  lastOf,
  link,
  type Place,
  placeOf,
  required,
  serverFields,
  unlink,
} from './resources.js';

const { disks, snapshots } = collections;

const largestGb = 65_536;

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
  checkDiskType(type, `${wish.field}.${wish.sizeField === 'sizeGb' ? 'type' : 'diskType'}`, wish.type ?? '');
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

export function disksOf(resource: JsonObject): { path: string; autoDelete: boolean }[] {
  return objectsOf(resource['disks']).map((disk) => ({
    path: unlink(textOf(disk['source']) ?? ''),
    autoDelete: disk['autoDelete'] === true,
  }));
}

// --- snapshots ------------------------------------------------------------------------------------------------------

const makeSnapshot = (name: string, source: string | undefined): Handler =>
  once((call, world) => {
    const at = placeOf(call, world);
    const place: Place = { ...at, scope: 'global', prefix: `projects/${at.project.projectId}/global` };
    const path = freshPath(call.body, place, world, snapshots);
    checkQuota(world, { ...place, region: undefined }, 'SNAPSHOTS');
    const disk = source === undefined ? findReady(call, world, disks).path : unlink(textOf(call.body[source]) ?? '');
    const from = held(world, disks)[disk];
    if (from === undefined) throw required('resource.sourceDisk');
    const labels = checkLabels(call.body['labels']);
    const resource = {
      ...call.body,
      ...serverFields(path, snapshots, world),
      status: 'CREATING',
      sourceDisk: link(disk),
      sourceDiskId: from.resource['id'] ?? '',
      diskSizeGb: from.resource['sizeGb'] ?? '10',
      storageBytes: '0',
      labelFingerprint: fingerprint(labels),
    };
    return beginInsert(call, world, at, { of: snapshots, path, resource, seconds: 20, type: name });
  });

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

const plainDisks = defineCollection({
  of: disks,
  scope: 'zone',
  seconds: { insert: 5, change: 4, delete: 5 },
  make,
  changes: { resize: resized, setLabels: relabelled },
  made: setReady,
  beforeDelete: checkUser,
});

const plainSnapshots = defineCollection({
  of: snapshots,
  seconds: { change: 4, delete: 5 },
  changes: { setLabels: relabelled },
  made: setReady,
});

export const servedDisks: Served = {
  handlers: {
    ...plainDisks.handlers,
    ...plainSnapshots.handlers,
    'compute.disks.createSnapshot': makeSnapshot('createSnapshot', undefined),
    'compute.snapshots.insert': makeSnapshot('insert', 'sourceDisk'),
  },
  effects: { ...plainDisks.effects, ...plainSnapshots.effects },
};
