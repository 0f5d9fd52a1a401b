/** Secret Manager in the simulated cloud: secrets, numbered versions, payloads with checksums, policies. */

import { fieldsIn } from '../iam/policy-methods.js';
import { testPermissions } from '../iam/test-permissions.js';
import {
  type Access,
  type ApiDefinition,
  type CloudCall,
  GoogleError,
  type Handler,
  type JsonObject,
  type World,
} from '../kernel/api.js';
import { labelsOf, numberOf, objectOf, textOf } from '../kernel/json-fields.js';
import { pageOf } from '../kernel/pages.js';
import { crc32c } from '../storage/crc32c.js';
import { delayOf } from '../worlds/settings.js';

const service = 'secretmanager.googleapis.com';
const largestPayload = 65_536;

interface SecretRecord {
  resource: JsonObject;
  /** The number of the newest version. Numbers are never used twice. */
  lastVersion: number;
  versions: Record<string, { resource: JsonObject; data?: string }>;
}

/** Secrets by `projects/<id>/secrets/<name>`. */
const secrets = (world: World): Record<string, SecretRecord> => world.table<SecretRecord>('secretmanager.secrets');

interface Named {
  /** The key in the state and in the policies. */
  readonly path: string;
  /** The name as Google writes it, with the project's number. */
  readonly name: string;
  readonly version: string | undefined;
}

function nameOf(call: CloudCall, world: World): Named {
  const given = call.params['name'] ?? call.params['parent'] ?? call.params['resource'] ?? '';
  const [, projectName = '', , secret, , version] = given.split('/');
  const writes = /\.(create|addVersion|patch)$/.test(call.method);
  const project = world.project(projectName, { service, billing: writes });
  const suffix = secret === undefined ? '' : `/secrets/${secret}`;
  return {
    path: `projects/${project.projectId}${suffix}`,
    name: `projects/${project.projectNumber}${suffix}`,
    version,
  };
}

function find(call: CloudCall, world: World): { named: Named; secret: SecretRecord } {
  const named = nameOf(call, world);
  const secret = secrets(world)[named.path];
  if (secret === undefined) throw new GoogleError(404, 'NOT_FOUND', `Secret [${named.name}] not found.`);
  return { named, secret };
}

/** As at Google, `latest` is the newest version in any state. */
function findVersion(call: CloudCall, world: World) {
  const named = nameOf(call, world);
  const secret = secrets(world)[named.path];
  const number = named.version === 'latest' ? String(secret?.lastVersion ?? 0) : (named.version ?? '');
  const version = secret?.versions[number];
  if (secret === undefined || (named.version === 'latest' && version === undefined)) {
    throw new GoogleError(404, 'NOT_FOUND', `Secret [${named.name}] not found or has no versions.`);
  }
  if (version === undefined) {
    throw new GoogleError(404, 'NOT_FOUND', `Secret Version [${named.name}/versions/${named.version}] not found.`);
  }
  return { named, version, name: `${named.name}/versions/${number}` };
}

const etag = (world: World): string =>
  `"${Math.floor(world.random() * 2 ** 48)
    .toString(16)
    .padStart(12, '0')}"`;

function checkEtag(given: string | undefined, current: unknown): void {
  if (given !== undefined && given !== '' && given !== current) {
    throw new GoogleError(
      400,
      'FAILED_PRECONDITION',
      `The etag ${given} does not match the current etag ${String(current)}.`,
    );
  }
}

const badInput = (message: string): GoogleError => new GoogleError(400, 'INVALID_ARGUMENT', message);

const create: Handler = (call, world) => {
  const parent = nameOf(call, world);
  const id = call.params['secretId'] ?? '';
  if (!/^[a-zA-Z0-9_-]{1,255}$/.test(id)) {
    throw badInput(
      'The provided Secret ID does not match the expected format [[a-zA-Z_0-9]+] of at most 255 characters.',
    );
  }
  const replication = objectOf(call.body['replication']);
  if (
    replication === undefined ||
    (replication['automatic'] === undefined && replication['userManaged'] === undefined)
  ) {
    throw badInput('The secret must have a replication policy: automatic or userManaged.');
  }
  checkLabels(call.body);
  const name = `${parent.name}/secrets/${id}`;
  const path = `${parent.path}/secrets/${id}`;
  if (secrets(world)[path] !== undefined) {
    throw new GoogleError(409, 'ALREADY_EXISTS', `Secret [${name}] already exists.`);
  }
  const { ttl: _ttl, ...body } = call.body;
  const resource: JsonObject = { ...body, name, createTime: new Date(world.now()).toISOString(), etag: etag(world) };
  secrets(world)[path] = { resource, lastVersion: 0, versions: {} };
  return resource;
};

function checkLabels(body: JsonObject): void {
  for (const [key, value] of Object.entries(labelsOf(body['labels']))) {
    if (!/^[\p{Ll}\p{Lo}][\p{Ll}\p{Lo}\p{N}_-]{0,62}$/u.test(key) || !/^[\p{Ll}\p{Lo}\p{N}_-]{0,63}$/u.test(value)) {
      throw badInput(
        `Invalid label: ${key}=${value}. Keys and values hold at most 63 lower-case letters, digits, dashes and underscores.`,
      );
    }
  }
}

const patchable = [
  'labels',
  'annotations',
  'topics',
  'expireTime',
  'rotation',
  'versionAliases',
  'versionDestroyTtl',
  'etag',
];

const patch: Handler = (call, world) => {
  const { secret } = find(call, world);
  checkEtag(textOf(call.body['etag']), secret.resource['etag']);
  const mask = (call.params['updateMask'] ?? '').split(',').filter((field) => field !== '');
  if (mask.length === 0) throw badInput('The update mask must not be empty.');
  checkLabels(call.body);
  for (const field of mask) {
    const top = field.replace(/_(\w)/g, (_all, letter: string) => letter.toUpperCase()).split('.')[0] ?? '';
    if (!patchable.includes(top)) throw badInput(`The field [${field}] cannot be updated.`);
    const value = call.body[top];
    if (value === undefined) delete secret.resource[top];
    else secret.resource[top] = value;
  }
  secret.resource['etag'] = etag(world);
  return secret.resource;
};

const remove: Handler = (call, world) => {
  const { named, secret } = find(call, world);
  checkEtag(call.params['etag'], secret.resource['etag']);
  delete secrets(world)[named.path];
  world.policies.remove(named.path);
  return {};
};

const list: Handler = (call, world) => {
  const { path } = nameOf(call, world);
  const all = Object.entries(secrets(world))
    .filter(([at]) => at.startsWith(`${path}/secrets/`))
    .map(([at, { resource }]) => [at, resource] as const)
    .filter(([, resource]) => matches(resource, call.params['filter']));
  const page = pageOf(all, numberOf(call.params['pageSize']), call.params['pageToken']);
  return { ...listed('secrets', page), totalSize: all.length };
};

/** Knows the filters needed here: `name:x` and `labels.k=v`, joined by AND. */
function matches(resource: JsonObject, filter: string | undefined): boolean {
  return (filter ?? '')
    .split(/\s+AND\s+/)
    .filter((term) => term.trim() !== '')
    .every((term) => {
      const match = /^\(?\s*(name|labels\.([\w-]+))\s*([:=])\s*"?([^")]*)"?\s*\)?$/.exec(term.trim());
      if (match === null) throw badInput(`Invalid filter: ${filter}`);
      const [, field, label = '', operator, value = ''] = match;
      const found = field === 'name' ? textOf(resource['name']) : labelsOf(resource['labels'])[label];
      return operator === '=' ? found === value : (found ?? '').includes(value);
    });
}

const listed = (field: string, page: { items: JsonObject[]; nextPageToken?: string }): JsonObject => ({
  ...(page.items.length === 0 ? {} : { [field]: page.items }),
  ...(page.nextPageToken === undefined ? {} : { nextPageToken: page.nextPageToken }),
});

// --- versions -------------------------------------------------------------------------------------------------------

const addVersion: Handler = (call, world) => {
  const { named, secret } = find(call, world);
  const payload = objectOf(call.body['payload']);
  const data = textOf(payload?.['data']);
  if (data === undefined || data === '') throw badInput('The secret payload must not be empty.');
  const bytes = Buffer.from(data, 'base64');
  if (bytes.length > largestPayload) {
    throw badInput(`The secret payload is ${bytes.length} bytes long; at most ${largestPayload} are allowed.`);
  }
  const checksum = textOf(payload?.['dataCrc32c']);
  if (checksum !== undefined && Number(checksum) !== crc32c(bytes)) {
    throw badInput('The checksum of the payload does not match: the data was corrupted on its way.');
  }
  secret.lastVersion += 1;
  const resource: JsonObject = {
    name: `${named.name}/versions/${secret.lastVersion}`,
    createTime: new Date(world.now()).toISOString(),
    state: 'ENABLED',
    replicationStatus:
      objectOf(secret.resource['replication'])?.['userManaged'] === undefined ? { automatic: {} } : { userManaged: {} },
    etag: etag(world),
    clientSpecifiedPayloadChecksum: checksum !== undefined,
  };
  secret.versions[String(secret.lastVersion)] = { resource, data: bytes.toString('base64') };
  return resource;
};

const access: Handler = (call, world) => {
  const { version, name } = findVersion(call, world);
  if (version.resource['state'] !== 'ENABLED' || version.data === undefined) {
    throw new GoogleError(
      400,
      'FAILED_PRECONDITION',
      `Secret Version [${name}] is in ${String(version.resource['state'])} state.`,
    );
  }
  const data = version.data;
  return { name, payload: { data, dataCrc32c: String(crc32c(Buffer.from(data, 'base64'))) } };
};

const setState =
  (state: 'ENABLED' | 'DISABLED' | 'DESTROYED'): Handler =>
  (call, world) => {
    const { version, name } = findVersion(call, world);
    checkEtag(textOf(call.body['etag']), version.resource['etag']);
    if (version.resource['state'] === 'DESTROYED') {
      throw new GoogleError(400, 'FAILED_PRECONDITION', `Secret Version [${name}] is in DESTROYED state.`);
    }
    version.resource['state'] = state;
    version.resource['etag'] = etag(world);
    if (state === 'DESTROYED') {
      version.resource['destroyTime'] = new Date(world.now()).toISOString();
      delete version.data;
    }
    return version.resource;
  };

/** Newest first. */
const listVersions: Handler = (call, world) => {
  const { secret } = find(call, world);
  // Lists lag behind writes. A version that is asked for by number is available at once.
  const shownUntil = world.now() - world.scaled(delayOf(world, 'secretList'));
  const all = Object.entries(secret.versions)
    .filter(([, { resource }]) => Date.parse(String(resource['createTime'])) <= shownUntil)
    .map(([number, { resource }]) => [String(1_000_000 - Number(number)), resource] as const)
    .filter(([, resource]) => {
      const state = /state[:=]\s*"?(\w+)/i.exec(call.params['filter'] ?? '')?.[1];
      return state === undefined || resource['state'] === state.toUpperCase();
    });
  return {
    ...listed('versions', pageOf(all, numberOf(call.params['pageSize']), call.params['pageToken'])),
    totalSize: all.length,
  };
};

// --- policies -------------------------------------------------------------------------------------------------------

const getIamPolicy: Handler = (call, world) =>
  world.policies.get(find(call, world).named.path, numberOf(call.params['options.requestedPolicyVersion']));

const setIamPolicy: Handler = (call, world) =>
  world.policies.set(find(call, world).named.path, objectOf(call.body['policy']) ?? {}, fieldsIn(call));

// --- the table ------------------------------------------------------------------------------------------------------

const permissions: Readonly<Record<string, string>> = {
  'secrets.create': 'secretmanager.secrets.create',
  'secrets.get': 'secretmanager.secrets.get',
  'secrets.list': 'secretmanager.secrets.list',
  'secrets.patch': 'secretmanager.secrets.update',
  'secrets.delete': 'secretmanager.secrets.delete',
  'secrets.addVersion': 'secretmanager.versions.add',
  'secrets.getIamPolicy': 'secretmanager.secrets.getIamPolicy',
  'secrets.setIamPolicy': 'secretmanager.secrets.setIamPolicy',
  'secrets.versions.access': 'secretmanager.versions.access',
  'secrets.versions.get': 'secretmanager.versions.get',
  'secrets.versions.list': 'secretmanager.versions.list',
  'secrets.versions.enable': 'secretmanager.versions.enable',
  'secrets.versions.disable': 'secretmanager.versions.disable',
  'secrets.versions.destroy': 'secretmanager.versions.destroy',
};

const handlers: Readonly<Record<string, Handler>> = {
  'secrets.create': create,
  'secrets.get': (call, world) => find(call, world).secret.resource,
  'secrets.list': list,
  'secrets.patch': patch,
  'secrets.delete': remove,
  'secrets.addVersion': addVersion,
  'secrets.getIamPolicy': getIamPolicy,
  'secrets.setIamPolicy': setIamPolicy,
  'secrets.testIamPermissions': (call, world) => testPermissions(call, world, find(call, world).named.path),
  'secrets.versions.access': access,
  'secrets.versions.get': (call, world) => findVersion(call, world).version.resource,
  'secrets.versions.list': listVersions,
  'secrets.versions.enable': setState('ENABLED'),
  'secrets.versions.disable': setState('DISABLED'),
  'secrets.versions.destroy': setState('DESTROYED'),
};

const full = (method: string): string => `secretmanager.projects.${method}`;

export const secretManager: ApiDefinition<'secretmanager'> = {
  api: 'secretmanager.v1',
  handlers: Object.fromEntries(Object.entries(handlers).map(([method, handler]) => [full(method), handler])),
  access: Object.fromEntries(
    Object.keys(handlers).map((method) => [
      full(method),
      (call: CloudCall, world: World): readonly Access[] => {
        const permission = permissions[method];
        if (permission === undefined) return [];
        const { path, version } = nameOf(call, world);
        return [{ permission, resource: version === undefined ? path : `${path}/versions/${version}` }];
      },
    ]),
  ),
};
