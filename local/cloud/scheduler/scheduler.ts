/**
 * Cloud Scheduler in the simulated cloud: creates, changes and pauses jobs, and asks them to run. calls.ts makes their calls.
 */
import { type ApiDefinition, type CloudCall, GoogleError, type JsonObject, type World } from '../kernel/api.js';
import { defineCollection, type Found, joined, type Place } from '../kernel/collection.js';
import { badInput } from '../kernel/errors.js';
import { numberOf, stampOf, textOf } from '../kernel/json-fields.js';
import { regions } from '../kernel/places.js';
import { checkJob, type JobRecord, plan } from './jobs.js';

const mostAPage = 500;

function checkLocation({ parent }: Place): void {
  const location = parent.slice(parent.lastIndexOf('/') + 1);
  if (regions.includes(location)) return;
  throw badInput(`Location '${location}' is not a valid location. Use ListLocations to list valid locations.`);
}

/** A job without a name gets a number. */
function idIn({ params, body }: CloudCall, { parent }: Place, world: World): string {
  const given = textOf(body['name']) ?? '';
  if (given === '') return world.id();
  if (!/^projects\/[^/]+\/locations\/[^/]+\/jobs\/[a-zA-Z\d_-]{1,500}$/.test(given)) {
    throw badInput(
      'Job name must be formatted: "projects/<PROJECT_ID>/locations/<LOCATION_ID>/jobs/<JOB_ID>", with at most 500 letters, digits, hyphens and underscores in the job id.',
    );
  }
  const asked = params['parent'] ?? '';
  if (!given.startsWith(`${asked}/jobs/`) && !given.startsWith(`${parent}/jobs/`)) {
    throw badInput(`The job name should start with "${asked}".`);
  }
  return given.slice(given.lastIndexOf('/') + 1);
}

function pageSize({ params }: CloudCall): number {
  const size = numberOf(params['pageSize']) ?? 0;
  if (size < 0 || size > mostAPage) throw badInput(`Page size must be between 0 and ${mostAPage}.`);
  return size || mostAPage;
}

/** Terraform's provider resumes each new job, and Google takes that. It refuses to pause what is paused. */
const turn =
  (state: 'ENABLED' | 'PAUSED') =>
  ({ record }: Found<JobRecord>, _call: CloudCall, world: World): JsonObject => {
    if (record.job['state'] === state) {
      if (state === 'PAUSED') throw new GoogleError(400, 'FAILED_PRECONDITION', 'Job is already PAUSED.');
      return record.job;
    }
    record.job['state'] = state;
    plan(world, record);
    return record.job;
  };

const jobs = defineCollection<JobRecord>({
  methods: 'cloudscheduler.projects.locations.jobs',
  table: 'cloudscheduler.jobs',
  shown: ({ job }) => job,
  missing: () => new GoogleError(404, 'NOT_FOUND', 'Job not found.'),
  checkParent: checkLocation,
  create: {
    id: idIn,
    exists: ({ path }) => new GoogleError(409, 'ALREADY_EXISTS', `Job ${path} already exists.`),
    make({ path }, { caller, body }, world) {
      const checked = checkJob(world, caller, body, path);
      const record: JobRecord = { job: { ...checked, state: 'ENABLED', userUpdateTime: stampOf(world) }, forced: 0 };
      plan(world, record);
      return record;
    },
  },
  list: { field: 'jobs', size: pageSize },
  patch: {
    fields: [
      'description',
      'httpTarget',
      'pubsubTarget',
      'appEngineHttpTarget',
      'schedule',
      'timeZone',
      'retryConfig',
      'attemptDeadline',
    ],
    fixed: (field) => badInput(`Invalid update mask: ${field} cannot be changed.`),
    write({ record, path }, { scheduleTime: _planned, ...changed }, { caller }, world) {
      record.job = { ...checkJob(world, caller, changed, path), userUpdateTime: stampOf(world) };
      plan(world, record);
    },
  },
  delete: {},
  verbs: {
    pause: turn('PAUSED'),
    resume: turn('ENABLED'),
    /** At once, even if it is paused or running. */
    run({ record }) {
      record.forced += 1;
      return record.job;
    },
  },
});

export const scheduler: ApiDefinition<'cloudscheduler'> = { api: 'cloudscheduler.v1', ...joined(jobs) };
