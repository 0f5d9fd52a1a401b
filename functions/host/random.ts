/** Where a process takes ids, secrets and chance from. It is a member of the context, as the clock is. */
import { randomBytes, randomInt, randomUUID } from 'node:crypto';

export interface Random {
  bytes(size: number): Buffer;
  uuid(): string;
  /** A whole number from `from` to below `to`. */
  whole(from: number, to: number): number;
  /** From 0 to below 1. No secret may come from it. */
  fraction(): number;
}

/** The operating system's, as node:crypto has it. */
export const realRandom: Random = {
  bytes: (size) => randomBytes(size),
  uuid: () => randomUUID(),
  whole: (from, to) => randomInt(from, to),
  fraction: () => Math.random(),
};
