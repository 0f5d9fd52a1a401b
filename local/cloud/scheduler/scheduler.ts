/**
 * Cloud Scheduler in the simulated cloud: creates, changes and pauses jobs, and asks them to run. calls.ts makes their calls.
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
import { numberOf, textOf } from '../kernel/json-fields.js';
import { pageOf } from '../kernel/pages.js';
import { regions } from '../kernel/places.js';
import { badInput, checkJob, type JobRecord, jobs, plan } from './jobs.js';

const service = 'cloudscheduler.googleapis.com';
const mostAPage = 500;

/** The path with the project's id, whether the caller named the project by id or number. */
function nameOf(call: CloudCall, world: World): string {
  const [, project = '', ...rest] = (call.params['name'] ?? call.params['parent'] ?? '').split('/');
  const { projectId } = world.project(project, { service });
  return ['projects', projectId, ...rest].join('/');
}

function placeOf(call: CloudCall, world: World): string {
  const path = nameOf(call, world);
  const location = path.split('/')[3] ?? '';
  if (!regions.includes(location)) {
    throw badInput(`Location '${location}' is not a valid location. Use ListLocations to list valid locations.`);
  }
  return path;
}

function find(call: CloudCall, world: World): JobRecord {
  const found = jobs(world)[placeOf(call, world)];
  if (found === undefined) throw new GoogleError(404, 'NOT_FOUND', 'Job not found.');
  return found;
}

function freshName(call: CloudCall, world: World): string {
  const parent = placeOf(call, world);
  const given = textOf(call.body['name']);
  if (given === undefined || given === '') return `${parent}/jobs/${world.id()}`;
  if (!/^projects\/[^/]+\/locations\/[^/]+\/jobs\/[a-zA-Z\d_-]{1,500}$/.test(given)) {
    throw badInput(
      'Job name must be formatted: "projects/<PROJECT_ID>/locations/<LOCATION_ID>/jobs/<JOB_ID>", with at most 500 letters, digits, hyphens and underscores in the job id.',
    );
  }
  const under = call.params['parent'] ?? '';
  if (!given.startsWith(`${under}/jobs/`) && !given.startsWith(`${parent}/jobs/`)) {
    throw badInput(`The job name should start with "${under}".`);
  }
  return `${parent}/jobs/${given.slice(given.lastIndexOf('/') + 1)}`;
}

const stampOf = (world: World): string => new Date(world.now()).toISOString();

const create: Handler = (call, world) => {
  const name = freshName(call, world);
  if (jobs(world)[name] !== undefined) throw new GoogleError(409, 'ALREADY_EXISTS', `Job ${name} already exists.`);
  const checked = checkJob(world, call.caller, call.body, name);
  const record: JobRecord = { job: { ...checked, state: 'ENABLED', userUpdateTime: stampOf(world) }, forced: 0 };
  plan(world, record);
  jobs(world)[name] = record;
  return record.job;
};

const list: Handler = (call, world) => {
  const parent = placeOf(call, world);
  const size = numberOf(call.params['pageSize']) ?? 0;
  if (size < 0 || size > mostAPage) throw badInput(`Page size must be between 0 and ${mostAPage}.`);
  const mine = Object.entries(jobs(world)).filter(([path]) => path.startsWith(`${parent}/jobs/`));
  const { items, nextPageToken } = pageOf(mine, size || mostAPage, call.params['pageToken']);
  return {
    ...(items.length === 0 ? {} : { jobs: items.map(({ job }) => job) }),
    ...(nextPageToken === undefined ? {} : { nextPageToken }),
  };
};

const changeable: readonly string[] = [
  'description', 'httpTarget', 'pubsubTarget', 'appEngineHttpTarget', 'schedule', 'timeZone', 'retryConfig', 'attemptDeadline',
]; // biome-ignore format: one list

const camel = (name: string): string => name.replace(/_(\w)/g, (_all, letter: string) => letter.toUpperCase());

/** Sets one field of a message, such as `httpTarget.uri`, or a whole message. */
function setField(into: JsonObject, from: JsonObject, path: readonly string[]): void {
  const [top = '', ...rest] = path;
  const [inner, given] = [into[top], from[top]];
  if (rest.length === 0) {
    if (given === undefined) delete into[top];
    else into[top] = given;
    return;
  }
  const copy = { ...(typeof inner === 'object' && inner !== null && !Array.isArray(inner) ? inner : {}) };
  setField(
    copy,
    (typeof given === 'object' && given !== null && !Array.isArray(given) ? given : {}) as JsonObject,
    rest,
  );
  into[top] = copy;
}

/** Changes the fields in the mask. Without a mask it changes the fields in the body. A paused job stays paused. */
const patch: Handler = (call, world) => {
  const record = find(call, world);
  const { name: _name, ...body } = call.body;
  const mask = (call.params['updateMask'] ?? '').split(',').filter((field) => field !== '');
  const fields = mask.length === 0 ? Object.keys(body) : mask.map(camel);
  const {
    state,
    userUpdateTime: _updated,
    scheduleTime: _due,
    lastAttemptTime,
    status,
    ...changed
  } = structuredClone(record.job);
  for (const field of fields) {
    const path = field.split('.');
    if (!changeable.includes(path[0] ?? '')) throw badInput(`Invalid update mask: ${field} cannot be changed.`);
    setField(changed, body, path);
  }
  const checked = checkJob(world, call.caller, changed, String(record.job['name']));
  record.job = {
    ...checked,
    state: state ?? 'ENABLED',
    userUpdateTime: stampOf(world),
    ...(lastAttemptTime === undefined ? {} : { lastAttemptTime }),
    ...(status === undefined ? {} : { status }),
  };
  plan(world, record);
  return record.job;
};

const remove: Handler = (call, world) => {
  find(call, world);
  delete jobs(world)[nameOf(call, world)];
  return {};
};

/** Terraform's provider resumes each new job, and Google takes that. It refuses to pause what is paused. */
const turn =
  (state: 'ENABLED' | 'PAUSED'): Handler =>
  (call, world) => {
    const record = find(call, world);
    if (record.job['state'] === state) {
      if (state === 'PAUSED') throw new GoogleError(400, 'FAILED_PRECONDITION', 'Job is already PAUSED.');
      return record.job;
    }
    record.job['state'] = state;
    plan(world, record);
    return record.job;
  };

/** Runs the job at once, even if it is paused or running. */
const run: Handler = (call, world) => {
  const record = find(call, world);
  record.forced += 1;
  return record.job;
};

const locationResource = (project: string, location: string): JsonObject => ({
  name: `${project}/locations/${location}`,
  locationId: location,
  displayName: location,
  labels: { 'cloud.googleapis.com/region': location },
});

const listLocations: Handler = (call, world) => {
  const project = nameOf(call, world);
  const size = numberOf(call.params['pageSize']);
  const { items, nextPageToken } = pageOf(
    regions.map((location) => [location, locationResource(project, location)] as const),
    size,
    call.params['pageToken'],
  );
  return { locations: items, ...(nextPageToken === undefined ? {} : { nextPageToken }) };
};

const getLocation: Handler = (call, world) => {
  const [kind, project, , location = ''] = placeOf(call, world).split('/');
  return locationResource(`${kind}/${project}`, location);
};

interface Method {
  readonly handler: Handler;
  readonly permission: string;
}

/** Roles are granted on projects, because a job has no policy of its own. */
const methods: Readonly<Record<string, Method>> = {
  list: { handler: listLocations, permission: 'locations.list' },
  get: { handler: getLocation, permission: 'locations.get' },
  'jobs.create': { handler: create, permission: 'jobs.create' },
  'jobs.get': { handler: (call, world) => find(call, world).job, permission: 'jobs.get' },
  'jobs.list': { handler: list, permission: 'jobs.list' },
  'jobs.patch': { handler: patch, permission: 'jobs.update' },
  'jobs.delete': { handler: remove, permission: 'jobs.delete' },
  'jobs.pause': { handler: turn('PAUSED'), permission: 'jobs.pause' },
  'jobs.resume': { handler: turn('ENABLED'), permission: 'jobs.enable' },
  'jobs.run': { handler: run, permission: 'jobs.run' },
};

const full = (method: string): string => `cloudscheduler.projects.locations.${method}`;

const accessOf =
  ({ permission }: Method) =>
  (call: CloudCall): readonly Access[] => [
    {
      permission: `cloudscheduler.${permission}`,
      resource: (call.params['name'] ?? call.params['parent'] ?? '').split('/').slice(0, 2).join('/'),
    },
  ];

export const scheduler: ApiDefinition<'cloudscheduler'> = {
  api: 'cloudscheduler.v1',
  handlers: Object.fromEntries(Object.entries(methods).map(([name, { handler }]) => [full(name), handler])),
  access: Object.fromEntries(Object.entries(methods).map(([name, method]) => [full(name), accessOf(method)])),
};
