/**
 * Cloud Scheduler through Google's own client, loaded on first use: it costs half a second. The one importer of
 * @google-cloud/scheduler. An operator sees and steers jobs with it; they are made by whoever deploys plinth.
 */
import type { ScheduleView } from '../../shared/cleanup-schedule.js';
import { faultOfThrown, orUndefined, problemOf } from './errors.js';
import { reportCall, type Transport } from './rest.js';

interface Timestamp {
  readonly seconds?: number | string | { toString(): string } | null;
  readonly nanos?: number | null;
}

/** What is read of the client's answers. */
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

/** Once, on first use, with the function's own credentials. */
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

/** `name`: the job's own, in the deployment's project and region. */
export function createScheduler(client: SchedulerClient, { config, onCall }: Pick<Transport, 'config' | 'onCall'>) {
  async function call(verb: keyof Client, doing: string, name: string): Promise<Job> {
    const startedAt = performance.now();
    const report = (result: string) => reportCall(onCall, `cloudscheduler.${verb}`, result, startedAt);
    const path = `projects/${config.project}/locations/${config.schedulerRegion}/jobs/${name}`;
    try {
      const clientNow = await client();
      const [job] = await clientNow[verb]({ name: path }, { retry: null, timeout: timeoutMilliseconds });
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
    /** Undefined: there is no such job. */
    async status(name: string): Promise<ScheduleView | undefined> {
      const job = await orUndefined(call('getJob', `look at the job ${name}`, name));
      return job && viewOf(name, job);
    },
    pause: async (name: string) => viewOf(name, await call('pauseJob', `pause the job ${name}`, name)),
    resume: async (name: string) => viewOf(name, await call('resumeJob', `resume the job ${name}`, name)),
    /** Now, also while it is paused. */
    run: async (name: string) => viewOf(name, await call('runJob', `run the job ${name}`, name)),
  };
}

/** By name or by number, as the client has them. */
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
    // While the first run is under way there is a time and no status yet.
    ...(last === undefined || status === null || status === undefined
      ? {}
      : { lastResult: canonical[status.code ?? 0] ?? 'UNKNOWN' }),
  };
}

function timeOf(time: Timestamp | null | undefined): string | undefined {
  if (time?.seconds === null || time?.seconds === undefined) return undefined;
  return new Date(Number(String(time.seconds)) * 1000 + (time.nanos ?? 0) / 1e6).toISOString();
}
