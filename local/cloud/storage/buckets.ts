/** Makes, lists, changes and deletes the buckets of Cloud Storage. All have uniform access. */
import { grantAtOnce } from '../iam/policies.js';
import { type CloudCall, GoogleError, type Handler, type Json, type JsonObject } from '../kernel/api.js';
import { notSimulated } from '../kernel/errors.js';
import { flagOf, objectOf, textOf } from '../kernel/json-fields.js';
import { pageReply } from '../kernel/pages.js';
import { regions } from '../kernel/places.js';
import { bucketPath, buckets, findBucket, objects, storageService } from './objects.js';

export const bucketIn = ({ params }: CloudCall): string => params['bucket'] ?? '';

export const badInput = (message: string, reason = 'invalid'): GoogleError =>
  new GoogleError(400, 'INVALID_ARGUMENT', message, { reason });

// --- places ---------------------------------------------------------------------------------------------------------

const multiRegions = ['ASIA', 'EU', 'US'];
const dualRegions = ['ASIA1', 'EUR4', 'EUR5', 'EUR7', 'EUR8', 'NAM4'];

/** Google writes locations in capitals, whatever was sent. */
function placeOf(given: Json | undefined): { location: string; locationType: string; rpo?: string } {
  const location = (textOf(given) ?? 'US').toUpperCase();
  if (multiRegions.includes(location)) return { location, locationType: 'multi-region', rpo: 'DEFAULT' };
  if (dualRegions.includes(location)) return { location, locationType: 'dual-region', rpo: 'DEFAULT' };
  if (!regions.includes(location.toLowerCase())) throw badInput('The specified location constraint is not valid.');
  return { location, locationType: 'region' };
}

// --- access ---------------------------------------------------------------------------------------------------------

const lockDays = 90;

/** Access as the bucket shows it. Lists of access per object are not simulated. */
function accessOf(given: JsonObject | undefined, stands: JsonObject, now: number): JsonObject {
  const uniform = objectOf(given?.['uniformBucketLevelAccess']);
  if (flagOf(uniform?.['enabled']) === false) {
    throw notSimulated('buckets without uniform access');
  }
  const locked = { enabled: true, lockedTime: new Date(now + lockDays * 86_400_000).toISOString() };
  return {
    bucketPolicyOnly: locked,
    uniformBucketLevelAccess: locked,
    publicAccessPrevention: 'inherited',
    ...stands,
    ...(given?.['publicAccessPrevention'] === undefined
      ? {}
      : { publicAccessPrevention: given['publicAccessPrevention'] }),
  };
}

/** The bindings of a new bucket, which give its project's people what their roles on the project leave out. */
const firstBindings = (project: string): { role: string; members: string[] }[] => {
  const [editors, viewers] = [[`projectEditor:${project}`, `projectOwner:${project}`], [`projectViewer:${project}`]];
  return [
    { role: 'roles/storage.legacyBucketOwner', members: editors },
    { role: 'roles/storage.legacyBucketReader', members: viewers },
    { role: 'roles/storage.legacyObjectOwner', members: editors },
    { role: 'roles/storage.legacyObjectReader', members: viewers },
  ];
};

// --- methods --------------------------------------------------------------------------------------------------------

/** The name in the body. Throws where no bucket can have it. */
export function bucketNameIn({ body }: Pick<CloudCall, 'body'>): string {
  const name = textOf(body['name']) ?? '';
  if (!/^(?!goog)[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]$/.test(name) || name.includes('..')) {
    throw badInput(`Invalid bucket name: '${name}'`);
  }
  return name;
}

export const insertBucket: Handler = ({ params, body }, world) => {
  const project = world.project(params['project'] ?? '', { service: storageService, billing: true });
  const name = bucketNameIn({ body });
  const stands = buckets(world)[name];
  if (stands !== undefined) throw nameTaken(stands.projectId === project.projectId);
  const now = world.now();
  const at = new Date(now).toISOString();
  const { id: _id, ...given } = body;
  const resource: JsonObject = {
    storageClass: 'STANDARD',
    ...given,
    ...placeOf(body['location']),
    kind: 'storage#bucket',
    id: name,
    selfLink: `https://www.googleapis.com/storage/v1/b/${name}`,
    projectNumber: project.projectNumber,
    name,
    generation: `${now}${world.id().slice(-6)}`,
    metageneration: '1',
    etag: etagOf(1),
    timeCreated: at,
    updated: at,
    softDeletePolicy: { retentionDurationSeconds: '604800', effectiveTime: at, ...objectOf(body['softDeletePolicy']) },
    iamConfiguration: accessOf(objectOf(body['iamConfiguration']), {}, now),
  };
  buckets(world)[name] = { projectId: project.projectId, resource };
  grantAtOnce(world, bucketPath(world, name), firstBindings(project.projectId));
  return resource;
};

const nameTaken = (isOurs: boolean): GoogleError =>
  new GoogleError(
    409,
    'ALREADY_EXISTS',
    isOurs
      ? 'Your previous request to create the named bucket succeeded and you already own it.'
      : 'The requested bucket name is not available. The bucket namespace is shared by all users of the system. Please select a different name and try again.',
    { reason: 'conflict' },
  );

/** The etag holds the metageneration, as a field of a protocol buffer. */
function etagOf(metageneration: number): string {
  const bytes = [8];
  for (let rest = metageneration; ; rest >>>= 7) {
    if (rest < 128) return Buffer.from([...bytes, rest]).toString('base64');
    bytes.push((rest & 127) | 128);
  }
}

export const listBuckets: Handler = ({ params }, world) => {
  const project = world.project(params['project'] ?? '', { service: storageService });
  const all = Object.entries(buckets(world))
    .filter(([name, { projectId }]) => projectId === project.projectId && name.startsWith(params['prefix'] ?? ''))
    .map(([name, { resource }]) => [name, resource] as const);
  return { kind: 'storage#buckets', ...pageReply({ params }, 'items', all) };
};

function checkMetageneration({ params }: CloudCall, { metageneration }: JsonObject): void {
  const { ifMetagenerationMatch: match, ifMetagenerationNotMatch: not } = params;
  if ((match === undefined || match === metageneration) && not !== metageneration) return;
  throw new GoogleError(412, 'FAILED_PRECONDITION', 'At least one of the pre-conditions you specified did not hold.', {
    reason: 'conditionNotMet',
    location: match === undefined ? 'If-None-Match' : 'If-Match',
  });
}

export const getBucket: Handler = (call, world) => {
  const { resource } = findBucket(world, bucketIn(call));
  checkMetageneration(call, resource);
  return resource;
};

/** What only Google writes. Clients send it back as they read it. */
const served = [
  'kind', 'id', 'name', 'selfLink', 'projectNumber', 'generation', 'metageneration', 'etag', 'timeCreated', 'updated',
  'locationType', 'location',
]; // biome-ignore format: one list

/** A patch merges labels, and replaces other fields. */
export const patchBucket: Handler = (call, world) => {
  const bucket = findBucket(world, bucketIn(call));
  const stands = bucket.resource;
  checkMetageneration(call, stands);
  const { labels, iamConfiguration, softDeletePolicy, ...wanted } = call.body;
  const location = textOf(wanted['location'])?.toUpperCase();
  if (location !== undefined && location !== stands['location']) {
    throw badInput('The location of a bucket cannot be changed.');
  }
  const given = Object.fromEntries(Object.entries(wanted).filter(([field]) => !served.includes(field)));
  const [now, metageneration] = [world.now(), Number(stands['metageneration']) + 1];
  const at = new Date(now).toISOString();
  bucket.resource = {
    ...stands,
    ...given,
    ...(labels === undefined ? {} : { labels: { ...objectOf(stands['labels']), ...objectOf(labels) } }),
    ...(softDeletePolicy === undefined
      ? {}
      : { softDeletePolicy: { ...objectOf(softDeletePolicy), effectiveTime: at } }),
    iamConfiguration: accessOf(objectOf(iamConfiguration), objectOf(stands['iamConfiguration']) ?? {}, now),
    metageneration: String(metageneration),
    etag: etagOf(metageneration),
    updated: at,
  };
  return bucket.resource;
};

export const deleteBucket: Handler = (call, world) => {
  const name = bucketIn(call);
  const path = bucketPath(world, name);
  checkMetageneration(call, findBucket(world, name).resource);
  if (Object.values(objects(world)).some(({ bucket }) => bucket === name)) {
    throw new GoogleError(409, 'FAILED_PRECONDITION', 'The bucket you tried to delete is not empty.', {
      reason: 'conflict',
    });
  }
  delete buckets(world)[name];
  world.policies.remove(path);
  return {};
};

export const getLayout: Handler = (call, world) => {
  const { location, locationType } = findBucket(world, bucketIn(call)).resource;
  return {
    kind: 'storage#storageLayout',
    bucket: bucketIn(call),
    location: String(location),
    locationType: String(locationType),
    hierarchicalNamespace: { enabled: false },
  };
};
