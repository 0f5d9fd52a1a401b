/** The HTTP function that Cloud Scheduler calls each minute. Its token is verified here, whatever stands in front. */
import type { HttpFunction } from '@google-cloud/functions-framework';
import { Problem, problemBody } from '../../shared/problems.js';
import type { Context } from '../context.js';
import { sweep } from '../engine/sweep.js';
import { createVerifier } from '../http/auth.js';
import { traceFields, traceOf } from '../trace.js';

export function createSweepFunction(context: Context): HttpFunction {
  const { config, log } = context;
  const verifier = createVerifier(context);
  return async (request, response) => {
    const traceId = traceOf(request.headers);
    try {
      await verifier.authenticateInvoker(request.headers, {
        email: config.invokers.scheduler,
        audiences: config.auth.audiences,
      });
      response.status(200).json(await sweep(context));
    } catch (error) {
      const known = error instanceof Problem;
      const problem = known
        ? error
        : new Problem('internal', 'Something went wrong. The log has more under this trace id.');
      log(known ? 'WARNING' : 'ERROR', `A sweep failed: ${problem.code}`, {
        ...traceFields(config.project, traceId),
        error,
      });
      response.status(problem.kind.status).type('application/problem+json').send(problemBody(problem, traceId));
    }
  };
}
