/** Artifact Registry in the simulated cloud: repositories, their long-running operations and their policies. */

import { testPermissions } from '../iam/test-permissions.js';
import {
  type Access,
  type ApiDefinition,
  type CloudCall,
  type Effect,
  GoogleError,
  type Handler,
  type JsonObject,
  type World,
} from '../kernel/api.js';
import { numberOf, objectOf, textOf } from '../kernel/json-fields.js';
import { pageOf } from '../kernel/pages.js';
import { regions } from '../kernel/places.js';
import { artifactService, removeRepository, repositories } from './records.js';

const typeUrl = 'type.googleapis.com/google.devtools.artifactregistry.v1';

const operations = (world: World): Record<string, JsonObject> => world.table('artifactregistry.operations');

const multiRegions = ['asia', 'europe', 'us'];
const locations = [...regions, ...multiRegions];

function nameOf(call: CloudCall, world: World): string {
  const given = call.params['name'] ?? call.params['parent'] ?? call.params['resource'] ?? '';
  const [, project = '', ...rest] = given.split('/');
  const writes = /\.(create|delete|patch)$/.test(call.method);
  const { projectId } = world.project(project, { service: artifactService, billing: writes });
  return ['projects', projectId, ...rest].join('/');
}

const notFound = (): GoogleError => new GoogleError(404, 'NOT_FOUND', 'Requested entity was not found.');
const badInput = (message: string): GoogleError => new GoogleError(400, 'INVALID_ARGUMENT', message);

function find(call: CloudCall, world: World): { path: string; repository: JsonObject } {
  const path = nameOf(call, world);
  const repository = repositories(world)[path];
  if (repository === undefined) throw notFound();
  return { path, repository };
}

const isLocation = (name: string): boolean => locations.includes(name);

function checkLocation(location: string): void {
  if (!isLocation(location)) throw badInput(`Location ${location} is not found or access is unauthorized.`);
}

const create: Handler = (call, world) => {
  const parent = nameOf(call, world);
  const [, project = '', , location = ''] = parent.split('/');
  checkLocation(location);
  const id = call.params['repositoryId'] ?? '';
  if (!/^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/.test(id)) {
    throw badInput(
      'Repository ID must start with a letter, and may hold lower-case letters, digits and dashes, at most 63.',
    );
  }
  const format = textOf(call.body['format']);
  if (format === undefined || format === 'FORMAT_UNSPECIFIED') throw badInput('A repository needs a format.');
  const mode = modeOf(call.body);
  const path = `${parent}/repositories/${id}`;
  if (repositories(world)[path] !== undefined || isUnderWay(world, path)) {
    throw new GoogleError(409, 'ALREADY_EXISTS', 'the repository already exists');
  }
  const now = new Date(world.now()).toISOString();
  const repository: JsonObject = {
    ...call.body,
    name: path,
    format,
    mode,
    createTime: now,
    updateTime: now,
    registryUri: `${location}-${format.toLowerCase()}.pkg.dev/${project.replace(':', '/')}/${id}`,
    satisfiesPzi: true,
    ...(format === 'DOCKER' ? { vulnerabilityScanningConfig: scanningOf(call.body) } : {}),
  };
  return begin(world, parent, path, 'artifactregistry.repositories.made', { repository });
};

/** Repositories of the other modes are made of more, and need to be told of what. */
function modeOf(body: JsonObject): string {
  const mode = textOf(body['mode']) ?? 'MODE_UNSPECIFIED';
  if (mode === 'MODE_UNSPECIFIED') return 'STANDARD_REPOSITORY';
  const field = mode === 'REMOTE_REPOSITORY' ? 'remoteRepositoryConfig' : 'virtualRepositoryConfig';
  if (mode !== 'STANDARD_REPOSITORY' && body[field] === undefined) {
    throw badInput(`A repository of mode ${mode} needs a ${field}.`);
  }
  return mode;
}

/** Only images are scanned, and only where an API is on that is not simulated. */
const scanningOf = (body: JsonObject): JsonObject => ({
  ...objectOf(body['vulnerabilityScanningConfig']),
  enablementState: 'SCANNING_DISABLED',
  enablementStateReason: 'API containerscanning.googleapis.com is not enabled.',
});

const isUnderWay = (world: World, path: string): boolean =>
  Object.values(world.table<{ path: string }>('artifactregistry.underWay')).some((one) => one.path === path);

/** Operations take some seconds. The repository appears or disappears only when they end. */
function begin(world: World, parent: string, path: string, effect: string, args: JsonObject): JsonObject {
  const hex = Array.from({ length: 32 }, () => Math.floor(world.random() * 16).toString(16)).join('');
  const uuid = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
  const name = `${parent}/operations/${uuid}`;
  const operation: JsonObject = { name, metadata: { '@type': `${typeUrl}.OperationMetadata` } };
  operations(world)[name] = operation;
  if (effect.endsWith('made')) world.table<{ path: string }>('artifactregistry.underWay')[name] = { path };
  world.schedule(8, effect, { name, path, ...args });
  return operation;
}

const made: Effect = (args, world) => {
  const [name, path] = [textOf(args['name']) ?? '', textOf(args['path']) ?? ''];
  const repository = objectOf(args['repository']) ?? {};
  repositories(world)[path] = repository;
  delete world.table('artifactregistry.underWay')[name];
  finish(world, name, { '@type': `${typeUrl}.Repository`, ...repository });
};

const gone: Effect = (args, world) => {
  const path = textOf(args['path']) ?? '';
  removeRepository(world, path);
  world.policies.remove(path);
  finish(world, textOf(args['name']) ?? '', { '@type': 'type.googleapis.com/google.protobuf.Empty' });
};

function finish(world: World, name: string, response: JsonObject): void {
  const operation = operations(world)[name];
  if (operation !== undefined) Object.assign(operation, { done: true, response });
}

const remove: Handler = (call, world) => {
  const { path } = find(call, world);
  return begin(world, path.split('/').slice(0, 4).join('/'), path, 'artifactregistry.repositories.gone', {});
};

const list: Handler = (call, world) => {
  const parent = nameOf(call, world);
  if (!parent.endsWith('/-')) checkLocation(parent.split('/')[3] ?? '');
  const root = parent.endsWith('/-') ? parent.slice(0, -1) : `${parent}/`;
  const all = Object.entries(repositories(world)).filter(([path]) => path.startsWith(root));
  return paged('repositories', call, all);
};

const paged = (field: string, call: CloudCall, entries: readonly (readonly [string, JsonObject])[]): JsonObject => {
  const page = pageOf(entries, numberOf(call.params['pageSize']), call.params['pageToken']);
  return {
    ...(page.items.length === 0 ? {} : { [field]: page.items }),
    ...(page.nextPageToken === undefined ? {} : { nextPageToken: page.nextPageToken }),
  };
};

const patch: Handler = (call, world) => {
  const { repository } = find(call, world);
  const mask = (call.params['updateMask'] ?? '').split(',').filter((field) => field !== '');
  const fields = mask.length === 0 ? Object.keys(call.body) : mask;
  for (const field of fields) {
    const top = field.replace(/_(\w)/g, (_all, letter: string) => letter.toUpperCase()).split('.')[0] ?? '';
    if (
      ['name', 'format', 'mode', 'createTime'].includes(top) &&
      call.body[top] !== undefined &&
      call.body[top] !== repository[top]
    ) {
      throw badInput(`The field ${field} of a repository cannot be changed.`);
    }
    const value = call.body[top];
    if (value === undefined) delete repository[top];
    else repository[top] = value;
  }
  repository['updateTime'] = new Date(world.now()).toISOString();
  return repository;
};

const getOperation: Handler = (call, world) => {
  const operation = operations(world)[nameOf(call, world)];
  if (operation === undefined) throw notFound();
  return operation;
};

const locationResource = (parent: string, location: string): JsonObject => ({
  name: `${parent}/locations/${location}`,
  locationId: location,
  displayName: location,
  labels: { 'cloud.googleapis.com/region': location },
});

const listLocations: Handler = (call, world) => {
  const parent = nameOf(call, world);
  return paged(
    'locations',
    call,
    locations.map((location) => [location, locationResource(parent, location)] as const),
  );
};

const getLocation: Handler = (call, world) => {
  const [kind, project, , location = ''] = nameOf(call, world).split('/');
  if (!isLocation(location)) throw notFound();
  return locationResource(`${kind}/${project}`, location);
};

interface Method {
  readonly handler: Handler;
  readonly permission?: string;
  /** How many segments of the name make the resource that is checked: 2 for the project, 6 for the repository. */
  readonly segments: number;
}

const methods: Readonly<Record<string, Method>> = {
  'locations.list': { handler: listLocations, permission: 'locations.list', segments: 2 },
  'locations.get': { handler: getLocation, permission: 'locations.get', segments: 2 },
  'locations.operations.get': { handler: getOperation, permission: 'repositories.get', segments: 2 },
  'locations.repositories.create': { handler: create, permission: 'repositories.create', segments: 2 },
  'locations.repositories.get': {
    handler: (call, world) => find(call, world).repository,
    permission: 'repositories.get',
    segments: 6,
  },
  'locations.repositories.list': { handler: list, permission: 'repositories.list', segments: 2 },
  'locations.repositories.patch': { handler: patch, permission: 'repositories.update', segments: 6 },
  'locations.repositories.delete': { handler: remove, permission: 'repositories.delete', segments: 6 },
  'locations.repositories.getIamPolicy': {
    handler: (call, world) =>
      world.policies.get(find(call, world).path, numberOf(call.params['options.requestedPolicyVersion'])),
    permission: 'repositories.getIamPolicy',
    segments: 6,
  },
  'locations.repositories.setIamPolicy': {
    handler: (call, world) => world.policies.set(find(call, world).path, objectOf(call.body['policy']) ?? {}),
    permission: 'repositories.setIamPolicy',
    segments: 6,
  },
  'locations.repositories.testIamPermissions': {
    handler: (call, world) => testPermissions(call, world, find(call, world).path),
    segments: 6,
  },
};

const full = (method: string): string => `artifactregistry.projects.${method}`;

export const artifactRegistry: ApiDefinition<'artifactregistry'> = {
  api: 'artifactregistry.v1',
  handlers: Object.fromEntries(Object.entries(methods).map(([name, { handler }]) => [full(name), handler])),
  effects: { 'artifactregistry.repositories.made': made, 'artifactregistry.repositories.gone': gone },
  access: Object.fromEntries(
    Object.entries(methods).map(([name, { permission, segments }]) => [
      full(name),
      (call: CloudCall, world: World): readonly Access[] =>
        permission === undefined
          ? []
          : [
              {
                permission: `artifactregistry.${permission}`,
                resource: nameOf(call, world).split('/').slice(0, segments).join('/'),
              },
            ],
    ]),
  ),
};
