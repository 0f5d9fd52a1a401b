/**
 * Counts how many prepared projects of a pool an owner has had within a day. Whoever gives back what they take, in a loop, would
 * otherwise leave none to others. What is beyond goes the long way, and is not refused.
 */
import * as z from 'zod';
import { addSeconds } from '../../shared/add-seconds.js';
import { collections } from '../../shared/names.js';
import { sha256 } from '../../shared/sha256.js';
import type { Context } from '../context.js';
import { lift, read } from '../store/lift.js';
import type { Document, Write } from '../store/store.js';
import type { Pool } from './setting.js';

const daySeconds = 86_400;

/** `rates/pool-{hash of pool and owner}`. */
export const PoolShareRecord = z.object({
  schema: z.literal(1),
  /** Of the day that is counted. */
  endsAt: z.iso.datetime(),
  count: z.int(),
  /** Firestore removes it then. */
  expireAt: z.iso.datetime(),
});
type PoolShareRecord = z.infer<typeof PoolShareRecord>;
const liftShare = lift('share of a pool', PoolShareRecord, 1);

export interface Share {
  readonly id: string;
  readonly found: Document<PoolShareRecord> | undefined;
  /** How many within the day. */
  readonly count: number;
}

export async function readShare(
  { store, clock }: Pick<Context, 'store' | 'clock'>,
  { key }: Pick<Pool, 'key'>,
  owner: string,
): Promise<Share> {
  const id = `pool-${sha256(JSON.stringify([key, owner]))}`;
  const found = read(await store.get(collections.rates, id), liftShare);
  const isOver = found === undefined || found.data.endsAt <= clock.now().toISOString();
  return { id, found, count: isOver ? 0 : found.data.count };
}

/** Counts one more, against the version that was read. */
export function shareWrite({ id, found, count }: Share, now: Date): Write {
  const endsAt = found === undefined || count === 0 ? addSeconds(now, daySeconds) : found.data.endsAt;
  const data: PoolShareRecord = { schema: 1, endsAt, count: count + 1, expireAt: endsAt };
  const place = { collection: collections.rates, id };
  return found === undefined
    ? { kind: 'create', ...place, data }
    : { kind: 'update', ...place, version: found.version, data };
}
