/**
 * What all operations of the organization API share: the limit of changes a minute, Idempotency-Keys, and the refusal of another
 * account with a member's e-mail.
 */
import type { Route, RouteTable } from '../../../shared/api.js';
import type { Context } from '../../context.js';
import type { Added } from '../../organizations/members/members.js';
import { refusing } from '../../organizations/members/refusal.js';
import { answerOnce, type KeyedCall } from '../idempotency.js';
import { countChange } from '../rate-limit.js';
import type { Answer } from '../reply.js';
import type { Call, Handlers } from '../router.js';

/** `request` is the context of one request, whose commit also stores the answer if the request has an Idempotency-Key. */
export interface Operation<R extends Route = Route> {
  act(request: Context, call: Call<R>): Promise<unknown>;
  answer(result: unknown): Answer;
}

export type Operations<T extends RouteTable> = { readonly [K in keyof T]: Operation<T[K]> };

/** A commit of `act` returns what `act` returns. */
export const operation = <R extends Route, T>(
  answer: (result: T) => Answer,
  act: (request: Context, call: Call<R>) => Promise<T>,
): Operation<R> => ({ act, answer });

export const ok = (body: unknown): Answer => ({ status: 200, body });
export const added = ({ member, added: isNew }: Added): Answer => ({ status: isNew ? 201 : 200, body: member });
export const nothing = (): Answer => ({ status: 204 });
export const preview = ({ preview: body, tag }: { readonly preview: unknown; readonly tag: string }): Answer => ({
  status: 200,
  headers: { etag: tag },
  body,
});
/** The operation answers by itself. */
export const itself = (answer: Answer): Answer => answer;

export function handlersOf<const T extends RouteTable>(
  context: Context,
  routes: T,
  operations: Operations<T>,
): Handlers<T> {
  const handlers = Object.entries<Route>(routes).map(([name, route]) => {
    const { act, answer } = operations[name] as unknown as Operation;
    const isLimited = (route.problems as readonly string[]).includes('too-many');
    const handler = (call: Call & KeyedCall): Promise<Answer> =>
      answerOnce(context, route, call, {
        answer,
        async act(request) {
          if (isLimited) await countChange(context, call.caller);
          return refusing(context, call.caller, act(request, call));
        },
      });
    return [name, handler];
  });
  return Object.fromEntries(handlers) as Handlers<T>;
}
