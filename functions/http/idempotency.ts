/**
 * Answers a repeated POST with the same Idempotency-Key from the stored first answer, and does nothing else. The request has a
 * store of its own, whose commit of the change stores the answer too. So neither exists without the other. Only lasting refusals
 * are stored. A 400, 409, 412 or 429 is judged anew.
 */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import { pathTo, type Route } from '../../shared/api.js';
import { collections } from '../../shared/names.js';
import { Problem, type ProblemCode, problemKinds } from '../../shared/problems.js';
import type { Context } from '../context.js';
import type { Caller } from '../identity/auth.js';
import { lift, read } from '../store/lift.js';
import { Conflict, type Store, type Version, type Write } from '../store/store.js';
import { shareTurns } from '../store/turns.js';
import type { Answer } from './reply.js';

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
export interface KeyedCall {
  readonly params?: Readonly<Record<string, string | number>> | undefined;
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  readonly body: unknown;
  readonly caller: Caller;
}

/** A commit of `act` returns what `act` returns. So the commit can store the answer. */
export interface Work<T> {
  act(request: Context): Promise<T>;
  answer(result: T): Answer;
}

export async function answerOnce<T>(context: Context, route: Route, call: KeyedCall, work: Work<T>): Promise<Answer> {
  const key = call.headers?.['idempotency-key'];
  if (route.method !== 'POST' || key === undefined) return work.answer(await work.act(context));
  const { email, identity } = call.caller;
  const id = hash(email, identity, route.method, pathTo(route, call.params), key);
  const claimed = await claim(context, id, hash(call.body));
  if ('outcome' in claimed) return answerAgain(claimed.outcome);
  return keep(context, { id, version: claimed.version }, work);
}

async function keep<T>(
  context: Context,
  { id, version }: { readonly id: string; readonly version: Version },
  { act, answer }: Work<T>,
): Promise<Answer> {
  const { store } = context;
  const place = { collection: collections.idempotency, id, version };
  /** Fails if the lease has expired and another request has the key now. */
  const outcomeWrite = (outcome: string): Write => ({
    kind: 'update',
    ...place,
    data: { outcome, leaseUntil: undefined },
  });
  const keepAfterwards = (outcome: string) => ifNotLost(store.commit([outcomeWrite(outcome)]));
  const request = storeOfRequest(store, (result) => outcomeWrite(JSON.stringify(answer(result as T))));
  try {
    const told = answer(await act({ ...context, store: request.store }));
    // Nothing changed, so no commit has stored the answer.
    if (!request.hasCommitted()) await keepAfterwards(JSON.stringify(told));
    return told;
  } catch (error) {
    if (error instanceof Problem && isLasting(error)) await keepAfterwards(problemText(error));
    // Free the key for another try. The version protects an answer that was stored although its commit seemed to fail.
    else await ifNotLost(store.commit([{ kind: 'delete', ...place }]));
    throw error;
  }
}

/** A store in which the one transaction that writes also makes the write of its result. */
function storeOfRequest(store: Store, writeOf: (result: unknown) => Write) {
  let committed = false;
  const transaction: Store['transaction'] = async (body) => {
    let writes: Write[] = [];
    const result = await store.transaction(async (inner) => {
      writes = [];
      const made = await body({ ...inner, write: (...more) => void writes.push(...more) });
      if (writes.length > 0 && committed) throw new Error('A request with an Idempotency-Key commits once');
      if (writes.length > 0) inner.write(...writes, writeOf(made));
      return made;
    });
    committed ||= writes.length > 0;
    return result;
  };
  return { store: shareTurns(store, { ...store, transaction }), hasCommitted: () => committed };
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
