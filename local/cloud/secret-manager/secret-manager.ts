/** Secret Manager in the simulated cloud: secrets, numbered versions, payloads with checksums, policies. */
import {
  type ApiDefinition,
  type CloudCall,
  GoogleError,
  type Handler,
  type JsonObject,
  type World,
} from '../kernel/api.js';
import { defineCollection, type Found, joined } from '../kernel/collection.js';
import { badInput } from '../kernel/errors.js';
import { labelsOf, objectOf, stampOf, textOf } from '../kernel/json-fields.js';
import { checkLabelForms } from '../kernel/labels.js';
import { pageReply } from '../kernel/pages.js';
import { crc32c } from '../storage/crc32c.js';
import { delayOf } from '../worlds/settings.js';

const largestPayload = 65_536;

interface SecretRecord {
  resource: JsonObject;
  /** The number of the newest version. Numbers are never used twice. */
  lastVersion: number;
  versions: Record<string, { resource: JsonObject; data?: string }>;
}

const freshEtag = (world: World): string =>
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

function idIn({ params }: CloudCall): string {
  const id = params['secretId'] ?? '';
  if (/^[a-zA-Z0-9_-]{1,255}$/.test(id)) return id;
  throw badInput(
    'The provided Secret ID does not match the expected format [[a-zA-Z_0-9]+] of at most 255 characters.',
  );
}

function checkReplication(body: JsonObject): void {
  const { automatic, userManaged } = objectOf(body['replication']) ?? {};
  if (automatic === undefined && userManaged === undefined) {
    throw badInput('The secret must have a replication policy: automatic or userManaged.');
  }
}

const badLabel = (key: string, value: string): GoogleError =>
  badInput(
    `Invalid label: ${key}=${value}. Keys and values hold at most 63 lower-case letters, digits, dashes and underscores.`,
  );

/** Knows the filters needed here: `name:x` and `labels.k=v`, joined by AND. */
function readFilter(filter: string): (resource: JsonObject) => boolean {
  const terms = filter.split(/\s+AND\s+/).filter((term) => term.trim() !== '');
  const tests = terms.map((term) => {
    const match = /^\(?\s*(name|labels\.([\w-]+))\s*([:=])\s*"?([^")]*)"?\s*\)?$/.exec(term.trim());
    if (match === null) throw badInput(`Invalid filter: ${filter}`);
    const [, field, label = '', operator, value = ''] = match;
    return (resource: JsonObject): boolean => {
      const found = field === 'name' ? textOf(resource['name']) : labelsOf(resource['labels'])[label];
      return operator === '=' ? found === value : (found ?? '').includes(value);
    };
  });
  return (resource) => tests.every((test) => test(resource));
}

const secrets = defineCollection<SecretRecord>({
  methods: 'secretmanager.projects.secrets',
  table: 'secretmanager.secrets',
  shown: ({ resource }) => resource,
  missing: ({ numbered }) => new GoogleError(404, 'NOT_FOUND', `Secret [${numbered}] not found.`),
  billed: ['create', 'addVersion', 'patch'],
  etag: { fresh: freshEtag, check: checkEtag },
  create: {
    id: idIn,
    exists: ({ numbered }) => new GoogleError(409, 'ALREADY_EXISTS', `Secret [${numbered}] already exists.`),
    make({ numbered }, { body }, world) {
      checkReplication(body);
      checkLabelForms(body['labels'], badLabel);
      const { ttl: _ttl, ...given } = body;
      const createTime = stampOf(world);
      return {
        resource: { ...given, name: numbered, createTime, etag: freshEtag(world) },
        lastVersion: 0,
        versions: {},
      };
    },
  },
  list: {
    field: 'secrets',
    besides: (totalSize) => ({ totalSize }),
    keeps: ({ params }) => readFilter(params['filter'] ?? ''),
  },
  patch: {
    fields: [
      'labels',
      'annotations',
      'topics',
      'expireTime',
      'rotation',
      'versionAliases',
      'versionDestroyTtl',
      'etag',
    ],
    fixed: (field) => badInput(`The field [${field}] cannot be updated.`),
    noMask: () => badInput('The update mask must not be empty.'),
    write({ record }, changed) {
      checkLabelForms(changed['labels'], badLabel);
      record.resource = changed;
    },
  },
  delete: {},
  policies: true,
  verbs: { addVersion },
});

// --- versions ---------------------------------------------------------------------------------------------------------

function addVersion({ record: secret, numbered }: Found<SecretRecord>, { body }: CloudCall, world: World): JsonObject {
  const payload = objectOf(body['payload']);
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
    name: `${numbered}/versions/${secret.lastVersion}`,
    createTime: stampOf(world),
    state: 'ENABLED',
    replicationStatus:
      objectOf(secret.resource['replication'])?.['userManaged'] === undefined ? { automatic: {} } : { userManaged: {} },
    etag: freshEtag(world),
    clientSpecifiedPayloadChecksum: checksum !== undefined,
  };
  secret.versions[String(secret.lastVersion)] = { resource, data: bytes.toString('base64') };
  return resource;
}

/** As at Google, `latest` is the newest version in any state. */
function findVersion(call: CloudCall, world: World) {
  const { path, numbered } = secrets.placeIn(call, world);
  const secret = secrets.records(world)[path];
  const asked = call.resource.slice(call.resource.lastIndexOf('/') + 1);
  const number = asked === 'latest' ? String(secret?.lastVersion ?? 0) : asked;
  const version = secret?.versions[number];
  if (secret === undefined || (asked === 'latest' && version === undefined)) {
    throw new GoogleError(404, 'NOT_FOUND', `Secret [${numbered}] not found or has no versions.`);
  }
  if (version === undefined) {
    throw new GoogleError(404, 'NOT_FOUND', `Secret Version [${numbered}/versions/${asked}] not found.`);
  }
  return { version, name: `${numbered}/versions/${number}` };
}

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
  (state: 'DISABLED' | 'DESTROYED'): Handler =>
  (call, world) => {
    const { version, name } = findVersion(call, world);
    checkEtag(textOf(call.body['etag']), version.resource['etag']);
    if (version.resource['state'] === 'DESTROYED') {
      throw new GoogleError(400, 'FAILED_PRECONDITION', `Secret Version [${name}] is in DESTROYED state.`);
    }
    version.resource['state'] = state;
    version.resource['etag'] = freshEtag(world);
    if (state === 'DESTROYED') {
      version.resource['destroyTime'] = stampOf(world);
      delete version.data;
    }
    return version.resource;
  };

/** Newest first. */
const listVersions: Handler = (call, world) => {
  const { record: secret } = secrets.find(call, world);
  // Lists lag behind writes. A version that is asked for by number is available at once.
  const shownUntil = world.now() - world.scaled(delayOf(world, 'secretList'));
  const all = Object.entries(secret.versions)
    .filter(([, { resource }]) => Date.parse(String(resource['createTime'])) <= shownUntil)
    .map(([number, { resource }]) => [String(1_000_000 - Number(number)), resource] as const)
    .filter(([, resource]) => {
      const state = /state[:=]\s*"?(\w+)/i.exec(call.params['filter'] ?? '')?.[1];
      return state === undefined || resource['state'] === state.toUpperCase();
    });
  return { ...pageReply(call, 'versions', all), totalSize: all.length };
};

const versions: Readonly<Record<string, Handler>> = {
  access,
  get: (call, world) => findVersion(call, world).version.resource,
  list: listVersions,
  disable: setState('DISABLED'),
  destroy: setState('DESTROYED'),
};

export const secretManager: ApiDefinition<'secretmanager'> = {
  api: 'secretmanager.v1',
  ...joined(secrets, {
    handlers: Object.fromEntries(
      Object.entries(versions).map(([verb, handler]) => [`secretmanager.projects.secrets.versions.${verb}`, handler]),
    ),
  }),
};
