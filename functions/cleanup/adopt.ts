/**
 * Adopts a project of this deployment that no record knows: its new record is made from its labels. It is then removed like any
 * other, or lives on for an owner whom an operator names. Its owner restores more: functions/bootstraps/restore/restore.ts.
 */

import { type BootstrapOptions, flags } from '../../shared/bootstrap/options.js';
import { collections, labels } from '../../shared/names.js';
import { Problem } from '../../shared/problems.js';
import { newTrace, traceparentOf } from '../../shared/trace.js';
import { type Into, restoredToTeam, teamOfLost } from '../bootstraps/restore/lost-team.js';
import type { Context } from '../context.js';
import { createBootstrap, emptyRecord } from '../engine/record/create.js';
import { type BootstrapRecord, liftName, nameIn, type RemovalRecord, read } from '../engine/record/documents.js';
import { lastEventOf } from '../engine/record/events.js';
import { planOfRecord } from '../engine/record/plan-of-record.js';
import { bootstrapOf } from '../engine/record/removal-rule.js';
import { type Leased, startRemoval, type Transition } from '../engine/record/transition.js';
import { dated } from '../engine/record/warning.js';
import { publishReady } from '../engine/run/publish.js';
import type { AnyStep, SeenProject } from '../engine/step.js';
import { afterConflict } from '../store/retry.js';
import { Conflict, type Write } from '../store/store.js';

const raceTries = 10;

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
export async function adoptExpired(context: Context, steps: readonly AnyStep[], project: SeenProject): Promise<void> {
  const { labels: found = {} } = project;
  await adoptToRemove(context, steps, {
    id: bootstrapOf(project),
    project,
    deadlineAt: new Date(Number((found[labels.deleteAfter] ?? '').slice(1)) * 1000).toISOString(),
  });
}

const keptWarning =
  'An operator took this project in by its labels. Nobody knows what it was made from, so it can be kept or removed, and not gone on with.';

const warning =
  'No record knew this project: what it has in the DNS of another project is found by what was noted, or by its own metadata and addresses.';

interface Adopted {
  /** Of the bootstrap. */
  readonly id: string;
  readonly project: SeenProject;
  readonly deadlineAt: string;
  /** Who removes it. Default: cleanup, because its time is over. */
  readonly by?: string;
  readonly why?: RemovalRecord['why'];
}

/** To whom a project is given that lives on. */
interface Given extends Pick<BootstrapRecord, 'owner' | 'ownerMember'> {
  readonly by: string;
  /** Asked again where the team has changed meanwhile. */
  readonly into: () => Promise<Into>;
}

/** The record of a removal, before its first change. */
export async function adoptedRecord(
  { store, clock }: Pick<Context, 'store' | 'clock'>,
  { id, project: { projectId, name }, deadlineAt, by = 'cleanup', why = 'expired' }: Adopted,
): Promise<{ readonly record: BootstrapRecord; readonly at: string }> {
  const at = clock.now().toISOString();
  const [events, claims] = await Promise.all([
    lastEventOf({ store }, id),
    store.query({ collection: collections.names, where: [['bootstrapId', '==', id]], limit: 1 }),
  ]);
  const claim = read(claims[0], liftName);
  const record = emptyRecord({
    name: claim === undefined ? projectId : nameIn(claim.id),
    projectId,
    owner: claim?.data.owner ?? 'unknown',
    ownerMember: 'unknown',
    state: 'cancelled',
    options: { ...unknownOptions(projectId) },
    traceparent: traceparentOf(newTrace()),
    createdAt: at,
    deadlineAt,
    warnings: [warning],
    instances: {
      project: { state: 'done', attempt: 0, output: { projectId, projectNumber: name.replace(/^projects\//, '') } },
    },
    // Events of a lost record may still exist.
    events,
    removal: { requestedAt: at, by, why, failures: 0 },
    orphan: true,
  });
  return { record, at };
}

/** The project is known to be of this bootstrap. It counts for its team until it is gone. */
export async function adoptToRemove(context: Context, steps: readonly AnyStep[], adopted: Adopted): Promise<void> {
  const { by = 'cleanup', why = 'expired' } = adopted;
  // If another cleanup was first, it goes on with it.
  await adopt(context, adopted.id, async () => {
    const { record: alone, at } = await adoptedRecord(context, adopted);
    const lost = await teamOfLost(context, adopted.project);
    const { fields, writes } = await restoredToTeam(context, adopted.id, alone, lost?.holder);
    const before = { ...alone, ...fields };
    const action = { schema: 1, type: 'action', at, actor: by, action: why === 'expired' ? why : 'cleanup' } as const;
    return {
      before,
      at,
      writes,
      transition: startRemoval(before, planOfRecord(steps, before), at, [{ event: action }]),
    };
  });
}

/**
 * The record of a project that lives on until its deadline. Its step `project` looks again, so that owner and deadline stand in
 * the labels. Throws `conflict` if it has a record by now.
 */
export async function adoptToKeep(context: Context, adopted: Adopted, given: Given): Promise<void> {
  const { owner, ownerMember, by, into } = given;
  const isFirst = await adopt(context, adopted.id, async () => {
    const { record: going, at } = await adoptedRecord(context, adopted);
    const { removal: _, ...standing } = going;
    const { holder, warnings } = await into();
    const output = going.instances['project']?.output;
    const alone: BootstrapRecord = {
      ...standing,
      ...{ owner, ownerMember },
      endedAt: at,
      warnings: [keptWarning, ...warnings],
    };
    const { fields, writes } = await restoredToTeam(context, adopted.id, alone, holder);
    const before = { ...alone, ...fields };
    const whose = holder === undefined ? owner : `${owner} in team ${holder.team.teamId}`;
    const action = { schema: 1, type: 'action', at, actor: by, action: `take-in for ${whose}` } as const;
    const transition = {
      record: dated({ ...before, instances: { project: { state: 'ready', attempt: 0, output } } }, at),
      ready: [{ id: 'project', lane: 'cloud' } as const],
      events: [{ event: action }],
    };
    return { before, at, writes, transition };
  });
  if (isFirst) return;
  const { projectId } = adopted.project;
  throw new Problem('conflict', `The project ${projectId} has a record by now.`, {
    advice: `See it: plinth beta bootstrap-cloud status ${projectId}`,
  });
}

interface Making {
  readonly before: BootstrapRecord;
  readonly transition: Transition<Leased>;
  /** In the same commit. */
  readonly writes: readonly Write[];
  readonly at: string;
}

/** False: another was first. `making` is asked again if only its team has changed meanwhile. */
async function adopt(context: Context, id: string, making: () => Promise<Making>): Promise<boolean> {
  const { store } = context;
  for (let attempt = 0; attempt < raceTries; attempt++) {
    const { before, transition, writes, at } = await making();
    const created = createBootstrap(id, before, transition, at);
    try {
      await store.commit([...created.writes, ...writes]);
      await publishReady(context, id, created.record.generation, transition.ready);
      return true;
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
    }
    if ((await store.get(collections.bootstraps, id)) !== undefined) return false;
    await afterConflict(context, attempt);
  }
  throw new Problem('unavailable', 'The team of this project changes too often now.', { retryAfterSeconds: 5 });
}
