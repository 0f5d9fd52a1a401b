/** What sweep remembers of pools from run to run: which rest after a failure, and which an operator drained. */
import * as z from 'zod';
import { collections } from '../../shared/names.js';
import type { Context } from '../context.js';
import { lift, read } from '../store/lift.js';
import type { Version, Write } from '../store/store.js';

const time = z.iso.datetime();

/** `passes/pools`. */
export const PoolNotesRecord = z.object({
  schema: z.literal(1),
  /** When a project was last made or set aside. */
  at: time,
  /** By key of a pool: until when nothing is made in it, because its last project failed. */
  rests: z.record(z.string(), z.object({ until: time, why: z.string() })),
  /** Keys of pools that an operator drained. Nothing is made in them until they are filled again. */
  drained: z.array(z.string()),
});
export type PoolNotes = Omit<z.infer<typeof PoolNotesRecord>, 'schema' | 'at'>;

const liftNotes = lift('notes of pools', PoolNotesRecord, 1);
const place = { collection: collections.passes, id: 'pools' } as const;

export interface StoredNotes extends PoolNotes {
  /** Undefined: nothing is stored yet. */
  readonly version: Version | undefined;
}

export async function readNotes({ store }: Pick<Context, 'store'>): Promise<StoredNotes> {
  const found = read(await store.get(place.collection, place.id), liftNotes);
  const { rests = {}, drained = [] } = found?.data ?? {};
  return { rests, drained, version: found?.version };
}

/** Against the version that was read, so that of two runs at once only one makes projects. */
export function notesWrite({ version, rests, drained }: StoredNotes, at: string): Write {
  const data = { schema: 1, at, rests, drained };
  return version === undefined ? { kind: 'create', ...place, data } : { kind: 'update', ...place, version, data };
}
