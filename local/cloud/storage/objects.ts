/** Buckets and objects of Cloud Storage as records. */
import { GoogleError, type JsonObject, type World } from '../kernel/api.js';
import { stampOf } from '../kernel/json-fields.js';
import type { Content } from '../kernel/media.js';

export const storageService = 'storage.googleapis.com';

export interface BucketRecord {
  projectId: string;
  resource: JsonObject;
}

export interface ObjectRecord extends Content {
  bucket: string;
  name: string;
  contentType: string;
  metadata?: JsonObject;
  generation: string;
  metageneration: number;
  timeCreated: string;
  updated: string;
}

export const buckets = (world: World): Record<string, BucketRecord> => world.table<BucketRecord>('storage.buckets');
/** Objects by `<bucket>/<name>`. */
export const objects = (world: World): Record<string, ObjectRecord> => world.table<ObjectRecord>('storage.objects');

/** The bucket's name for policies. It is beneath its project, because the project's roles apply to it too. */
export const bucketPath = (world: World, bucket: string): string =>
  `projects/${findBucket(world, bucket).projectId}/buckets/${bucket}`;

export function findBucket(world: World, name: string): BucketRecord {
  const found = buckets(world)[name];
  if (found === undefined) {
    throw new GoogleError(404, 'NOT_FOUND', 'The specified bucket does not exist.', { reason: 'notFound' });
  }
  world.project(found.projectId, { service: storageService });
  return found;
}

export function findObject(world: World, bucket: string, name: string, generation?: string): ObjectRecord {
  const found = objects(world)[`${bucket}/${name}`];
  if (found === undefined || (generation !== undefined && generation !== found.generation)) {
    throw new GoogleError(404, 'NOT_FOUND', `No such object: ${bucket}/${name}`, { reason: 'notFound' });
  }
  return found;
}

export function newObject(
  world: World,
  told: Pick<ObjectRecord, 'bucket' | 'name' | 'contentType' | 'metadata'>,
  content: Content,
): ObjectRecord {
  const at = stampOf(world);
  return {
    ...told,
    generation: `${world.now()}${world.id().slice(-3)}`,
    metageneration: 1,
    timeCreated: at,
    updated: at,
    ...content,
  };
}

/** An object's name for policies: beneath its bucket. */
export const objectPath = (world: World, bucket: string, name: string): string =>
  `${bucketPath(world, bucket)}/objects/${name}`;

/** The object as the API shows it. */
export function shownObject(object: ObjectRecord): JsonObject {
  const { bucket, name, generation, metageneration, contentType, metadata, timeCreated, updated } = object;
  const path = `b/${bucket}/o/${encodeURIComponent(name)}`;
  return {
    kind: 'storage#object',
    id: `${bucket}/${name}/${generation}`,
    selfLink: `https://www.googleapis.com/storage/v1/${path}`,
    mediaLink: `https://storage.googleapis.com/download/storage/v1/${path}?generation=${generation}&alt=media`,
    name,
    bucket,
    generation,
    metageneration: String(metageneration),
    contentType,
    storageClass: 'STANDARD',
    size: String(object.size),
    md5Hash: object.md5Hash,
    crc32c: object.crc32c,
    etag: Buffer.from(`${generation}/${metageneration}`).toString('base64'),
    timeCreated,
    updated,
    timeStorageClassUpdated: timeCreated,
    ...(metadata === undefined ? {} : { metadata }),
  };
}
