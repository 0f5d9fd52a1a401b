/** The end of bootstraps as tests bring it about: deadlines moved in the store, cleanup called by hand, the job of Cloud Scheduler paused. */
import { findProofKey, proofOf } from '../../functions/engine/proof.js';
import type { BootstrapRecord } from '../../functions/engine/record/documents.js';
import { functionUrl, local, people } from '../../local/stack/deployment.js';
import { schedulerHeaders } from '../../local/stack/front-end.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { CleanupReport } from '../../shared/bootstrap/cleanup.js';
import { collections, functionNames, labels, schedulerJobs } from '../../shared/names.js';
import type { Scene } from './scene.js';

export interface Life {
  /** From now on cleanup runs only when it is called. */
  pause(): Promise<void>;
  /** The job of cleanup, or another one, asked directly, as whoever deploys; `path` is what follows its name. */
  job(method: string, path: string, body?: object, name?: string): Promise<void>;
  /** Enabled, but due at New Year: what goes on goes on by itself. */
  atNewYear(): Promise<void>;
  /** Past its time, as if the clock had gone on. */
  expire(id: string): Promise<void>;
  /** As if it had begun so much earlier, and all that has happened to it. */
  passed(id: string, hours: number): Promise<void>;
  change(id: string, data: Readonly<Record<string, unknown>>): Promise<void>;
  record(id: string): Promise<BootstrapRecord | undefined>;
  /** As Cloud Scheduler calls it; `query` as it is to stand in the URL. */
  call(query: string): Promise<Response>;
  cleanup(dryRun?: boolean): Promise<CleanupReport>;
  /** As `cleanup`, and then all that follows from it. */
  cleaned(): Promise<CleanupReport>;
  /** Sweep, as Cloud Scheduler calls it each minute, and then all that follows from it. */
  swept(): Promise<void>;
  project(projectId: string): Readonly<Record<string, unknown>>;
  /** Labels as if it had been made with a deadline in the past. */
  lateLabels(view: Pick<BootstrapView, 'id' | 'projectId'>): Promise<Readonly<Record<string, string>>>;
}

export function lifeOf({ stack, cloud }: Pick<Scene, 'stack' | 'cloud'>): Life {
  const half = stack.functionsHalf;
  if (half === undefined) throw new Error('the functions run elsewhere');
  const url = functionUrl(half.origin, functionNames.cleanup);
  const life: Life = {
    async pause() {
      await life.job('POST', ':pause');
      // Its call may have begun a moment before.
      await cloud.scheduledCalls.idle();
    },
    async job(method, path, body = {}, job = schedulerJobs.cleanup) {
      const name = `projects/${local.project}/locations/${local.region}/jobs/${job}`;
      const { accessToken } = await stack.tokens(people.admin);
      const reply = await fetch(`${cloud.endpoints.cloudscheduler}/v1/${name}${path}`, {
        method,
        headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      if (!reply.ok) throw new Error(`${method} ${name}${path}: ${reply.status} ${await reply.text()}`);
    },
    async atNewYear() {
      await life.job('PATCH', '?updateMask=schedule', { schedule: '0 0 1 1 *' });
      await cloud.scheduledCalls.idle();
    },
    async expire(id) {
      const past = new Date(Date.now() - 60_000).toISOString();
      await life.change(id, { deadlineAt: past, removeAt: past });
    },
    async passed(id, hours) {
      const record = await life.record(id);
      if (record === undefined) throw new Error(`there is no bootstrap ${id}`);
      const milliseconds = hours * 3_600_000;
      await life.change(id, { ...earlier(record, milliseconds) });
      for (const name of ['compute.instances', 'compute.addresses']) {
        for (const [path, found] of Object.entries(cloud.world.table<Record<string, unknown>>(name))) {
          if (path.startsWith(`projects/${record.projectId}/`)) Object.assign(found, earlier(found, milliseconds));
        }
      }
    },
    async change(id, data) {
      await half.store.commit([{ kind: 'update', collection: collections.bootstraps, id, data }]);
    },
    record: async (id) => (await half.store.get(collections.bootstraps, id))?.data as BootstrapRecord | undefined,
    async call(query) {
      return fetch(`${url}${query}`, { method: 'POST', headers: await schedulerHeaders(cloud.identity, url) });
    },
    async cleanup(dryRun = false) {
      const reply = await life.call(dryRun ? '?dryRun=true' : '');
      if (!reply.ok) throw new Error(`cleanup: ${reply.status} ${await reply.text()}`);
      return CleanupReport.parse(await reply.json());
    },
    async cleaned() {
      const report = await life.cleanup();
      await stack.settle();
      return report;
    },
    async swept() {
      const sweep = functionUrl(half.origin, functionNames.sweep);
      const reply = await fetch(sweep, { method: 'POST', headers: await schedulerHeaders(cloud.identity, sweep) });
      if (!reply.ok) throw new Error(`sweep: ${reply.status} ${await reply.text()}`);
      await stack.settle();
    },
    project(projectId) {
      const found = cloud.world.table<Record<string, unknown>>('projects')[projectId];
      if (found === undefined) throw new Error(`there is no project ${projectId}`);
      return found;
    },
    async lateLabels({ id: bootstrapId, projectId }) {
      const context = half.contextOf(functionNames.runCloudStep);
      const { labels: standing, projectNumber } = life.project(projectId) as {
        readonly labels: Readonly<Record<string, string>>;
        readonly projectNumber: string;
      };
      const expiry = `t${Math.floor(Date.now() / 1000) - 60}`;
      const proven = { projectNumber, bootstrapId, owner: standing[labels.owner] ?? '', expiry };
      const proof = proofOf((await findProofKey(context)) ?? '', proven);
      return { ...standing, [labels.deleteAfter]: expiry, [labels.proof]: proof };
    },
  };
  return life;
}

const isTime = (text: string): boolean => /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/.test(text);

/** The same with all its times moved. */
function earlier<T extends object>(value: T, milliseconds: number): T {
  const moved = (each: unknown): unknown => {
    if (typeof each === 'string') return isTime(each) ? new Date(Date.parse(each) - milliseconds).toISOString() : each;
    return typeof each === 'object' && each !== null && !(each instanceof Date) ? earlier(each, milliseconds) : each;
  };
  if (Array.isArray(value)) return value.map(moved) as unknown as T;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, moved(each)])) as T;
}
