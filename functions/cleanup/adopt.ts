/** Gives a project of ours without a record a new one, made from its labels. It is then removed like any other. */
import { type BootstrapOptions, flags } from '../../shared/bootstrap/options.js';
import { collections, labels } from '../../shared/names.js';
import { newTrace, traceparentOf } from '../../shared/trace.js';
import type { Context } from '../context.js';
import { type BootstrapRecord, leaseId, liftName, nameIn, read } from '../engine/record/documents.js';
import { planOfRecord } from '../engine/record/plan-of-record.js';
import { eventWrites, readyLease, startRemoval } from '../engine/record/transition.js';
import { publishReady } from '../engine/run/publish.js';
import type { AnyStep, SeenProject } from '../engine/step.js';
import { persist } from '../store/persist.js';
import { Conflict } from '../store/store.js';

/** The real options are lost. Removing things does not need to know what was asked for. */
const unknownOptions = (projectName: string): BootstrapOptions =>
  ({
    ...Object.fromEntries(
      Object.entries(flags).flatMap(([name, flag]) => ('default' in flag ? [[name, flag.default]] : [])),
    ),
    projectName,
    // It may have had two datacenters. Removing a second one that never existed does no harm.
    multiDc: true,
  }) as unknown as BootstrapOptions;

/** The project has been judged. The step `project` judges it again just before the deletion. */
export async function adopt(context: Context, steps: readonly AnyStep[], project: SeenProject): Promise<void> {
  const { labels: found = {} } = project;
  await adoptAs(context, steps, {
    id: found[labels.bootstrap] ?? '',
    project,
    deadlineAt: new Date(Number((found[labels.deleteAfter] ?? '').slice(1)) * 1000).toISOString(),
  });
}

const warning =
  'No record knew this project: what it has in the DNS of another project is found by what was noted, or by its own metadata and addresses.';

interface Adopted {
  /** Of the bootstrap. */
  readonly id: string;
  readonly project: SeenProject;
  readonly deadlineAt: string;
}

/** The project is known to be of this bootstrap. */
export async function adoptAs(
  context: Context,
  steps: readonly AnyStep[],
  { id, project: { projectId, name }, deadlineAt }: Adopted,
): Promise<void> {
  const { store, clock } = context;
  const at = clock.now().toISOString();
  const [events, claims] = await persist(() =>
    Promise.all([
      store.query({ collection: collections.events, where: [['bootstrapId', '==', id]] }),
      store.query({ collection: collections.names, where: [['bootstrapId', '==', id]], limit: 1 }),
    ]),
  );
  const claim = read(claims[0], liftName);
  const record: BootstrapRecord = {
    schema: 1,
    name: claim === undefined ? projectId : nameIn(claim.id),
    projectId,
    owner: claim?.data.owner ?? 'unknown',
    ownerMember: 'unknown',
    state: 'cancelled',
    generation: 1,
    options: { ...unknownOptions(projectId) },
    given: {},
    sshPublicKey: '',
    base: {},
    traceparent: traceparentOf(newTrace()),
    createdAt: at,
    deadlineAt,
    warnings: [warning],
    instances: {
      project: { state: 'done', attempt: 0, output: { projectId, projectNumber: name.replace(/^projects\//, '') } },
    },
    // Events of a lost record may still exist.
    events: Math.max(0, ...events.map(({ data }) => Number(data['n']))),
    removal: { requestedAt: at, by: 'cleanup', why: 'expired', failures: 0 },
    orphan: true,
  };
  const action = { schema: 1, type: 'action', at, actor: 'cleanup', action: 'expired' } as const;
  const transition = startRemoval(record, planOfRecord(steps, record), at, [{ event: action }]);
  const { generation } = transition.record;
  try {
    await persist(() =>
      store.commit([
        {
          kind: 'create',
          collection: collections.bootstraps,
          id,
          data: { ...transition.record, events: record.events + transition.events.length },
        },
        ...eventWrites(id, record, transition.events),
        ...transition.ready.map(
          (instance) =>
            ({
              kind: 'set',
              collection: collections.leases,
              id: leaseId(id, instance.id),
              data: readyLease(id, generation, instance, at),
            }) as const,
        ),
      ]),
    );
  } catch (error) {
    // Another cleanup was first.
    if (error instanceof Conflict) return;
    throw error;
  }
  await publishReady(context, id, generation, transition.ready);
}
