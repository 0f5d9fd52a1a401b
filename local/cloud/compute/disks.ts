/** Compute's disks and their snapshots. Joined in compute.ts; instances bring most disks with them. */
import type { Effect, Handler, JsonObject, World } from '../kernel/api.js';
import { numberOf, objectsOf, textOf, textsOf } from '../kernel/json-fields.js';
import { checkDiskType } from './catalog.js';
import { guestOsFeatures, imageFrom } from './images.js';
import { begin, beginDelete, ending, once } from './operations.js';
import { checkQuota } from './quotas.js';
import {
  aggregatedReply,
  checkLabels,
  collections,
  find,
  findReady,
  fingerprint,
  freshPath,
  type Held,
  held,
  inUse,
  invalid,
  lastOf,
  link,
  listReply,
  type Place,
  placeOf,
  required,
  serverFields,
  unlink,
} from './resources.js';

const { disks, snapshots } = collections;

export interface DiskWish {
  readonly sourceImage?: string | undefined;
  readonly sizeGb?: number | undefined;
  readonly type?: string | undefined;
  readonly labels?: JsonObject | undefined;
  /** The way to these in the body, for refusals. */
  readonly field: string;
  readonly sizeField: string;
}

/** A disk as it will be, checked; not yet in the state. */
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
    size > 65_536 ||
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

const insert: Handler = (call, world) => {
  const place = placeOf(call, world);
  const path = freshPath(call.body, place, world, disks);
  const wish: DiskWish = {
    sourceImage: call.params['sourceImage'] ?? textOf(call.body['sourceImage']),
    sizeGb: numberOf(call.body['sizeGb']),
    type: textOf(call.body['type']),
    labels: checkLabels(call.body['labels']),
    field: 'resource',
    sizeField: 'sizeGb',
  };
  const made = diskFrom(wish, path, place, world);
  const ssd = ['pd-ssd', 'pd-balanced'].includes(lastOf(String(made.resource['type'])));
  checkQuota(world, place, ssd ? 'SSD_TOTAL_GB' : 'DISKS_TOTAL_GB', Number(made.resource['sizeGb']));
  if (textOf(call.body['description']) !== undefined)
    made.resource['description'] = textOf(call.body['description']) ?? '';
  held(world, disks)[path] = made;
  return begin(call, world, place, {
    type: 'insert',
    target: path,
    targetId: String(made.resource['id']),
    seconds: 5,
    effect: 'compute.disks.inserted',
  });
};

const remove: Handler = (call, world) => {
  const at = findReady(call, world, disks);
  const { path, found } = at;
  const [user] = textsOf(found.resource['users']);
  if (user !== undefined) throw inUse('disk', path, unlink(user));
  found.resource['status'] = 'DELETING';
  return beginDelete(call, world, at, disks, 5);
};

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
    const made: Held = {
      phase: 'making',
      resource: {
        ...call.body,
        ...serverFields(path, snapshots, world),
        status: 'CREATING',
        sourceDisk: link(disk),
        sourceDiskId: from.resource['id'] ?? '',
        diskSizeGb: from.resource['sizeGb'] ?? '10',
        storageBytes: '0',
        labelFingerprint: fingerprint(labels),
      },
    };
    held(world, snapshots)[path] = made;
    return begin(call, world, at, {
      type: name,
      target: path,
      targetId: String(made.resource['id']),
      seconds: 20,
      effect: 'compute.snapshots.made',
    });
  });

const removeSnapshot: Handler = (call, world) => {
  return beginDelete(call, world, findReady(call, world, snapshots), snapshots, 5);
};

export const diskHandlers: Record<string, Handler> = {
  'compute.disks.insert': once(insert),
  'compute.disks.delete': once(remove),
  'compute.disks.get': (call, world) => find(call, world, disks).found.resource,
  'compute.disks.list': (call, world) => listReply(call, world, disks),
  'compute.disks.aggregatedList': (call, world) => aggregatedReply(call, world, disks, 'zone'),
  'compute.disks.createSnapshot': makeSnapshot('createSnapshot', undefined),
  'compute.snapshots.insert': makeSnapshot('insert', 'sourceDisk'),
  'compute.snapshots.get': (call, world) => find(call, world, snapshots).found.resource,
  'compute.snapshots.list': (call, world) => listReply(call, world, snapshots),
  'compute.snapshots.delete': once(removeSnapshot),
};

function settle(collection: typeof disks | typeof snapshots, world: World, path: string): void {
  const one = held(world, collection)[path];
  if (one === undefined) return;
  one.phase = 'ready';
  one.resource['status'] = 'READY';
}

export const diskEffects: Record<string, Effect> = {
  'compute.disks.inserted': ending((path, _args, world) => {
    settle(disks, world, path);
    return undefined;
  }),
  'compute.disks.deleted': ending((path, _args, world) => {
    delete held(world, disks)[path];
    return undefined;
  }),
  'compute.snapshots.made': ending((path, _args, world) => {
    settle(snapshots, world, path);
    return undefined;
  }),
  'compute.snapshots.deleted': ending((path, _args, world) => {
    delete held(world, snapshots)[path];
    return undefined;
  }),
};
