/**
 * What both HTTP APIs share: the form of a route table, and the routes that both serve. Each API adds its own routes
 * (bootstrap/routes.ts, organization/routes.ts). The keys of a table are operation ids.
 */
import * as z from 'zod';
import { timeForm, timeOf, timePattern } from './bootstrap/duration.js';
import { plainLine } from './plain-text.js';
import { type ProblemCode, problemKinds } from './problems.js';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';
type MediaType = 'application/json' | 'text/event-stream' | 'text/html' | 'text/yaml';

export interface Reply {
  readonly description: string;
  readonly type: MediaType;
  /** For JSON the body, for an event stream the `data` of one event, for text a string. A 204 has none. */
  readonly schema: z.ZodType;
  /** Headers by name, with what each says. A reply may leave them out. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Route {
  readonly method: Method;
  /** `{name}` stands for one segment. Its schema is in `params`. */
  readonly path: `/${string}`;
  /** One of the tags of its API (functions/http/*-api.ts). */
  readonly tag: string;
  readonly summary: string;
  /** For the OpenAPI document: who may call it, what it does, and what a second call does. */
  readonly description: string;
  /** `anyone`: no token is needed. */
  readonly caller: 'known' | 'anyone';
  readonly params?: z.ZodObject;
  /** Values arrive as text. Each name may occur once. */
  readonly query?: z.ZodObject;
  /** The headers that this route reads, by lower-case name. */
  readonly headers?: z.ZodObject;
  readonly body?: z.ZodType;
  /** 64 KiB without it. */
  readonly bodyLimitBytes?: number;
  readonly replies: Readonly<Record<number, Reply>>;
  /** The problems of this route alone. Those of every route are in `commonProblems`. */
  readonly problems: readonly ProblemCode[];
}
export type RouteTable = Readonly<Record<string, Route>>;

export const defaultBodyLimitBytes = 64 * 1024;

/** Every route may answer these. */
export const commonProblems: readonly ProblemCode[] = [
  'bad-input',
  'unauthenticated',
  'forbidden',
  'not-found',
  'method-not-allowed',
  'payload-too-large',
  'unsupported-media-type',
  'too-many',
  'internal',
  'unavailable',
];

/** A path with its parameters filled in, each escaped. */
export const pathTo = (route: Pick<Route, 'path'>, params: Readonly<Record<string, string | number>> = {}): string =>
  route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));

/** A query flag: `true` or `false`. The default is false. */
export const flag = (description: string) =>
  z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true')
    .pipe(z.boolean())
    .meta({ description, default: false });

/** A moment in UTC, such as `2026-11-23T09:00:00.000Z`. */
export const moment = (description: string, example = '2026-11-23T09:00:00.000Z') =>
  z.iso.datetime().meta({ description, examples: [example] });

/** A time that a caller gives. The handler reads it with `timeOf`, which needs the clock for a duration. */
export const givenTime = (direction: 'ago' | 'ahead', description: string, example = '2026-11-23T09:00:00Z') =>
  z
    .string()
    .refine((text) => timeOf(text, direction, new Date(0)) !== undefined, timeForm)
    .meta({
      description: `${description}. A time with its zone (RFC 3339), or a duration ${direction === 'ago' ? 'before' : 'after'} now, such as 2d`,
      examples: [example],
      pattern: timePattern,
    });

/** Text, with an example. */
export const text = (description: string, example: string) => z.string().meta({ description, examples: [example] });

/** A reason in a person's words: one line of at most 200 characters. */
export const reason = (description: string, example: string) => plainLine(200, { description, examples: [example] });

/**
 * For the OpenAPI document: the schema that the rules apply later to a value. The request's own schema checks only its form.
 */
export const ruled = new WeakMap<object, z.ZodType>();

export const json = (description: string, schema: z.ZodType): Reply => ({
  description,
  type: 'application/json',
  schema,
});

/** Each API serves its own description. */
export const descriptionRoutes = {
  describeApi: {
    method: 'GET',
    path: '/openapi.json',
    tag: 'Service',
    summary: 'This API as an OpenAPI 3.1 document',
    description: 'The document that describes this API. It changes with releases alone, and may be cached.',
    caller: 'anyone',
    replies: { 200: json('The document', z.looseObject({ openapi: z.string() })) },
    problems: [],
  },
} as const satisfies RouteTable;

/** The `type` of every problem leads here. Each API serves it. */
export const problemRoutes = {
  explainProblem: {
    method: 'GET',
    path: '/problems/{code}',
    tag: 'Service',
    summary: 'What a problem means',
    description: 'The page that the `type` of a problem leads to: what it means and what to do about it.',
    caller: 'anyone',
    params: z.strictObject({
      code: z
        .enum(Object.keys(problemKinds) as [ProblemCode, ...ProblemCode[]])
        .meta({ description: 'The `code` of a problem' }),
    }),
    replies: { 200: { description: 'A page for people', type: 'text/html', schema: z.string() } },
    problems: [],
  },
} as const satisfies RouteTable;

/** Each API serves it to anyone, so it says nothing that other answers don't say. */
export const healthRoutes = {
  checkHealth: {
    method: 'GET',
    path: '/health',
    tag: 'Service',
    summary: 'Whether this function answers',
    description: 'For uptime checks and for whoever has just deployed. Nothing behind the function is asked.',
    caller: 'anyone',
    replies: {
      200: json(
        'It answers',
        z
          .object({
            status: z.literal('ok'),
            version: text('Of plinth', '3.0.0'),
            release: z
              .string()
              .optional()
              .meta({ description: 'What was deployed: two releases may be of one version' }),
          })
          .meta({ id: 'Health', description: 'That the function answers, and which release of plinth it is' }),
      ),
    },
    problems: [],
  },
} as const satisfies RouteTable;
