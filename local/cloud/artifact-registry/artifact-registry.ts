/** Artifact Registry in the simulated cloud: repositories, their long-running operations and their policies. */
import {
  type ApiDefinition,
  type CloudCall,
  GoogleError,
  type Handler,
  type JsonObject,
  type World,
} from '../kernel/api.js';
import { defineCollection, joined, type Place } from '../kernel/collection.js';
import { badInput, notSimulated } from '../kernel/errors.js';
import { objectOf, stampOf, textOf } from '../kernel/json-fields.js';
import { operationAt } from '../kernel/long-running.js';
import { pageReply } from '../kernel/pages.js';
import { regions } from '../kernel/places.js';
import { removeImages } from './records.js';

const typePrefix = 'google.devtools.artifactregistry.v1';
const multiRegions = ['asia', 'europe', 'us'];
const locations = [...regions, ...multiRegions];

const notFound = (): GoogleError => new GoogleError(404, 'NOT_FOUND', 'Requested entity was not found.');
/** A list asks for all locations by `-`. One repository of an unknown location does not exist. */
function checkLocation({ parent, id }: Place, { method }: CloudCall): void {
  const location = parent.slice(parent.lastIndexOf('/') + 1);
  if (id !== '' || locations.includes(location) || (location === '-' && method.endsWith('.list'))) return;
  throw badInput(`Location ${location} is not found or access is unauthorized.`);
}

function idIn({ params }: CloudCall): string {
  const id = params['repositoryId'] ?? '';
  if (/^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/.test(id)) return id;
  throw badInput(
    'Repository ID must start with a letter, and may hold lower-case letters, digits and dashes, at most 63.',
  );
}

function make({ path, id }: Place, { body }: CloudCall, world: World): JsonObject {
  const format = textOf(body['format']);
  if (format === undefined || format === 'FORMAT_UNSPECIFIED') throw badInput('A repository needs a format.');
  const mode = textOf(body['mode']) ?? 'MODE_UNSPECIFIED';
  if (!['MODE_UNSPECIFIED', 'STANDARD_REPOSITORY'].includes(mode)) throw notSimulated(`repositories of mode ${mode}`);
  const [, project = '', , location = ''] = path.split('/');
  const now = stampOf(world);
  return {
    ...body,
    name: path,
    format,
    mode: 'STANDARD_REPOSITORY',
    createTime: now,
    updateTime: now,
    registryUri: `${location}-${format.toLowerCase()}.pkg.dev/${project.replace(':', '/')}/${id}`,
    satisfiesPzi: true,
    ...(format === 'DOCKER' ? { vulnerabilityScanningConfig: scanningOf(body) } : {}),
  };
}

/** Only images are scanned, and only where an API is on that is not simulated. */
const scanningOf = (body: JsonObject): JsonObject => ({
  ...objectOf(body['vulnerabilityScanningConfig']),
  enablementState: 'SCANNING_DISABLED',
  enablementStateReason: 'API containerscanning.googleapis.com is not enabled.',
});

const uuid = (world: World): string => {
  const hex = Array.from({ length: 32 }, () => Math.floor(world.random() * 16).toString(16)).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
};

const repositories = defineCollection({
  methods: 'artifactregistry.projects.locations.repositories',
  table: 'artifactregistry.repositories',
  missing: notFound,
  checkParent: checkLocation,
  billed: ['create', 'patch', 'delete'],
  operations: {
    seconds: 8,
    begin: ({ parent }, world) => ({
      name: `${parent}/operations/${uuid(world)}`,
      metadata: { '@type': `type.googleapis.com/${typePrefix}.OperationMetadata` },
    }),
    type: `${typePrefix}.Repository`,
  },
  create: {
    id: idIn,
    exists: () => new GoogleError(409, 'ALREADY_EXISTS', 'the repository already exists'),
    make,
  },
  list: { field: 'repositories' },
  patch: {
    fields: [
      'description', 'labels', 'cleanupPolicies', 'cleanupPolicyDryRun', 'vulnerabilityScanningConfig', 'dockerConfig',
      'mavenConfig', 'remoteRepositoryConfig', 'virtualRepositoryConfig',
    ], // biome-ignore format: one list
    fixed: (field) => badInput(`The field ${field} of a repository cannot be changed.`),
    write({ path }, changed, _call, world) {
      repositories.records(world)[path] = { ...changed, updateTime: stampOf(world) };
    },
  },
  delete: { deleted: removeImages },
  policies: ['getIamPolicy', 'setIamPolicy'],
});

const getOperation: Handler = (call, world) => {
  const [, project = '', ...rest] = call.resource.split('/');
  const operation = operationAt(world, ['projects', world.project(project).projectId, ...rest].join('/'));
  if (operation === undefined) throw notFound();
  return operation;
};

/** gcloud lists the repositories of each of them. */
const listLocations: Handler = (call, world) => {
  const parent = `projects/${world.project(call.resource.split('/')[1] ?? '').projectId}`;
  const all = locations.map((location): [string, JsonObject] => [
    location,
    {
      name: `${parent}/locations/${location}`,
      locationId: location,
      displayName: location,
      labels: { 'cloud.googleapis.com/region': location },
    },
  ]);
  return pageReply(call, 'locations', all);
};

export const artifactRegistry: ApiDefinition<'artifactregistry'> = {
  api: 'artifactregistry.v1',
  ...joined(repositories, {
    handlers: {
      'artifactregistry.projects.locations.list': listLocations,
      'artifactregistry.projects.locations.operations.get': getOperation,
    },
  }),
};
