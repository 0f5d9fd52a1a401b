/**
 * The whole of cleanup on a local stack whose cloud and store an adversary fills: what a dry run lists, what a run deletes, and
 * what the oracle says of it.
 */
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { grantAtOnce } from '../../local/cloud/iam/policies.js';
import type { SimulatedCloud } from '../../local/cloud/index.js';
import type { ProjectRecord } from '../../local/cloud/kernel/api.js';
import { functionAccount, functionUrl, local, people } from '../../local/stack/deployment.js';
import { schedulerHeaders } from '../../local/stack/front-end.js';
import { createStack, type Stack } from '../../local/stack/stack.js';
import { CleanupReport } from '../../shared/bootstrap/cleanup.js';
import { collections, deploymentSecrets, functionNames, schedulerJobs } from '../../shared/names.js';
import { type Identity, type ProjectChoice, projectChoice, tamper } from './adversary.js';
import { instancesOf, options, projectOf } from './expired.js';
import { type Judgement, judge, type OracleProject, type OracleRecord } from './oracle.js';

/** How many projects stand at once. */
const size = 6;
export const choices = fc.array(projectChoice, { minLength: size, maxLength: size });

/** Runs see all projects at once, or a page of them at a time. */
export const searches = fc.constantFrom('all', 'page');
export type Search = 'all' | 'page';

/** Projects of others among them, whose time is not over: so many that Google shows them on three pages. */
const bystanders = 1000;
const pages = 3;

export interface Outcome {
  readonly projects: readonly { readonly project: OracleProject; readonly judgement: Judgement }[];
  readonly records: readonly OracleRecord[];
  /** Project ids that the dry run lists, of all projects. */
  readonly listed: readonly string[];
  /** Of each run: what a dry run of the same search had listed just before, and what went then. */
  readonly rounds: readonly { readonly listed: readonly string[]; readonly deleted: readonly string[] }[];
  /** Project ids that Google was asked to delete, whatever it answered. */
  readonly asked: readonly string[];
  readonly deleted: readonly string[];
}

export interface TamperedStack {
  run(chosen: readonly ProjectChoice[], search: Search): Promise<Outcome>;
  close(): Promise<void>;
}

const iso = (time: number): string => new Date(time).toISOString();

export async function createTamperedStack(): Promise<TamperedStack> {
  const stack: Stack = await createStack();
  const { cloudHalf, functionsHalf } = stack;
  if (cloudHalf === undefined || functionsHalf === undefined) throw new Error('a whole stack is needed');
  const { cloud } = cloudHalf;
  const { world } = cloud;
  const { store } = functionsHalf;
  // Nothing but the rule keeps plinth from deleting any project of the organization.
  for (const name of [functionNames.runCloudStep, functionNames.cleanup]) {
    grantAtOnce(world, local.organization, [
      { role: 'roles/owner', members: [`serviceAccount:${functionAccount(name)}`] },
    ]);
  }
  const proofKey = await readProofKey(cloud);
  const job = `/v1/projects/${local.project}/locations/${local.region}/jobs/${schedulerJobs.cleanup}`;
  const scheduler = async (verb: string) => {
    const reply = await fetch(`${cloud.endpoints.cloudscheduler}${job}:${verb}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${cloud.identity.accessToken(people.admin)}` },
    });
    if (!reply.ok) throw new Error(`${verb}: ${reply.status} ${await reply.text()}`);
  };
  // It runs when the test says so.
  await scheduler('pause');
  await cloud.scheduledCalls.idle();

  const url = functionUrl(stack.url, functionNames.cleanup);
  /** As Cloud Scheduler calls it; a job that is told to run answers before its call has even begun. */
  async function runCleanup(dryRun: boolean, search: Search): Promise<CleanupReport> {
    const headers = await schedulerHeaders(cloud.identity, url);
    const reply = await fetch(`${url}?dryRun=${dryRun}&search=${search}`, { method: 'POST', headers });
    return CleanupReport.parse(await reply.json());
  }

  const make = ({ projectId, number, parent, active, labels }: OracleProject): void => {
    const place = { parent, active, labels: { ...labels } };
    world.table<ProjectRecord>('projects')[projectId] = projectOf(projectId, number, place);
  };
  const protect = ({ number }: OracleProject): void => {
    const name = `liens/p${number}-l1`;
    world.table('liens')[name] = {
      name,
      parent: `projects/${number}`,
      restrictions: ['resourcemanager.projects.delete'],
      reason: 'still needed',
      origin: 'the adversary',
      createTime: iso(Date.now()),
    };
  };
  const dataOf = (record: OracleRecord, choice: ProjectChoice, now: number) => {
    const removeAt = { deadline: record.deadline, 'long-ago': 0, future: now + 32_400_000, never: undefined }[
      choice.record?.due ?? 'deadline'
    ];
    return {
      schema: 1,
      name: record.projectId,
      projectId: record.projectId,
      owner: people.alice,
      ownerMember: `user:${people.alice}`,
      state: record.state,
      generation: 1,
      options: { ...options },
      given: {},
      sshPublicKey: '',
      base: {},
      createdAt: iso(now - 86_400_000),
      deadlineAt: iso(record.deadline),
      ...(removeAt === undefined ? {} : { removeAt: iso(removeAt) }),
      ...(record.protectedUntil === undefined
        ? {}
        : { protection: { until: iso(record.protectedUntil), reason: 'a demo', by: people.alice } }),
      ...(record.quarantined
        ? {
            removal: {
              requestedAt: iso(now),
              by: 'cleanup',
              why: 'expired',
              failures: 3,
              quarantinedAt: iso(now),
            },
          }
        : {}),
      warnings: [],
      events: 0,
      instances: instancesOf(
        record.number === undefined ? undefined : { projectId: record.projectId, projectNumber: record.number },
      ),
    };
  };

  async function forget(projects: readonly OracleProject[]): Promise<void> {
    for (const { projectId } of projects) delete world.table('projects')[projectId];
    for (const name of Object.keys(world.table('liens'))) delete world.table('liens')[name];
    for (const collection of [collections.bootstraps, collections.leases, collections.events, collections.passes]) {
      const documents = await store.query({ collection });
      await store.commit(documents.map(({ id }) => ({ kind: 'delete', collection, id }) as const));
    }
  }

  for (let i = 0; i < bystanders; i++) {
    const [projectId, number] = [`tampered-${(i * 0.256).toString(16).replace('.', '')}`, `7${i}`];
    const labels = {
      'plinth-managed': 'true',
      'plinth-deployment': local.deployment,
      'plinth-bootstrap': `b111${String(i).padStart(12, '0')}`,
      'delete-after': `t${Math.floor(Date.now() / 1000) + 86_400}`,
    };
    make({ projectId, number, parent: local.folder, active: true, lien: false, labels });
  }

  return {
    async run(chosen, search) {
      const identities = chosen.map((_, i): Identity => {
        const unique = randomBytes(6).toString('hex');
        return {
          projectId: `tampered-${unique}`,
          number: `4${parseInt(unique, 16) % 1e10}${i}`,
          bootstrapId: `b000${unique}`,
        };
      });
      const now = Date.now();
      const place = {
        now,
        parent: local.folder,
        otherParent: local.otherFolder,
        organization: local.organization,
        deployment: local.deployment,
        proofKey,
      };
      const { projects, world: judged } = tamper(chosen, identities, place);
      for (const project of projects) {
        make(project);
        if (project.lien) protect(project);
      }
      const data = new Map(
        judged.records.map((record) => [
          record,
          chosen[identities.findIndex(({ bootstrapId }) => bootstrapId === record.id)],
        ]),
      );
      for (const [record, choice] of data) {
        if (choice === undefined) throw new Error('a record of nobody');
        await store.commit([
          { kind: 'create', collection: collections.bootstraps, id: record.id, data: dataOf(record, choice, now) },
        ]);
      }
      const ids = new Map(
        projects.flatMap(({ projectId, number }) => [
          [projectId, projectId],
          [number, projectId],
        ]),
      );
      const since = cloud.calls.last();
      const deletionsSince = (from: number) => {
        const calls = cloud.calls.list({ since: from, method: 'cloudresourcemanager.projects.delete' });
        const asked = calls.map(({ params }) => (params['name'] ?? '').replace(/^projects\//, ''));
        return calls.map(({ status }, i) => ({ projectId: ids.get(asked[i] ?? '') ?? asked[i] ?? '', status }));
      };
      const deletedSince = (from: number) =>
        deletionsSince(from).flatMap(({ projectId, status }) => (status === 200 ? [projectId] : []));
      async function dryRun(how: Search): Promise<string[]> {
        const from = cloud.calls.last();
        const { remove } = await runCleanup(true, how);
        await stack.settle();
        const early = deletionsSince(from);
        if (early.length > 0) throw new Error(`a dry run deleted: ${JSON.stringify(early)}`);
        return remove.map(({ projectId }) => projectId);
      }
      const listed = await dryRun('all');
      const rounds: Outcome['rounds'][number][] = [];
      // Once more than it takes: the last finds what the others began, and begins nothing anew.
      for (let round = 0; round <= (search === 'all' ? 1 : pages); round++) {
        const before = await dryRun(search);
        const from = cloud.calls.last();
        await runCleanup(false, search);
        await stack.settle();
        rounds.push({ listed: before, deleted: deletedSince(from) });
      }
      await forget(projects);
      return {
        projects: projects.map((project) => ({ project, judgement: judge(project, judged) })),
        records: judged.records,
        listed,
        rounds,
        asked: deletionsSince(since).map(({ projectId }) => projectId),
        deleted: deletedSince(since),
      };
    },
    close: () => stack.close(),
  };
}

async function readProofKey(cloud: SimulatedCloud): Promise<string> {
  const path = `/v1/projects/${local.project}/secrets/${deploymentSecrets.proofKey}/versions/1:access`;
  const reply = await fetch(`${cloud.endpoints.secretmanager}${path}`, {
    headers: { authorization: `Bearer ${cloud.identity.accessToken(people.admin)}` },
  });
  const { payload } = (await reply.json()) as { payload: { data: string } };
  return Buffer.from(payload.data, 'base64').toString('utf8');
}

/** What is wrong with an outcome; empty if nothing is. */
export function faultsOf({ projects, listed, rounds, asked, deleted }: Outcome): string[] {
  // A lien is found when it is tried; it is respected, and told of.
  const active = projects
    .filter(({ project }) => project.active && !project.lien)
    .map(({ project }) => project.projectId);
  const once = [...new Set(deleted)];
  const wrong = asked.filter((id) =>
    projects.every(({ project, judgement }) => project.projectId !== id || judgement === 'never'),
  );
  const left = projects.filter(
    ({ project, judgement }) => judgement === 'must' && !deleted.includes(project.projectId),
  );
  const promised = [...new Set(listed)].filter((id) => active.includes(id));
  const broken = rounds.filter(
    (round) =>
      [...new Set(round.listed)]
        .filter((id) => active.includes(id))
        .sort()
        .join() !== [...round.deleted].sort().join(),
  );
  return [
    ...broken.map((round) => `a run did not do as its own dry run: ${JSON.stringify(round)}`),
    ...wrong.map((id) => `${id} was to be deleted, and must not be`),
    ...left.map(({ project }) => `${project.projectId} must go, and stays`),
    ...promised.filter((id) => !once.includes(id)).map((id) => `${id} is listed by the dry run, and stays`),
    ...once.filter((id) => !promised.includes(id)).map((id) => `${id} goes, and the dry run did not list it`),
    ...(deleted.length === once.length ? [] : ['a project was deleted twice']),
  ];
}
