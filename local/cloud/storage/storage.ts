/**
 * Cloud Storage's JSON API in the simulated cloud: buckets with uniform access, objects, policies. media.ts moves the bytes.
 */
import {
  type Access,
  type ApiDefinition,
  type CloudCall,
  GoogleError,
  type Handler,
  type JsonObject,
  type World,
} from '../kernel/api.js';
import { notSimulated } from '../kernel/errors.js';
import { numberOf, objectOf, textOf } from '../kernel/json-fields.js';
import { pageOf } from '../kernel/pages.js';
import { permissionOf } from '../kernel/permission-names.js';
import {
  badInput,
  bucketIn,
  deleteBucket,
  getBucket,
  getLayout,
  insertBucket,
  listBuckets,
  patchBucket,
} from './buckets.js';
import {
  bucketPath,
  findBucket,
  findObject,
  newObject,
  objectPath,
  objects,
  shownObject,
  storageService,
} from './objects.js';

const objectIn = ({ params, body }: CloudCall): string =>
  params['object'] ?? params['name'] ?? textOf(body['name']) ?? '';

// --- objects --------------------------------------------------------------------------------------------------------

function checkPreconditions({ params }: CloudCall, generation: string): void {
  const failed = (condition: string) =>
    new GoogleError(412, 'FAILED_PRECONDITION', 'At least one of the pre-conditions you specified did not hold.', {
      reason: 'conditionNotMet',
      location: condition,
    });
  const { ifGenerationMatch: match, ifGenerationNotMatch: not } = params;
  if (match !== undefined && match !== generation) throw failed('If-Match');
  if (not !== undefined && not === generation) throw failed('If-None-Match');
}

const insertObject: Handler = (call, world) => {
  const [bucket, name] = [bucketIn(call), objectIn(call)];
  world.project(findBucket(world, bucket).projectId, { service: storageService, billing: true });
  if (call.media === undefined) throw badInput('Upload requires a media body.', 'wrongUrlForUpload');
  if (
    name === '' ||
    Buffer.byteLength(name) > 1024 ||
    /[\r\n]/.test(name) ||
    name.startsWith('.well-known/acme-challenge/')
  ) {
    throw badInput(`Invalid object name: '${name}'`);
  }
  const key = `${bucket}/${name}`;
  checkPreconditions(call, objects(world)[key]?.generation ?? '0');
  const { keep, type } = call.media;
  if (keep === undefined) return {};
  const metadata = objectOf(call.body['metadata']);
  const contentType = textOf(call.body['contentType']) ?? type ?? 'application/octet-stream';
  const told = { bucket, name, contentType, ...(metadata === undefined ? {} : { metadata }) };
  const object = newObject(world, told, keep());
  const shown = shownObject(object);
  for (const sum of ['md5Hash', 'crc32c'] as const) {
    const said = textOf(call.body[sum]);
    if (said !== undefined && said !== shown[sum]) {
      throw badInput(`Provided ${sum} hash "${said}" doesn't match calculated hash "${String(shown[sum])}".`);
    }
  }
  objects(world)[key] = object;
  return shown;
};

const listObjects: Handler = ({ params }, world) => {
  const { bucket = '', prefix = '', delimiter = '', startOffset = '', endOffset = '', matchGlob } = params;
  findBucket(world, bucket);
  if (matchGlob !== undefined) throw notSimulated('lists of objects by a glob');
  const found = Object.values(objects(world)).filter(
    ({ bucket: of, name }) =>
      of === bucket && name.startsWith(prefix) && name >= startOffset && (endOffset === '' || name < endOffset),
  );
  const rows = new Map<string, JsonObject | undefined>();
  for (const object of found) {
    const end = delimiter === '' ? -1 : object.name.indexOf(delimiter, prefix.length);
    if (end === -1) rows.set(object.name, shownObject(object));
    else rows.set(object.name.slice(0, end + delimiter.length), undefined);
  }
  const entries = [...rows].map(([name, item]) => [name, { name, item }] as const);
  const page = pageOf(entries, numberOf(params['maxResults']) ?? 1000, params['pageToken']);
  const items = page.items.flatMap(({ item }) => (item === undefined ? [] : [item]));
  const prefixes = page.items.flatMap(({ name, item }) => (item === undefined ? [name] : []));
  return {
    kind: 'storage#objects',
    ...(items.length > 0 && { items }),
    ...(prefixes.length > 0 && { prefixes }),
    ...(page.nextPageToken !== undefined && { nextPageToken: page.nextPageToken }),
  };
};

const getObject: Handler = (call, world) => {
  findBucket(world, bucketIn(call));
  const found = findObject(world, bucketIn(call), objectIn(call), call.params['generation']);
  checkPreconditions(call, found.generation);
  return shownObject(found);
};

const deleteObject: Handler = (call, world) => {
  findBucket(world, bucketIn(call));
  const found = findObject(world, bucketIn(call), objectIn(call), call.params['generation']);
  checkPreconditions(call, found.generation);
  delete objects(world)[`${found.bucket}/${found.name}`];
  return {};
};

// --- policies -------------------------------------------------------------------------------------------------------

const shownPolicy = (call: CloudCall, policy: JsonObject): JsonObject => ({
  kind: 'storage#policy',
  resourceId: `projects/_/buckets/${bucketIn(call)}`,
  ...policy,
});

const getIamPolicy: Handler = (call, world) =>
  shownPolicy(
    call,
    world.policies.get(bucketPath(world, bucketIn(call)), numberOf(call.params['optionsRequestedPolicyVersion'])),
  );

const setIamPolicy: Handler = (call, world) => {
  const { kind: _kind, resourceId: _id, ...policy } = call.body;
  return shownPolicy(call, world.policies.set(bucketPath(world, bucketIn(call)), policy));
};

const testIamPermissions: Handler = (call, world) => {
  const path = bucketPath(world, bucketIn(call));
  const held = (call.lists['permissions'] ?? []).filter((each) => world.policies.allows(call.caller, each, path));
  return { kind: 'storage#testIamPermissionsResponse', ...(held.length > 0 && { permissions: [...held] }) };
};

// --- the table ------------------------------------------------------------------------------------------------------

const handlers: Readonly<Record<string, Handler>> = {
  'storage.buckets.insert': insertBucket,
  'storage.buckets.list': listBuckets,
  'storage.buckets.get': getBucket,
  'storage.buckets.patch': patchBucket,
  'storage.buckets.delete': deleteBucket,
  'storage.buckets.getStorageLayout': getLayout,
  'storage.buckets.getIamPolicy': getIamPolicy,
  'storage.buckets.setIamPolicy': setIamPolicy,
  'storage.buckets.testIamPermissions': testIamPermissions,
  'storage.objects.insert': insertObject,
  'storage.objects.list': listObjects,
  'storage.objects.get': getObject,
  'storage.objects.delete': deleteObject,
};

/**
 * Overwriting an object needs the permission to delete it too. Whoever may not list the bucket doesn't learn that an object
 * is missing.
 */
function accessTo(call: CloudCall, world: World): readonly Access[] {
  const { method } = call;
  if (method.endsWith('.testIamPermissions')) return [];
  const permission = permissionOf(method);
  if (call.params['bucket'] === undefined) {
    return [{ permission, resource: `projects/${world.project(call.params['project'] ?? '').projectId}` }];
  }
  const [bucket, name] = [bucketIn(call), objectIn(call)];
  const path = bucketPath(world, bucket);
  if (!/objects\.(insert|get|delete)$/.test(method)) return [{ permission, resource: path }];
  const resource = objectPath(world, bucket, name);
  const exists = objects(world)[`${bucket}/${name}`] !== undefined;
  const more =
    method === 'storage.objects.get' && !exists
      ? [{ permission: 'storage.objects.list', resource: path }]
      : method === 'storage.objects.insert' && exists
        ? [{ permission: 'storage.objects.delete', resource }]
        : [];
  return [{ permission, resource }, ...more];
}

export const storage: ApiDefinition<'storage'> = {
  api: 'storage.v1',
  denied: ({ permission }) =>
    new GoogleError(
      403,
      'PERMISSION_DENIED',
      `The caller does not have ${permission} access to the Google Cloud Storage ${permission.split('.')[1] === 'buckets' ? 'bucket' : 'object'}. Permission '${permission}' denied on resource (or it may not exist).`,
      { reason: 'forbidden' },
    ),
  handlers,
  access: Object.fromEntries(Object.keys(handlers).map((method) => [method, accessTo])),
};
