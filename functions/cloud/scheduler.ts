/**
 * Wraps Cloud Scheduler with Google's own client, loaded on first use because it takes half a second. Only this file imports
 * @google-cloud/scheduler. Operators see and control jobs with it. The deployment creates the jobs.
 */
import type { ScheduleView } from '../../shared/cleanup-schedule.js';
import { noWatch } from '../host/connection-watch.js';
import { faultOfThrown, orUndefined, problemOf } from './errors.js';
import { reportCall, type Transport } from './rest.js';

interface Timestamp {
  readonly seconds?: number | string | { toString(): string } | null;
  readonly nanos?: number | null;
}

/** The parts of the client's answers that plinth reads. */
interface Job {
  readonly name?: string | null;
  readonly state?: string | number | null;
  readonly schedule?: string | null;
  readonly timeZone?: string | null;
  readonly scheduleTime?: Timestamp | null;
  readonly lastAttemptTime?: Timestamp | null;
  readonly status?: { readonly code?: number | null } | null;
}

type Verb = (
  request: { readonly name: string },
  options: { readonly retry: null; readonly timeout: number },
) => Promise<readonly [Job, ...unknown[]]>;
type Client = Readonly<Record<'getJob' | 'pauseJob' | 'resumeJob' | 'runJob', Verb>>;
export type SchedulerClient = () => Promise<Client>;

/** Makes the client once, on first use, with the function's own credentials. */
export function createSchedulerClient({
  config,
  credentials,
}: Pick<Transport, 'config' | 'credentials'>): SchedulerClient {
  const url = new URL(config.endpoints.cloudscheduler);
  let made: Promise<Client> | undefined;
  const make = async (): Promise<Client> => {
    const { CloudSchedulerClient } = await import('@google-cloud/scheduler/build/src/v1/cloud_scheduler_client.js');
    const ClientClass = CloudSchedulerClient as unknown as new (options: Readonly<Record<string, unknown>>) => Client;
    return new ClientClass({
      fallback: true,
      protocol: url.protocol.replace(':', ''),
      apiEndpoint: url.hostname,
      port: Number(url.port || (url.protocol === 'http:' ? 80 : 443)),
      authClient: credentials,
      projectId: config.project,
    });
  };
  return () => {
    made ??= make();
    return made;
  };
}

const timeoutMilliseconds = 20_000;

/** `name` is the job's own name, in the deployment's project and region. */
export function createScheduler(client: SchedulerClient, transport: Transport) {
  const { config, clock, connections = noWatch } = transport;
  const { origin } = new URL(config.endpoints.cloudscheduler);
  async function call(verb: keyof Client, doing: string, name: string): Promise<Job> {
    const startedAt = clock.now();
    const report = (result: string) => reportCall(transport, `cloudscheduler.${verb}`, result, startedAt);
    const path = `projects/${config.project}/locations/${config.schedulerRegion}/jobs/${name}`;
    try {
      const clientNow = await client();
      const options = { retry: null, timeout: timeoutMilliseconds } as const;
      const [job] = await connections.observe('gaxios', origin, () => clientNow[verb]({ name: path }, options));
      report('ok');
      return job;
    } catch (error) {
      if (error instanceof TypeError) throw error;
      const fault = faultOfThrown(error);
      report(String(fault.http ?? 'no answer'));
      throw problemOf(fault, doing, error);
    }
  }

  return {
    /** Undefined if there is no such job. */
    async status(name: string): Promise<ScheduleView | undefined> {
      const job = await orUndefined(call('getJob', `look at the job ${name}`, name));
      return job && viewOf(name, job);
    },
    pause: async (name: string) => viewOf(name, await call('pauseJob', `pause the job ${name}`, name)),
    resume: async (name: string) => viewOf(name, await call('resumeJob', `resume the job ${name}`, name)),
    /** Runs it now, even while it is paused. */
    run: async (name: string) => viewOf(name, await call('runJob', `run the job ${name}`, name)),
  };
}

/** By name or by number. The client returns both. */
const states: Readonly<Record<string, ScheduleView['state']>> = {
  ENABLED: 'enabled',
  PAUSED: 'paused',
  1: 'enabled',
  2: 'paused',
};

const canonical = [
  'ok', 'CANCELLED', 'UNKNOWN', 'INVALID_ARGUMENT', 'DEADLINE_EXCEEDED', 'NOT_FOUND', 'ALREADY_EXISTS', 'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED', 'FAILED_PRECONDITION', 'ABORTED', 'OUT_OF_RANGE', 'UNIMPLEMENTED', 'INTERNAL', 'UNAVAILABLE',
  'DATA_LOSS', 'UNAUTHENTICATED',
]; // biome-ignore format: google.rpc.Code, by number

function viewOf(job: string, { state, schedule, timeZone, scheduleTime, lastAttemptTime, status }: Job): ScheduleView {
  const shown = states[String(state)] ?? 'broken';
  const next = timeOf(scheduleTime);
  const last = timeOf(lastAttemptTime);
  return {
    job,
    state: shown,
    schedule: schedule ?? '',
    timeZone: timeZone || 'UTC',
    ...(next === undefined || shown !== 'enabled' ? {} : { nextRunAt: next }),
    ...(last === undefined ? {} : { lastRunAt: last }),
    // During the first run there is a time but no status yet.
    ...(last === undefined || status === null || status === undefined
      ? {}
      : { lastResult: canonical[status.code ?? 0] ?? 'UNKNOWN' }),
  };
}

function timeOf(time: Timestamp | null | undefined): string | undefined {
  if (time?.seconds === null || time?.seconds === undefined) return undefined;
  return new Date(Number(String(time.seconds)) * 1000 + (time.nanos ?? 0) / 1e6).toISOString();
}
