/**
 * Answers a repeated POST with the same Idempotency-Key from the stored first answer, and does nothing else. The transaction
 * of the change stores the answer, so neither exists without the other. Only lasting refusals are stored. A 400, 409, 412
 * or 429 is judged anew.
 */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import { pathTo, type Route, type RouteTable } from '../../shared/api.js';
import { collections } from '../../shared/names.js';
import { Problem, type ProblemCode, problemKinds } from '../../shared/problems.js';
import type { Context } from '../context.js';
import type { Caller } from '../identity/auth.js';
import { lift, read } from '../store/lift.js';
import { Conflict, type Version, type Write } from '../store/store.js';
import type { Answer } from './reply.js';
import type { Call, Handlers } from './router.js';

/** The write that stores the answer for the next time, or none without a key. */
type Keep = (answer: Answer) => readonly Write[];

/** A handler that passes `keep` to the transaction that makes the change. */
export type KeepingHandlers<T extends RouteTable> = {
  readonly [K in keyof T]: (call: Call<T[K]>, keep: Keep) => Promise<Answer>;
};

const keptSeconds = 24 * 60 * 60;
/** How long a request that died in flight holds its key. */
const leaseSeconds = 30;
const tries = 4;

/** `idempotency/{hash of account, method, path, key}`. It holds the answer, but only a hash of the request. */
const KeptRecord = z.object({
  schema: z.literal(1),
  /** Hash of the body. */
  asked: z.string(),
  /** Set while the request is in flight. */
  leaseUntil: z.iso.datetime().optional(),
  /** JSON of the answer or problem, once there is one. */
  outcome: z.string().optional(),
  expireAt: z.iso.datetime(),
});
type KeptRecord = z.infer<typeof KeptRecord>;
const liftKept = lift('kept answer', KeptRecord, 1);

const Outcome = z.union([
  z.object({
    status: z.int(),
    headers: z.record(z.string(), z.string()).optional(),
    /** Missing: the answer has none. */
    body: z.unknown().optional(),
  }),
  z.object({
    problem: z.enum(Object.keys(problemKinds) as [ProblemCode, ...ProblemCode[]]),
    detail: z.string(),
    advice: z.string().optional(),
    errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
    members: z.record(z.string(), z.unknown()).optional(),
  }),
]);

const problemText = ({ code, detail, advice, errors, members }: Problem): string =>
  JSON.stringify({ problem: code, detail, advice, errors, members });

function answerAgain(text: string): Answer {
  const outcome = Outcome.parse(JSON.parse(text));
  if (!('problem' in outcome)) {
    const { status, headers, body } = outcome;
    return { status, body, ...(headers !== undefined && { headers }) };
  }
  const { problem, detail, advice, errors, members } = outcome;
  throw new Problem(problem, detail, {
    ...(advice === undefined ? {} : { advice }),
    ...(errors === undefined ? {} : { errors }),
    ...(members === undefined ? {} : { members }),
  });
}

const hash = (...parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url');

/** The parts of the parsed request that matter here. */
interface AnyCall {
  readonly params?: Readonly<Record<string, string | number>>;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body: unknown;
  readonly caller: Caller;
}

export function withIdempotency<const T extends RouteTable>(
  context: Context,
  routes: T,
  handlers: KeepingHandlers<T>,
): Handlers<T> {
  const wrapped = Object.entries<Route>(routes).map(([operation, route]) => {
    const handler = handlers[operation] as unknown as (call: AnyCall, keep: Keep) => Promise<Answer>;
    const once = (call: AnyCall): Promise<Answer> => {
      const key = call.headers?.['idempotency-key'];
      if (route.method !== 'POST' || key === undefined) return handler(call, () => []);
      const { email, identity } = call.caller;
      const id = hash(email, identity, route.method, pathTo(route, call.params), key);
      return answerOnce(context, id, hash(call.body), (keep) => handler(call, keep));
    };
    return [operation, once];
  });
  return Object.fromEntries(wrapped) as Handlers<T>;
}

async function answerOnce(
  context: Context,
  id: string,
  asked: string,
  work: (keep: Keep) => Promise<Answer>,
): Promise<Answer> {
  const { store } = context;
  const claimed = await claim(context, id, asked);
  if ('outcome' in claimed) return answerAgain(claimed.outcome);
  const { version } = claimed;
  /** Fails if the lease has expired and another request has the key now. */
  const outcomeWrite = (outcome: string): Write => ({
    kind: 'update',
    collection: collections.idempotency,
    id,
    version,
    data: { outcome, leaseUntil: undefined },
  });
  let kept: string | undefined;
  const keepAfterwards = (outcome: string) => ifNotLost(store.commit([outcomeWrite(outcome)]));
  try {
    const answer = await work((each) => {
      kept = JSON.stringify(each);
      return [outcomeWrite(kept)];
    });
    const outcome = JSON.stringify(answer);
    // No transaction stored this answer, because nothing changed.
    if (outcome !== kept) await keepAfterwards(outcome);
    return answer;
  } catch (error) {
    if (error instanceof Problem && isLasting(error)) await keepAfterwards(problemText(error));
    // Free the key for another try. The version protects an answer that was stored although its commit seemed to fail.
    else await ifNotLost(store.commit([{ kind: 'delete', collection: collections.idempotency, id, version }]));
    throw error;
  }
}

/** Whether a retry would meet the same refusal. A 400, 409, 412 or 429 may pass the next time. */
const isLasting = ({ kind: { status } }: Problem): boolean => status < 500 && ![400, 409, 412, 429].includes(status);

/** If this write fails, the key is free again when the lease expires. */
async function ifNotLost(commit: Promise<unknown>): Promise<void> {
  await commit.catch((error: unknown) => {
    const lost = error instanceof Conflict || (error instanceof Problem && error.code === 'unavailable');
    if (!lost) throw error;
  });
}

type Claim = { readonly version: Version } | { readonly outcome: string };

async function claim({ store, clock }: Context, id: string, asked: string): Promise<Claim> {
  const collection = collections.idempotency;
  for (let attempt = 0; attempt < tries; attempt++) {
    const now = clock.now().getTime();
    const inSeconds = (seconds: number) => new Date(now + seconds * 1000).toISOString();
    const data: KeptRecord = {
      schema: 1,
      asked,
      leaseUntil: inSeconds(leaseSeconds),
      expireAt: inSeconds(keptSeconds),
    };
    const commit = async (write: Write): Promise<Claim | undefined> => {
      try {
        const [version = ''] = await store.commit([write], { once: true });
        return { version };
      } catch (error) {
        if (error instanceof Conflict) return undefined;
        throw error;
      }
    };
    const first = await commit({ kind: 'create', collection, id, data });
    if (first !== undefined) return first;
    const found = read(await store.get(collection, id), liftKept);
    if (found === undefined) continue;
    if (Date.parse(found.data.expireAt) > now) {
      if (found.data.asked !== asked) {
        throw new Problem('key-reused', 'This Idempotency-Key was sent with another body.', {
          advice: 'Send a new key with a new request.',
        });
      }
      const { outcome, leaseUntil } = found.data;
      if (outcome !== undefined) return { outcome };
      const waitMs = Date.parse(leaseUntil ?? '') - now;
      if (waitMs > 0) throw inFlight(1);
    }
    const taken = await commit({
      kind: 'update',
      collection,
      id,
      version: found.version,
      data: { ...data, outcome: undefined },
    });
    if (taken !== undefined) return taken;
  }
  throw inFlight(1);
}

const inFlight = (retryAfterSeconds: number): Problem =>
  new Problem('conflict', 'A request with this Idempotency-Key is still in flight.', {
    retryAfterSeconds,
    advice: 'Send it again in a moment.',
  });
