/**
 * The shared part of functions that Cloud Scheduler calls. It verifies the token itself, even behind a front end that does so
 * too.
 */
import type { HttpFunction, Request } from '@google-cloud/functions-framework';
import { schedulerAccountId } from '../../shared/names.js';
import { Problem, problemBody } from '../../shared/problems.js';
import type { Context } from '../context.js';
import { createVerifier } from '../identity/auth.js';
import { grantsOf } from '../preflight/deployment/grants.js';
import { createReport } from '../preflight/deployment/reports.js';
import { traceFields, traceIn } from '../tracing/trace.js';
import type { Span } from '../tracing/tracing.js';

/** `work` returns the body of the reply. */
export function createScheduledFunction(
  context: Context,
  name: 'sweep' | 'cleanup',
  work: (request: Request, span: Span) => Promise<object>,
): HttpFunction {
  const { config, log, store, tracing } = context;
  const verifier = createVerifier(context);
  const report = createReport(context, name, [grantsOf(name, name)]);
  return async (request, response) => {
    const span = await tracing.begin(name, traceIn(request.headers), { kind: 'server' });
    try {
      const authenticating = verifier.authenticateInvoker(request.headers, {
        email: `${schedulerAccountId}@${config.project}.iam.gserviceaccount.com`,
        audiences: config.auth.audiences,
      });
      store.prepare();
      await authenticating;
      const [reply] = await Promise.all([work(request, span), report()]);
      span.end();
      await tracing.flush();
      response.status(200).json(reply);
    } catch (error) {
      const known = error instanceof Problem;
      const problem = known
        ? error
        : new Problem('internal', 'Something went wrong. The log has more under this trace id.');
      log(known ? 'WARNING' : 'ERROR', `A ${name} failed: ${problem.code}`, {
        ...traceFields(config.project, span),
        error,
      });
      span.end({ failure: problem.code });
      await tracing.flush();
      response.status(problem.kind.status).type('application/problem+json').send(problemBody(problem, span.id));
    }
  };
}
