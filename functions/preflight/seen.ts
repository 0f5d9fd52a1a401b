/**
 * A round of the preflight that found nothing in the way. For two minutes its caller may begin exactly that without another
 * round. What changes meanwhile is refused by its step.
 */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import { addSeconds } from '../../shared/add-seconds.js';
import { moment } from '../../shared/api.js';
import { collections } from '../../shared/names.js';
import type { Context } from '../context.js';
import { lift, read } from '../store/lift.js';
import { Conflict } from '../store/store.js';

const validSeconds = 120;

/** `preflights/seen-{hash of the token}`. */
export const SeenRecord = z.object({
  schema: z.literal(1),
  /** Hash of token, account and request. Without the token nobody can try what the secrets in the request may be. */
  request: z.string(),
  warnings: z.array(z.string()),
  until: z.iso.datetime(),
  expireAt: moment('When Firestore removes it'),
});
type SeenRecord = z.infer<typeof SeenRecord>;
const liftSeen = lift('preflight that was seen', SeenRecord, 1);

type Keeping = Pick<Context, 'store' | 'clock'>;

interface Round {
  /** The account that asked. */
  readonly identity: string;
  /** All that the findings depend on. */
  readonly request: Readonly<Record<string, unknown>>;
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
const idOf = (token: string): string => `seen-${hash(token)}`;
/** The order of options and fields says nothing. */
const sorted = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;
const hashOf = (token: string, { identity, request }: Round): string =>
  hash(JSON.stringify([token, identity, request], sorted));

/** Returns the token that stands for it. */
export async function keepSeen(
  { store, clock, random }: Keeping & Pick<Context, 'random'>,
  round: Round,
  warnings: readonly string[],
): Promise<string> {
  const token = random.bytes(16).toString('hex');
  const until = addSeconds(clock.now(), validSeconds);
  const data: SeenRecord = {
    schema: 1,
    request: hashOf(token, round),
    warnings: [...warnings],
    until,
    expireAt: until,
  };
  // The id is random, so a second try after a lost answer can only meet its own document.
  await store.commit([{ kind: 'set', collection: collections.preflights, id: idOf(token), data }]);
  return token;
}

/** What it warned of. It serves one beginning. Undefined: there was no such round of this caller, or it is used or too long ago. */
export async function useSeen(
  { store, clock }: Keeping,
  round: Round,
  token: string,
): Promise<readonly string[] | undefined> {
  const found = read(await store.get(collections.preflights, idOf(token)), liftSeen);
  if (found === undefined || found.data.request !== hashOf(token, round)) return undefined;
  if (Date.parse(found.data.until) < clock.now().getTime()) return undefined;
  const { collection, id, version, data } = found;
  try {
    await store.commit([{ kind: 'delete', collection, id, version }]);
  } catch (error) {
    // Another beginning was faster.
    if (error instanceof Conflict) return undefined;
    throw error;
  }
  return data.warnings;
}
