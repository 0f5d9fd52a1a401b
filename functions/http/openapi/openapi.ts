/**
 * Builds the OpenAPI 3.1 document of an API from its route table. Bodies, replies and all repeated parts become named
 * components.
 */
import type * as z from 'zod';
import { commonProblems, type Reply, type Route, type RouteTable } from '../../../shared/api.js';
import { type ProblemCode, problemKinds } from '../../../shared/problems.js';
import { type Headers, headersTooLarge, pascal, problemResponse } from './problems.js';
import { createSchemas, type JsonSchema, type Schemas } from './schemas.js';

/** What a document says about an API. */
export interface ApiDescription {
  readonly title: string;
  readonly description: string;
  /** What each tag of the routes is about, in reading order. */
  readonly tags: Readonly<Record<string, string>>;
  readonly routes: RouteTable;
  /** The schema of a text reply once it is parsed, by operation id. */
  readonly contents?: Readonly<Record<string, z.ZodType>>;
}

/** What operations refer to. */
interface Parts {
  readonly schemas: Schemas;
  readonly headers: Headers;
  readonly components: Readonly<Record<'parameters' | 'headers' | 'responses', Record<string, object>>>;
}

function createParts(): Parts {
  const components = { parameters: {}, headers: {} as Record<string, object>, responses: {} };
  const headers: Headers = {
    refer(name, description, type) {
      components.headers[pascal(name)] = { description, schema: { type: type ?? 'string' } };
      return { [name]: { $ref: `#/components/headers/${pascal(name)}` } };
    },
  };
  return { schemas: createSchemas(), headers, components };
}

/** The usual spelling: `if-match` → `If-Match`. */
const headerName = (name: string): string =>
  name.replaceAll(/(?:^|-)[a-z]/g, (start) => start.toUpperCase()).replace(/Id$/, 'ID');

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description: unknown;
  readonly schema: JsonSchema;
  readonly example: unknown;
}

/** Values arrive as text, but the document shows the parsed type: a number, not its digits. */
function parametersOf({ schemas }: Parts, schema: z.ZodObject | undefined, place: Parameter['in']): Parameter[] {
  if (schema === undefined) return [];
  const { properties = {} } = schemas.of(schema, 'output') as { properties?: Record<string, JsonSchema> };
  const { required = [] } = schemas.of(schema, 'input') as { required?: string[] };
  return Object.entries(properties).map(([name, property]) => {
    const { description, examples: _, ...rest } = property;
    return {
      name: place === 'header' ? headerName(name) : name,
      in: place,
      required: place === 'path' || required.includes(name),
      description: description ?? schemas.resolved(rest)['description'],
      schema: rest,
      example: schemas.exampleOf(property),
    };
  });
}

const allParametersOf = (parts: Parts, route: Route): Parameter[] => [
  ...parametersOf(parts, route.params, 'path'),
  ...parametersOf(parts, route.query, 'query'),
  ...parametersOf(parts, route.headers, 'header'),
];

/** Replaces a parameter that several operations share, word for word, with a reference. */
function parameterReferences(parts: Parts, routes: readonly Route[]): (parameter: Parameter) => object {
  const texts = routes.flatMap((route) => allParametersOf(parts, route).map((each) => JSON.stringify(each)));
  const { parameters } = parts.components;
  return (parameter) => {
    const text = JSON.stringify(parameter);
    if (texts.indexOf(text) === texts.lastIndexOf(text)) return parameter;
    const { $ref } = parameter.schema;
    const name = typeof $ref === 'string' ? $ref.replace(/.*\//, '') : pascal(parameter.name);
    const known = parameters[name];
    if (known !== undefined && JSON.stringify(known) !== text) throw new Error(`Two parameters are named ${name}.`);
    parameters[name] = parameter;
    return { $ref: `#/components/parameters/${name}` };
  };
}

function contentOf({ schemas }: Parts, { type, schema }: Reply, content: z.ZodType | undefined): object {
  if (content !== undefined) {
    const contentSchema = schemas.of(content, 'output');
    // The media type has its current name (RFC 9512). With a `format`, generators treat it as text, not as a file.
    const [, format] = type.split('/');
    return { [type]: { schema: { type: 'string', format, contentMediaType: `application/${format}`, contentSchema } } };
  }
  const shown = schemas.of(schema, 'output');
  return { [type]: { schema: shown, ...(type === 'application/json' && { example: schemas.exampleOf(shown) }) } };
}

function replyOf(parts: Parts, status: string, reply: Reply, content: z.ZodType | undefined): object {
  const headers = Object.entries(reply.headers ?? {}).map(([name, meaning]) => parts.headers.refer(name, meaning));
  return {
    description: reply.description,
    ...(headers.length > 0 && { headers: Object.assign({}, ...headers) }),
    ...(status !== '204' && { content: contentOf(parts, reply, content) }),
  };
}

/** An operation without authentication never answers with these. */
const needsCaller: ReadonlySet<ProblemCode> = new Set(['unauthenticated', 'forbidden']);

/** Several problems may have the same status. */
function problemReplies({ schemas, headers, components }: Parts, route: Route): Record<string, object> {
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of new Set([...commonProblems, ...route.problems])) {
    if (route.caller === 'anyone' && needsCaller.has(code)) continue;
    const { status } = problemKinds[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  components.responses['HeadersTooLarge'] = headersTooLarge;
  const found: Record<string, object> = { 431: { $ref: '#/components/responses/HeadersTooLarge' } };
  for (const [status, codes] of byStatus) {
    const [name, response] = problemResponse(schemas, headers, codes);
    components.responses[name] = response;
    found[status] = { $ref: `#/components/responses/${name}` };
  }
  return found;
}

function bodyOf({ schemas }: Parts, { body }: Route): object {
  if (body === undefined) return {};
  const schema = schemas.of(body, 'input');
  return {
    requestBody: { required: true, content: { 'application/json': { schema, example: schemas.exampleOf(schema) } } },
  };
}

const sorted = <T>(all: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1)));

export function openApiDocument({ title, description, tags, routes, contents = {} }: ApiDescription): object {
  const parts = createParts();
  const referTo = parameterReferences(parts, Object.values(routes));
  const paths: Record<string, Record<string, object>> = {};
  for (const [operationId, route] of Object.entries(routes)) {
    const replies = Object.entries(route.replies).map(([status, reply]) => [
      status,
      replyOf(parts, status, reply, contents[operationId]),
    ]);
    paths[route.path] = {
      ...paths[route.path],
      [route.method.toLowerCase()]: {
        operationId,
        tags: [route.tag],
        summary: route.summary,
        description: route.description,
        ...(route.caller === 'anyone' && { security: [] }),
        parameters: allParametersOf(parts, route).map(referTo),
        ...bodyOf(parts, route),
        responses: { ...problemReplies(parts, route), ...Object.fromEntries(replies) },
      },
    };
  }
  const { parameters, headers, responses } = parts.components;
  return {
    openapi: '3.1.0',
    info: {
      title,
      version: '1',
      description,
      contact: { name: 'The operators of this deployment' },
      license: { name: 'No licence has been given', identifier: 'LicenseRef-UNLICENSED' },
    },
    servers: [{ url: '/', description: 'Where this document is served' }],
    tags: Object.entries(tags).map(([name, about]) => ({ name, description: about })),
    security: [{ idToken: [] }],
    paths,
    components: {
      securitySchemes: {
        idToken: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'OIDC ID token',
          description: 'An ID token of the issuer of this deployment, for its audience; `plinth token` prints one',
        },
      },
      schemas: sorted(parts.schemas.components),
      parameters: sorted(parameters),
      headers: sorted(headers),
      responses: sorted(responses),
    },
  };
}
