/** Loads functions when the first request or message comes. */
import type { HttpFunction } from '@google-cloud/functions-framework';
import { Problem } from '../shared/problems.js';
import { newTrace } from '../shared/trace.js';
import { createLog, type Log } from './host/log.js';
import { sendProblem } from './http/reply.js';
import { traceIn } from './tracing/trace.js';

/** A failed load, perhaps for a missing setting, is tried again with the next call. */
function onFirstUse<T>(load: () => Promise<T>, log: Log): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      // An alert matches these words (terraform/metrics.tf).
      log('CRITICAL', 'The function cannot be loaded', { error });
      // The framework shows this error's text to the caller.
      throw new Error('The function cannot be loaded. The log has more.');
    });
    return loading;
  };
}

/** `name`: the function's name, for its log. */
export function onFirstRequest(
  name: string,
  load: () => Promise<HttpFunction>,
  log: Log = createLog({ service: name }),
): HttpFunction {
  const loaded = onFirstUse(load, log);
  return async (request, response) => {
    let handler: HttpFunction;
    try {
      handler = await loaded();
    } catch {
      const problem = new Problem('internal', 'Something went wrong. The log has more.');
      sendProblem(request, response, problem, (traceIn(request.headers) ?? newTrace()).id);
      return;
    }
    return handler(request, response);
  };
}

/** A message that finds no function fails, so that it is delivered again. */
export function onFirstMessage<M>(
  name: string,
  load: () => Promise<(message: M) => Promise<void>>,
  log: Log = createLog({ service: name }),
): (message: M) => Promise<void> {
  const loaded = onFirstUse(load, log);
  return async (message) => (await loaded())(message);
}
