/** A store that takes one write a second of a document, as Firestore may. */
import { Conflict, type Write } from '../../functions/store/store.js';
import type { MemoryStore } from '../../local/functions/memory-store.js';
import { Problem } from '../../shared/problems.js';

/** The code of gRPC that the second write within a second is refused with. */
export type Refusal = 'ABORTED' | 'RESOURCE_EXHAUSTED';

/** What the store's client makes of each. */
const errorOf: Readonly<Record<Refusal, () => Error>> = {
  ABORTED: () => new Conflict('10 ABORTED: Too much contention on these documents. Please try again.'),
  RESOURCE_EXHAUSTED: () => new Problem('unavailable', 'The database cannot be reached now.', { retryAfterSeconds: 2 }),
};

const millisecondsBetween = 1000;

/** `time`: in milliseconds since 1970. */
export function refuseQuickWrites(memory: MemoryStore, time: () => number, refusal: Refusal): MemoryStore {
  const writtenAt = new Map<string, number>();
  const keyOf = ({ collection, id }: Write): string => `${collection}/${id}`;
  return {
    ...memory,
    async commit(writes) {
      const now = time();
      const isQuick = (write: Write): boolean => now - (writtenAt.get(keyOf(write)) ?? 0) < millisecondsBetween;
      if (writes.some(isQuick)) throw errorOf[refusal]();
      const versions = await memory.commit(writes);
      for (const write of writes) writtenAt.set(keyOf(write), now);
      return versions;
    },
  };
}
