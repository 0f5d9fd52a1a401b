/** The routes that each API serves beside its own. */
import * as z from 'zod';
import { type ProblemCode, problemKinds } from './problems.js';
import { json, type RouteTable } from './route.js';

/** An API's own description; served by the API that it describes. */
export const descriptionRoutes = {
  describeApi: {
    method: 'GET',
    path: '/openapi.json',
    summary: 'This API as an OpenAPI 3.1 document',
    caller: 'anyone',
    replies: { 200: json('The document', z.looseObject({ openapi: z.string() })) },
    problems: [],
  },
  tryApi: {
    method: 'GET',
    path: '/docs',
    summary: 'A page to try this API',
    caller: 'anyone',
    replies: { 200: { description: 'A page for people', type: 'text/html', schema: z.string() } },
    problems: [],
  },
} as const satisfies RouteTable;

/** Where the `type` of every problem leads; served beside each API. */
export const problemRoutes = {
  explainProblem: {
    method: 'GET',
    path: '/problems/{code}',
    summary: 'What a problem means',
    caller: 'anyone',
    params: z.strictObject({ code: z.enum(Object.keys(problemKinds) as [ProblemCode, ...ProblemCode[]]) }),
    replies: { 200: { description: 'A page for people', type: 'text/html', schema: z.string() } },
    problems: [],
  },
} as const satisfies RouteTable;

/** Served beside each API. It is told to anybody, so it says what every answer says anyway. */
export const healthRoutes = {
  checkHealth: {
    method: 'GET',
    path: '/health',
    summary: 'Whether this function answers; nothing behind it is asked',
    caller: 'anyone',
    replies: { 200: json('It answers', z.object({ status: z.literal('ok'), version: z.string() })) },
    problems: [],
  },
} as const satisfies RouteTable;
