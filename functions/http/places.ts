/** Bounds what a process holds for its callers at once: for each of them, so that the others keep their room, and in all. */
import { Problem } from '../../shared/problems.js';

interface Bound {
  /** For programs. */
  readonly limit: string;
  /** For people, in the plural. */
  readonly what: string;
  readonly each: number;
  readonly all: number;
}

const retryAfterSeconds = 5;

export interface Places {
  /** Takes a place. Returns what frees it, which may be called more than once. */
  take(identity: string): () => void;
}

export function createPlaces({ limit, what, each, all }: Bound): Places {
  const taken = new Map<string, number>();
  let total = 0;
  const change = (identity: string, by: 1 | -1): void => {
    const own = (taken.get(identity) ?? 0) + by;
    if (own === 0) taken.delete(identity);
    else taken.set(identity, own);
    total += by;
  };
  return {
    take(identity) {
      if ((taken.get(identity) ?? 0) >= each) {
        throw new Problem('too-many', `You have ${each} ${what} here, and that is the limit for one caller.`, {
          retryAfterSeconds,
          advice: 'End one of them, or try again later.',
          members: { limit, value: each },
        });
      }
      if (total >= all) {
        throw new Problem('unavailable', `There are ${all} ${what} here, and that is the limit for all callers.`, {
          retryAfterSeconds,
        });
      }
      change(identity, 1);
      let isFreed = false;
      return () => {
        if (!isFreed) change(identity, -1);
        isFreed = true;
      };
    },
  };
}
