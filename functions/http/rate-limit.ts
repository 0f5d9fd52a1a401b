/**
 * Limits how often a caller makes, invites, hands on or previews. The count stands in one document a caller, so it holds over all
 * instances. What reaches its operation counts, also where that refuses it. A malformed request and an answer that an
 * Idempotency-Key repeats do not count.
 */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import { addSeconds } from '../../shared/add-seconds.js';
import { collections } from '../../shared/names.js';
import { Problem } from '../../shared/problems.js';
import type { Context } from '../context.js';
import type { Caller } from '../identity/auth.js';
import { lift, read } from '../store/lift.js';
import { afterConflict } from '../store/retry.js';
import { Conflict, type Write } from '../store/store.js';
import { inTurn } from '../store/turns.js';

const windowSeconds = 60;
/** Afterwards Firestore removes the document, within a day or so. */
const keptSeconds = 3600;
const tries = 8;

/** `rates/{hash of the account}`. */
export const RateRecord = z.object({
  schema: z.literal(1),
  /** Of the minute that is counted. */
  endsAt: z.iso.datetime(),
  count: z.int(),
  expireAt: z.iso.datetime(),
});
type RateRecord = z.infer<typeof RateRecord>;
const liftRate = lift('rate', RateRecord, 1);

type Counting = Pick<Context, 'store' | 'clock' | 'random' | 'config'>;

/** Counts one change of the caller. Throws `too-many` at the limit. Costs a read, and a write if there is no limit yet. */
export async function countChange(context: Counting, { identity, operator }: Caller): Promise<void> {
  const limit = context.config.limits.changesPerMinute;
  if (operator || limit === 0) return;
  const id = createHash('sha256').update(identity).digest('base64url');
  await inTurn(context.store, `rate ${id}`, async () => {
    for (let attempt = 0; attempt < tries; attempt++) {
      try {
        await countOnce(context, id, limit);
        return;
      } catch (error) {
        if (!(error instanceof Conflict)) throw error;
        await afterConflict(context, attempt);
      }
    }
    throw tooMany(limit, 1);
  });
}

async function countOnce({ store, clock }: Counting, id: string, limit: number): Promise<void> {
  const collection = collections.rates;
  const now = clock.now();
  const found = read(await store.get(collection, id), liftRate);
  const secondsLeft = found === undefined ? 0 : (Date.parse(found.data.endsAt) - now.getTime()) / 1000;
  const standing = secondsLeft > 0 ? found?.data : undefined;
  if (standing !== undefined && standing.count >= limit) throw tooMany(limit, Math.ceil(secondsLeft));
  const data: RateRecord = {
    schema: 1,
    endsAt: standing?.endsAt ?? addSeconds(now, windowSeconds),
    count: (standing?.count ?? 0) + 1,
    expireAt: addSeconds(now, keptSeconds),
  };
  const write: Write =
    found === undefined
      ? { kind: 'create', collection, id, data }
      : { kind: 'update', collection, id, version: found.version, data };
  await store.commit([write]);
}

const tooMany = (limit: number, seconds: number): Problem =>
  new Problem('too-many', `You have made ${limit} changes a minute, and that is the limit here.`, {
    retryAfterSeconds: seconds,
    advice: `Try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}, or ask your operator to raise the limit.`,
    members: { limit: 'changesPerMinute', value: limit },
  });
