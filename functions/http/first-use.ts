/** An HTTP function that is loaded when it is first called. Called by functions/index.ts. */
import type { HttpFunction } from '@google-cloud/functions-framework';
import { Problem } from '../../shared/problems.js';
import { newTrace } from '../../shared/trace.js';
import { createLog, type Log } from '../log.js';
import { traceIn } from '../trace.js';
import { sendProblem } from './reply.js';

/** What cannot be loaded, for want of a setting perhaps, is tried anew at the next call; the framework would tell the caller why. */
export function onFirstUse(load: () => Promise<HttpFunction>, log: Log = createLog()): HttpFunction {
  let loading: Promise<HttpFunction> | undefined;
  return async (request, response) => {
    loading ??= load();
    let handler: HttpFunction;
    try {
      handler = await loading;
    } catch (error) {
      loading = undefined;
      log('CRITICAL', 'The function cannot be loaded', { error });
      const problem = new Problem('internal', 'Something went wrong. The log has more.');
      sendProblem(request, response, problem, (traceIn(request.headers) ?? newTrace()).id, (body) => body);
      return;
    }
    return handler(request, response);
  };
}
