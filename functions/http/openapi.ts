/** The OpenAPI 3.1 document of an API, from its route table. Called by the reference pages, and by an API that serves it. */
import * as z from 'zod';
import { commonProblems, type Reply, type Route, type RouteTable } from '../../shared/api.js';
import { type ProblemCode, problemKinds } from '../../shared/problems.js';

type JsonSchema = Readonly<Record<string, unknown>>;

/** `io`: what is sent, or what comes out of parsing it. */
const schemaOf = (schema: z.ZodType, io: 'input' | 'output'): JsonSchema => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any', target: 'draft-2020-12' });
  return rest;
};

function parametersOf(schema: z.ZodObject | undefined, place: 'path' | 'query' | 'header'): object[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = schemaOf(schema, 'input') as {
    properties?: Record<string, JsonSchema>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    schema: property,
  }));
}

const replyOf = (status: string, { description, type, schema, headers }: Reply): object => ({
  description,
  ...(headers === undefined
    ? {}
    : {
        headers: Object.fromEntries(
          Object.entries(headers).map(([name, meaning]) => [
            name,
            { description: meaning, schema: { type: 'string' } },
          ]),
        ),
      }),
  ...(status === '204' ? {} : { content: { [type]: { schema: schemaOf(schema, 'output') } } }),
});

/** Problems share statuses; a status shows the titles of all that bear it. */
function problemReplies(route: Route): Record<string, object> {
  const byStatus = new Map<number, Set<string>>();
  for (const code of [...commonProblems, ...route.problems]) {
    if (route.caller === 'anyone' && code === 'unauthenticated') continue;
    const { status, title } = problemKinds[code];
    byStatus.set(status, (byStatus.get(status) ?? new Set()).add(title));
  }
  return Object.fromEntries(
    [...byStatus].map(([status, titles]) => [
      String(status),
      {
        description: [...titles].join(', or: '),
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    ]),
  );
}

const operationOf = (operationId: string, route: Route): object => ({
  operationId,
  summary: route.summary,
  ...(route.caller === 'anyone' ? { security: [] } : {}),
  parameters: [
    ...parametersOf(route.params, 'path'),
    ...parametersOf(route.query, 'query'),
    ...parametersOf(route.headers, 'header'),
  ],
  ...(route.body === undefined
    ? {}
    : {
        requestBody: { required: true, content: { 'application/json': { schema: schemaOf(route.body, 'input') } } },
      }),
  responses: {
    ...problemReplies(route),
    ...Object.fromEntries(Object.entries(route.replies).map(([status, reply]) => [status, replyOf(status, reply)])),
  },
});

const problemSchema = (): JsonSchema =>
  schemaOf(
    z.looseObject({
      type: z.string(),
      title: z.string(),
      status: z.int(),
      code: z.enum(Object.keys(problemKinds) as [ProblemCode, ...ProblemCode[]]),
      detail: z.string(),
      instance: z.string().optional(),
      advice: z.string().optional(),
      errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
    }),
    'output',
  );

export function openApiDocument(
  info: { readonly title: string; readonly version: string },
  routes: RouteTable,
): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const [operationId, route] of Object.entries(routes)) {
    const operations = paths[route.path] ?? {};
    operations[route.method.toLowerCase()] = operationOf(operationId, route);
    paths[route.path] = operations;
  }
  return {
    openapi: '3.1.0',
    info,
    security: [{ idToken: [] }],
    paths,
    components: {
      securitySchemes: { idToken: { type: 'http', scheme: 'bearer', bearerFormat: 'OIDC ID token' } },
      schemas: { Problem: problemSchema() },
    },
  };
}
