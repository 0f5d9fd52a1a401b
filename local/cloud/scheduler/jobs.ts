/** Jobs of Cloud Scheduler in the state: checks them and plans their next run. */

import { serviceAccounts } from '../iam/service-accounts.js';
import { type Caller, GoogleError, type JsonObject, type World } from '../kernel/api.js';
import { badInput, notSimulated } from '../kernel/errors.js';
import { numberOf, objectOf, secondsOf, textOf } from '../kernel/json-fields.js';
import { isSchedule, nextAfter } from './times.js';

export interface JobRecord {
  /** The job as the API shows it. */
  job: JsonObject;
  /** When it is due next, in real milliseconds. Missing while it is paused. */
  dueAt?: number | undefined;
  /** Number of requested runs that have not begun. */
  forced: number;
}

/** Jobs by `projects/<id>/locations/<l>/jobs/<j>`. */
export const jobs = (world: World): Record<string, JobRecord> => world.table<JobRecord>('cloudscheduler.jobs');

const targets = ['httpTarget', 'pubsubTarget', 'appEngineHttpTarget'] as const;

/** Google's defaults. */
const retryDefaults = {
  maxRetryDuration: '0s',
  minBackoffDuration: '5s',
  maxBackoffDuration: '3600s',
  maxDoublings: 5,
} as const;
const attemptDeadline = '180s';

/** The time zone of the schedule. Default: UTC. */
const zoneOf = (job: JsonObject): string => textOf(job['timeZone']) ?? 'UTC';

/** Returns the job as it will be stored, or throws Google's refusal. `name` is its path. */
export function checkJob(world: World, caller: Caller, given: JsonObject, name: string): JsonObject {
  const job: JsonObject = { attemptDeadline, ...withoutEmpty(given), name };
  job['timeZone'] = zoneOf(job);
  job['retryConfig'] = { ...retryDefaults, ...withoutEmpty(objectOf(job['retryConfig']) ?? {}) };
  if ((textOf(job['description']) ?? '').length > 500) {
    throw badInput('Job description must not be more than 500 characters.');
  }
  checkSchedule(job);
  checkDeadline(job);
  checkRetries(objectOf(job['retryConfig']) ?? {});
  const aims = targets.filter((target) => job[target] !== undefined);
  if (aims.length !== 1)
    throw badInput('Job must have exactly one target: httpTarget, pubsubTarget or appEngineHttpTarget.');
  if (aims[0] !== 'httpTarget') {
    throw notSimulated(`jobs with ${aims[0]}`);
  }
  job['httpTarget'] = checkTarget(world, caller, objectOf(job['httpTarget']) ?? {}, name);
  return job;
}

/** Clients send unset fields as 0 and `""`. */
const withoutEmpty = (body: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([, value]) => value !== 0 && value !== ''));

function checkSchedule(job: JsonObject): void {
  const schedule = textOf(job['schedule']);
  if (schedule === undefined) throw badInput('Job schedule is required.');
  if (/^every\b/i.test(schedule)) {
    throw notSimulated('schedules in another form than unix-cron');
  }
  if (!isSchedule(schedule, zoneOf(job))) throw badInput('Schedule or time zone is invalid.');
}

function checkDeadline(job: JsonObject): void {
  const seconds = secondsOf(job['attemptDeadline']);
  if (seconds < 15 || seconds > 1800) throw badInput('Attempt deadline must be between 15s and 1800s.');
}

function checkRetries(retry: JsonObject): void {
  const count = numberOf(retry['retryCount']) ?? 0;
  if (count < 0 || count > 5) throw badInput('RetryConfig.retryCount must be between 0 and 5.');
  const doublings = numberOf(retry['maxDoublings']) ?? 5;
  if (doublings < 0 || doublings > 16) throw badInput('RetryConfig.maxDoublings must be between 0 and 16.');
  const least = secondsOf(retry['minBackoffDuration']);
  const most = secondsOf(retry['maxBackoffDuration']);
  if (least < 0 || most < least) {
    throw badInput('RetryConfig.minBackoffDuration must not be negative, nor more than maxBackoffDuration.');
  }
  if (secondsOf(retry['maxRetryDuration']) < 0) throw badInput('RetryConfig.maxRetryDuration must not be negative.');
}

const withBody = new Set(['POST', 'PUT', 'PATCH']);
/** Headers that Google sets itself. Given ones are dropped. */
const reserved = /^(?:host|content-length|user-agent|x-google-.*|x-cloudscheduler.*|x-appengine-.*)$/i;
const isContentType = /^content-type$/i;

function checkTarget(world: World, caller: Caller, given: JsonObject, name: string): JsonObject {
  const target: JsonObject = { httpMethod: 'POST', ...withoutEmpty(given) };
  if (target['httpMethod'] === 'HTTP_METHOD_UNSPECIFIED') target['httpMethod'] = 'POST';
  const uri = textOf(target['uri']) ?? '';
  if (!/^https?:\/\//i.test(uri) || !URL.canParse(uri) || uri.length > 2083) {
    throw badInput(
      'HttpTarget.uri must be a valid URL that begins with http:// or https://, of at most 2083 characters.',
    );
  }
  if (target['body'] !== undefined && !withBody.has(String(target['httpMethod']))) {
    throw badInput('HttpTarget.body is allowed only with the methods POST, PUT and PATCH.');
  }
  if (target['oidcToken'] !== undefined && target['oauthToken'] !== undefined) {
    throw badInput('HttpTarget must not have both an oauthToken and an oidcToken.');
  }
  const headers = Object.entries(objectOf(target['headers']) ?? {}).filter(([header]) => !reserved.test(header));
  for (const [header, value] of headers) {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(header) || /[\r\n\0]/.test(String(value))) {
      throw badInput(`HttpTarget.headers: ${JSON.stringify(header)} is not a valid header.`);
    }
  }
  const hasType = target['body'] === undefined || headers.some(([header]) => isContentType.test(header));
  target['headers'] = {
    'User-Agent': 'Google-Cloud-Scheduler',
    ...(hasType ? {} : { 'Content-Type': 'application/octet-stream' }),
    ...Object.fromEntries(headers),
  };
  for (const kind of ['oidcToken', 'oauthToken'] as const) {
    const token = objectOf(target[kind]);
    if (token === undefined) continue;
    checkAccount(world, caller, textOf(token['serviceAccountEmail']) ?? '', name);
    target[kind] = kind === 'oidcToken' ? { audience: uri, ...withoutEmpty(token) } : token;
  }
  return target;
}

/** The account must belong to the job's own project. The caller must be allowed to act as it. */
function checkAccount(world: World, caller: Caller, email: string, name: string): void {
  if (email === '') throw badInput('The token needs a service account.');
  const project = name.split('/')[1] ?? '';
  const account = serviceAccounts(world)[email];
  const resource = `projects/${account?.projectId ?? project}/serviceAccounts/${email}`;
  if (account === undefined || !world.policies.allows(caller, 'iam.serviceAccounts.actAs', resource)) {
    throw new GoogleError(
      403,
      'PERMISSION_DENIED',
      `The principal (user or service account) lacks IAM permission "iam.serviceAccounts.actAs" for the resource "${email}" (or the resource may not exist).`,
    );
  }
  if (account.projectId !== project) throw badInput(`The service account ${email} must be in the project of the job.`);
}

/** Counts from now by default, as after each change of the job. */
export function plan(world: World, record: JobRecord, after = world.now()): void {
  const { job } = record;
  record.dueAt =
    job['state'] === 'ENABLED' ? nextAfter(world, textOf(job['schedule']) ?? '', zoneOf(job), after) : undefined;
  if (record.dueAt !== undefined) job['scheduleTime'] = new Date(record.dueAt).toISOString();
}
