/** What the functions that Cloud Scheduler calls have in common: its token is verified here, whatever stands in front. */
import type { HttpFunction, Request } from '@google-cloud/functions-framework';
import { Problem, problemBody } from '../../shared/problems.js';
import type { Context } from '../context.js';
import { createVerifier } from '../http/auth.js';
import { spanOf, traceFields, traceOf } from '../trace.js';

/** `work` gives the body of the reply. */
export function createScheduledFunction(
  context: Context,
  name: string,
  work: (request: Request) => Promise<object>,
): HttpFunction {
  const { config, log } = context;
  const verifier = createVerifier(context);
  return async (request, response) => {
    const traceId = traceOf(request.headers);
    try {
      await verifier.authenticateInvoker(request.headers, {
        email: config.invokers.scheduler,
        audiences: config.auth.audiences,
      });
      response.status(200).json(await work(request));
    } catch (error) {
      const known = error instanceof Problem;
      const problem = known
        ? error
        : new Problem('internal', 'Something went wrong. The log has more under this trace id.');
      log(known ? 'WARNING' : 'ERROR', `A ${name} failed: ${problem.code}`, {
        ...traceFields(config.project, traceId, spanOf(request.headers)),
        error,
      });
      response.status(problem.kind.status).type('application/problem+json').send(problemBody(problem, traceId));
    }
  };
}
