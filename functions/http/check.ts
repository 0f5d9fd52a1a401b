/** The function `check`: it tells `bootstraps`, and nobody else, what only its own identity can ask. It changes nothing. */
import { json, type RouteTable } from '../../shared/api.js';
import { functionAccountIn, functionNames } from '../../shared/names.js';
import { Problem } from '../../shared/problems.js';
import type { Context } from '../context.js';
import { type Authenticate, createVerifier } from '../identity/auth.js';
import { answer } from '../preflight/answer.js';
import { CheckReply, CheckRequest } from '../preflight/wire.js';
import { createRouter, type HttpFunction } from './router.js';

const routes = {
  check: {
    method: 'POST',
    path: '/',
    tag: 'Check',
    summary: 'Whether the identity of the cloud steps may do what a bootstrap needs',
    description: 'For the function `bootstraps` alone. It only reads.',
    caller: 'known',
    body: CheckRequest,
    replies: { 200: json('By code, what was found', CheckReply) },
    problems: [],
  },
} as const satisfies RouteTable;

export const createCheckFunction = (context: Context): HttpFunction =>
  createRouter({
    context,
    routes,
    handlers: { check: async ({ body, gone }) => ({ status: 200, body: await answer(context, body, gone) }) },
    authenticate: bootstrapsAlone(context),
  });

/** Cloud Run lets nobody else in either. Its check may be switched off, and this one may not. */
function bootstrapsAlone({ config, clock }: Context): Authenticate {
  const { auth, project, checkUrl } = config;
  const { authenticate } = createVerifier({
    config: { auth: { ...auth, audiences: checkUrl === undefined ? [] : [checkUrl] } },
    clock,
  });
  return async (headers) => {
    const caller = await authenticate(headers);
    if (caller.email === functionAccountIn(project, functionNames.bootstraps)) return caller;
    throw new Problem('forbidden', `${caller.email} may not call this function.`);
  };
}
