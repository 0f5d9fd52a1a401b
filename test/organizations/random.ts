/** Chance that can be repeated: the same seed, the same choices. */
import type { Random as Chance } from '../../functions/host/random.js';

export interface Random {
  /** From 0 to below 1. */
  next(): number;
  pick<T>(from: readonly T[]): T;
  maybe(chance: number): boolean;
  /** A whole number from 0 to below `limit`. */
  below(limit: number): number;
}

/** mulberry32. */
export function createRandom(seed: number): Random {
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return {
    next,
    pick: <T>(from: readonly T[]): T => from[Math.floor(next() * from.length)] as T,
    maybe: (chance) => next() < chance,
    below: (limit) => Math.floor(next() * limit),
  };
}

/** The same chance, as functions take it from their context. */
export function chanceOf({ next, below }: Random): Chance {
  const bytes = (size: number): Buffer => Buffer.from(Array.from({ length: size }, () => below(256)));
  return {
    bytes,
    uuid: () =>
      bytes(16)
        .toString('hex')
        .replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-8$4-$5'),
    whole: (from, to) => from + below(to - from),
    fraction: next,
  };
}
