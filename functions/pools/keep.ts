/**
 * Keeps the pools: makes the projects that they lack, has each looked at once a day, and sets aside what is broken, too many or
 * in no pool. What was set aside is removed by cleanup, by the same rule and proof as everything else.
 */
import { collections, countersId } from '../../shared/names.js';
import type { Context } from '../context.js';
import { liftCounters } from '../engine/record/counts.js';
import { read } from '../engine/record/documents.js';
import { publishReady } from '../engine/run/publish.js';
import { firstInstance, isWritten, lookedAgain, membersOf, newMember, setAside } from './member.js';
import { notesWrite, readNotes } from './notes.js';
import { dryPools, todoOf } from './todo.js';

/** How many projects a run began, had looked at, and set aside. */
export interface PoolsKept {
  readonly made: number;
  readonly looked: number;
  readonly setAside: number;
}

/** One query if there are no pools. Runs may overlap: what another run changed meanwhile waits for the next one. */
export async function keepPools(context: Context): Promise<PoolsKept> {
  const { config, clock } = context;
  const members = await membersOf(context);
  if (config.pools.length === 0 && members.length === 0) return { made: 0, looked: 0, setAside: 0 };
  const [notes, stopped] = await Promise.all([readNotes(context), isStopped(context)]);
  const now = clock.now();
  const at = now.toISOString();
  const wanted = todoOf(config, members, notes, now);
  // A project is prepared for a bootstrap, and none may begin now.
  const todo = stopped ? { ...wanted, make: [] } : wanted;
  const told = { ...notes, rests: todo.rests };
  const isNoted = todo.make.length > 0 || JSON.stringify(notes.rests) !== JSON.stringify(todo.rests);
  const made = todo.make.map((pool) => newMember(context, pool, now));
  // What failed is set aside only once it is noted that its pool rests.
  if (isNoted && !(await isWritten(context, [notesWrite(told, at), ...made.flatMap(({ writes }) => writes)]))) {
    return { made: 0, looked: 0, setAside: 0 };
  }
  for (const { id, generation } of made) await publishReady(context, id, generation, [firstInstance]);
  let [looked, aside] = [0, 0];
  for (const member of todo.look) {
    if (!(await isWritten(context, lookedAgain(member, at)))) continue;
    looked += 1;
    await publishReady(context, member.id, member.data.generation + 1, [firstInstance]);
  }
  for (const { member, why } of todo.setAside) {
    if (await setAside(context, member, why)) aside += 1;
  }
  for (const { collection, id, version } of todo.forget) {
    await isWritten(context, [{ kind: 'update', collection, id, version, data: { pool: undefined } }]);
  }
  const dry = stopped ? [] : dryPools(config, members, told, at);
  if (dry.length > 0) context.log('WARNING', `Dry pools of prepared projects: ${dry.join('; ')}`);
  if (made.length > 0) context.log('INFO', `${made.length} projects are being prepared`);
  return { made: made.length, looked, setAside: aside };
}

/** An operator has new bootstraps stopped. */
async function isStopped({ store }: Pick<Context, 'store'>): Promise<boolean> {
  const counted = await store.get(collections.counters, countersId);
  return read(counted, liftCounters)?.data.admission?.state === 'stopped';
}
