/**
 * Calls the function `check` with the ID token of this function's own account, as services on Cloud Run call each other. No
 * function may act as another.
 */
import { Problem } from '../shared/problems.js';
import { within } from '../shared/time-limit.js';
import { type Trace, traceparentOf } from '../shared/trace.js';
import type { Config } from './config.js';
import { createIdTokenSource } from './host/access-token.js';
import { type ConnectionWatch, noWatch } from './host/connection-watch.js';

/** The function may have to start. Its questions take a second or two. */
const answerSeconds = 15;

interface Asker {
  readonly signal?: AbortSignal | undefined;
  readonly trace?: Trace | undefined;
}

/** Resolves with the JSON of the reply. Throws a Problem if none comes: `cloud-unavailable` where it may pass at once. */
export type AskCheck = (body: object, asker: Asker) => Promise<unknown>;

const unanswered = (why: string, mayPass: boolean, cause?: unknown): Problem =>
  new Problem(mayPass ? 'cloud-unavailable' : 'unavailable', `The function check cannot be asked now: ${why}`, {
    cause,
  });

export function createCheckClient(
  { url, serviceAccount }: Pick<Config, 'serviceAccount'> & { readonly url: string },
  connections: ConnectionWatch = noWatch,
): AskCheck {
  const idToken = createIdTokenSource({ serviceAccount });

  async function ask(body: object, trace: Trace | undefined, signal: AbortSignal): Promise<unknown> {
    const bearer = `Bearer ${await idToken(url)}`;
    const reply = await connections.observe('fetch', new URL(url).origin, () =>
      fetch(url, {
        method: 'POST',
        headers: {
          authorization: bearer,
          // Cloud Run's front end checks this one, and then leaves the other whole.
          'x-serverless-authorization': bearer,
          'content-type': 'application/json',
          ...(trace === undefined ? {} : { traceparent: traceparentOf(trace) }),
        },
        body: JSON.stringify(body),
        redirect: 'error',
        signal,
      }),
    );
    const text = await reply.text();
    if (reply.ok) return JSON.parse(text);
    throw unanswered(`it answers ${reply.status}`, reply.status === 429 || reply.status >= 500);
  }

  return async (body, { signal, trace }) => {
    const asking = async (limit: AbortSignal): Promise<unknown> => {
      try {
        return await ask(body, trace, limit);
      } catch (error) {
        if (error instanceof Problem) throw error;
        if (limit.aborted) throw unanswered(`it has not answered within ${answerSeconds} s`, false, error);
        throw unanswered('it does not answer', true, error);
      }
    };
    return within(answerSeconds * 1000, asking, signal);
  };
}
