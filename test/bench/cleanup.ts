/** How long after its time a project is gone, what that costs, and what a run costs that finds nothing to do. */
import { randomBytes } from 'node:crypto';
import type { Data, Store } from '../../functions/store/store.js';
import { grantAtOnce } from '../../local/cloud/iam/policies.js';
import type { ProjectRecord } from '../../local/cloud/kernel/api.js';
import { functionAccount, local, people } from '../../local/stack/deployment.js';
import { createStack, type Stack } from '../../local/stack/stack.js';
import { collections, functionNames, labels, schedulerJobs } from '../../shared/names.js';
import { countStore, type StoreCounts } from '../support/counting-store.js';
import { type Figure, type Measurement, part, quantile, type Row } from './figures.js';
import { optionsOf } from './stack.js';

/** The schedule that terraform gives the job. */
const periodSeconds = 300;
const live = 10_000;

interface Bench {
  readonly stack: Stack;
  readonly store: Store;
  readonly counts: StoreCounts;
  /** Adds copies of one that was bootstrapped for real: a record, and a project that is paid for. */
  add(count: number, deadline: number): Promise<void>;
  /** Has Cloud Scheduler run the job, and waits until all that follows has ended: runs that this one asks for, too. */
  run(timeoutSeconds?: number): Promise<void>;
  /** Has it run, and waits for its answer alone. */
  call(): Promise<void>;
  close(): Promise<void>;
}

async function createBench(timeFactor: number): Promise<Bench> {
  let counted: ReturnType<typeof countStore> | undefined;
  let own: Store | undefined;
  const stack = await createStack({
    timeFactor,
    wrapStore(store) {
      own = store;
      counted = countStore(store);
      return counted.store;
    },
  });
  const { cloudHalf } = stack;
  if (own === undefined || counted === undefined || cloudHalf === undefined) throw new Error('a whole stack is needed');
  const { cloud } = cloudHalf;
  const store = own;
  const { counts } = counted;
  const steer = async (method: string, job: string, body: object = {}): Promise<void> => {
    const path = `/v1/projects/${local.project}/locations/${local.region}/jobs/${job}`;
    const reply = await fetch(`${cloud.endpoints.cloudscheduler}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${cloud.identity.accessToken(people.admin)}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
    });
    if (!reply.ok) throw new Error(`${job} → ${reply.status} ${await reply.text()}`);
  };
  await steer('POST', `${schedulerJobs.sweep}:pause`);
  // Enabled, or no run would ask for another; by its schedule it runs at New Year.
  await steer('PATCH', `${schedulerJobs.cleanup}?updateMask=schedule`, { schedule: '0 0 1 1 *' });
  await cloud.scheduledCalls.idle();
  const pattern = await patternOf(stack, store);

  const call = async (): Promise<void> => {
    await steer('POST', `${schedulerJobs.cleanup}:run`);
    await cloud.scheduledCalls.idle();
  };

  return {
    stack,
    store,
    counts,
    call,
    async add(count, deadline) {
      const at = new Date().toISOString();
      for (let i = 0; i < count; i++) {
        const unique = randomBytes(8).toString('hex').slice(0, 15);
        const [id, projectId] = [`b${unique}`, `bench-${unique}`];
        const projectNumber = String(500_000_000_000 + Number.parseInt(unique.slice(0, 9), 16));
        const deadlineAt = new Date(deadline).toISOString();
        cloud.world.table<ProjectRecord>('projects')[projectId] = {
          ...structuredClone(pattern.project),
          projectId,
          projectNumber,
          labels: {
            ...pattern.project.labels,
            [labels.bootstrap]: id,
            [labels.deleteAfter]: `t${Math.floor(deadline / 1000)}`,
          },
          createTime: at,
        };
        grantAtOnce(cloud.world, `projects/${projectId}`, [
          { role: 'roles/owner', members: [`serviceAccount:${functionAccount(functionNames.runCloudStep)}`] },
        ]);
        const instances = pattern.record['instances'] as Record<string, Record<string, unknown>>;
        await store.commit([
          {
            kind: 'create',
            collection: collections.bootstraps,
            id,
            data: {
              ...pattern.record,
              name: projectId,
              projectId,
              deadlineAt,
              removeAt: deadlineAt,
              instances: {
                ...instances,
                project: { ...instances['project'], output: { projectId, projectNumber } },
              },
            },
          },
        ]);
      }
    },
    async run(timeoutSeconds = 900) {
      await call();
      for (let asked = -1; asked !== cloud.calls.last(); ) {
        asked = cloud.calls.last();
        await cloud.scheduledCalls.idle();
        await stack.settle(timeoutSeconds);
      }
    },
    close: () => stack.close(),
  };
}

/** One real bootstrap, whose record and project the others are copies of. */
async function patternOf(
  stack: Stack,
  store: Store,
): Promise<{ readonly record: Data; readonly project: ProjectRecord }> {
  const { idToken } = await stack.tokens(people.alice);
  const reply = await fetch(`${stack.url}/bootstraps`, {
    method: 'POST',
    headers: { authorization: `Bearer ${idToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      options: { ...optionsOf('pattern'), projectTtl: '2d' },
      sshPublicKey:
        'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBvzZpkM1mOAq0YPoqJz8b4Zr1d1yG2Q0eN6q1S0b2Xy alice@example.com',
    }),
  });
  if (!reply.ok) throw new Error(`POST /bootstraps → ${reply.status} ${await reply.text()}`);
  const { bootstrap } = (await reply.json()) as { bootstrap: { id: string; projectId: string } };
  await stack.settle(900);
  const record = await store.get(collections.bootstraps, bootstrap.id);
  const project = stack.cloudHalf?.cloud.world.table<ProjectRecord>('projects')[bootstrap.projectId];
  if (record?.data['state'] !== 'succeeded' || project === undefined) throw new Error('The pattern did not succeed.');
  return { record: record.data, project };
}

/** From the run that finds them to Google's yes to the deletion of each, in seconds. */
async function expire(bench: Bench, count: number, say: (text: string) => void) {
  const { cloudHalf } = bench.stack;
  if (cloudHalf === undefined) throw new Error('a whole stack is needed');
  const { calls } = cloudHalf.cloud;
  await bench.add(count, Date.now() - 1000);
  const since = calls.last();
  const before = { ...bench.counts };
  const begun = Date.now();
  await bench.run();
  const made = calls.list({ since }).filter(({ caller }) => caller.startsWith('plinth-'));
  const seconds = made
    .filter(({ method, status }) => method === 'cloudresourcemanager.projects.delete' && status === 200)
    .map(({ at, milliseconds }) => (at + milliseconds - begun) / 1000);
  for (const [why, times] of await whyNot(bench, new Date().toISOString())) say(`not gone, ${times} times: ${why}`);
  if (seconds.length === 0) throw new Error(`none of ${count} projects went`);
  return {
    seconds,
    calls: made.length,
    reads: bench.counts.reads - before.reads,
    written: bench.counts.written - before.written,
  };
}

/** Why what expired is not gone, project ids left out, and how often: by the records, and by what was logged as an error. */
async function whyNot({ store, stack }: Bench, now: string): Promise<Map<string, number>> {
  const late = await store.query({ collection: collections.bootstraps, where: [['deadlineAt', '<', now]] });
  const reasons = new Map<string, number>();
  const count = (why: string) => reasons.set(why, (reasons.get(why) ?? 0) + 1);
  for (const { data } of late) {
    if (data['state'] === 'removed') continue;
    const { detail = 'no problem is recorded' } = (data['problem'] ?? {}) as { detail?: string };
    count(
      `${data['state']}: ${detail}`.replaceAll(String(data['projectId']), '<project>').replaceAll(/\d{12,}/g, '<n>'),
    );
  }
  for (const line of stack.logs) {
    if (!line.includes('"ERROR"')) continue;
    const { message, error = '' } = JSON.parse(line) as { message: string; error?: string };
    count(`logged: ${message}: ${error.split('\n')[0]}`.replaceAll(/bench-\w+|\bb[a-z0-9]{15}\b/g, '<id>'));
  }
  return reasons;
}

const megabytes = (): number => process.memoryUsage().rss / 2 ** 20;

/** In a cloud at real speed. */
async function* ofExpired(say: (text: string) => void): AsyncGenerator<Row> {
  say('bootstrapping the pattern');
  const bench = await createBench(1);
  try {
    for (const count of [1, 100, 1000]) {
      say(`${count} expiring at once`);
      const all = count === 1 ? 'one expiring' : `${count} expiring at once`;
      yield* part(all, () => expired(bench, { count, all }, say));
    }
  } finally {
    await bench.close();
  }
}

async function expired(
  bench: Bench,
  { count, all }: { readonly count: number; readonly all: string },
  say: (text: string) => void,
): Promise<readonly Figure[]> {
  const before = megabytes();
  const { seconds, calls, reads, written } = await expire(bench, count, say);
  const figure = (name: string, value: number, unit: string, baseline?: Figure['baseline']): Figure => ({
    name: `${all}: ${name}`,
    value,
    unit,
    ...(baseline === undefined ? {} : { baseline }),
  });
  const wait = { name: 'longest wait for a run', value: periodSeconds, unit: 's' };
  // What expires does so at any time between two runs.
  const waited = seconds.flatMap((each) => Array.from({ length: 100 }, (_, i) => each + (i * periodSeconds) / 100));
  const shares = [
    ['p50', 0.5],
    ['p99', 0.99],
  ] as const;
  const projects = { name: 'projects', value: count, unit: '' };
  return [
    ...shares.flatMap(([name, share]) => [
      figure(`gone after the run began, ${name}`, quantile(seconds, share), 's', wait),
      figure(`gone after its time, ${name}`, quantile(waited, share), 's'),
    ]),
    figure('gone without the schedule', seconds.length, '', projects),
    figure('API calls', calls, '', projects),
    figure('documents read', reads, '', projects),
    figure('documents written', written, '', projects),
    figure('memory of the whole stack', megabytes(), 'MB', { name: 'before', value: before, unit: 'MB' }),
  ];
}

/** A run that finds nothing to do. */
async function ofLiving(): Promise<readonly Figure[]> {
  const bench = await createBench(0);
  try {
    const idle = async () => {
      const [before, since] = [{ ...bench.counts }, bench.stack.cloudHalf?.cloud.calls.last() ?? 0];
      const begun = performance.now();
      await bench.call();
      return {
        reads: bench.counts.reads - before.reads,
        calls: (bench.stack.cloudHalf?.cloud.calls.list({ since }) ?? []).filter(({ caller }) =>
          caller.startsWith('plinth-'),
        ).length,
        milliseconds: performance.now() - begun,
      };
    };
    await idle();
    const alone = await idle();
    await bench.add(live, Date.now() + 86_400_000);
    const [before, among] = [megabytes(), await idle()];
    const beside = (name: string, value: number, was: number, unit = ''): Figure => ({
      name: `a run among ${live} live: ${name}`,
      value,
      unit,
      baseline: { name: 'with one live', value: was, unit },
    });
    return [
      { ...beside('documents read', among.reads, alone.reads), aim: 1 },
      { ...beside('API calls', among.calls, alone.calls), aim: 1 },
      beside('time', among.milliseconds, alone.milliseconds, 'ms'),
      {
        name: `a run among ${live} live: memory of the whole stack`,
        value: megabytes(),
        unit: 'MB',
        baseline: { name: 'before', value: before, unit: 'MB' },
      },
    ];
  } finally {
    await bench.close();
  }
}

export const cleanup: Measurement = {
  name: 'cleanup',
  title: 'Cleanup: how long after its time a project is gone, in a realistic cloud; what a run costs',
  mostSeconds: 600,
  async *measure(say) {
    say(`${live} live, none expired`);
    yield* part(`a run among ${live} live`, ofLiving);
    yield* ofExpired(say);
  },
};
