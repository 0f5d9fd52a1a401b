/**
 * What both HTTP APIs share: the form of a route table, and the routes that each serves beside its own (bootstrap/routes.ts,
 * organization/routes.ts). The router, the CLI's client, the OpenAPI document and the tests all read such tables; keys are
 * operation ids.
 */
import * as z from 'zod';
import { type ProblemCode, problemKinds } from './problems.js';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';
type MediaType = 'application/json' | 'text/event-stream' | 'text/html' | 'text/yaml';

export interface Reply {
  readonly description: string;
  readonly type: MediaType;
  /** Of a JSON reply: the body. Of an event stream: the `data` of one event. Of text: a string. A 204 has none. */
  readonly schema: z.ZodType;
  /** What its headers say, by name; they may be absent. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Route {
  readonly method: Method;
  /** `{name}` stands for one segment; its schema is in `params`. */
  readonly path: `/${string}`;
  /** Of the tags of its API (functions/http/*-api.ts). */
  readonly tag: string;
  readonly summary: string;
  /** Who may, what comes of it, and what of a second time, for the OpenAPI document. */
  readonly description: string;
  /** `anyone`: no token is asked for. */
  readonly caller: 'known' | 'anyone';
  readonly params?: z.ZodObject;
  /** Values arrive as text, each name at most once. */
  readonly query?: z.ZodObject;
  /** The headers that mean something to this route, by lower-case name. */
  readonly headers?: z.ZodObject;
  readonly body?: z.ZodType;
  /** 64 KiB without it. */
  readonly bodyLimitBytes?: number;
  readonly replies: Readonly<Record<number, Reply>>;
  /** The problems of its own; those that any route may answer are in `commonProblems`. */
  readonly problems: readonly ProblemCode[];
}
export type RouteTable = Readonly<Record<string, Route>>;

export const defaultBodyLimitBytes = 64 * 1024;

/** What any route may answer, whatever it does. */
export const commonProblems: readonly ProblemCode[] = [
  'bad-input',
  'unauthenticated',
  'forbidden',
  'not-found',
  'method-not-allowed',
  'payload-too-large',
  'unsupported-media-type',
  'internal',
  'unavailable',
];

/** A path with its parameters filled in, each escaped. */
export const pathTo = (route: Pick<Route, 'path'>, params: Readonly<Record<string, string | number>> = {}): string =>
  route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));

/** Of a query: `true` or `false`, false unless given. */
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

/** Text, and one that it might be. */
export const text = (description: string, example: string) => z.string().meta({ description, examples: [example] });

/** What a person says of something, in up to 200 characters that are not all blank. */
export const reason = (description: string, example: string) =>
  z
    .string()
    .trim()
    .min(1)
    .max(200)
    .meta({ description, pattern: '\\S', examples: [example] });

/** For the document: what the rules take of a value whose form alone is parsed at the door. */
export const ruled = new WeakMap<object, z.ZodType>();

export const json = (description: string, schema: z.ZodType): Reply => ({
  description,
  type: 'application/json',
  schema,
});

/** An API's own description; served by the API that it describes. */
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
  tryApi: {
    method: 'GET',
    path: '/docs',
    tag: 'Service',
    summary: 'A page to try this API',
    description: 'A form an operation, made from the document in the browser. What is sent there is done for real.',
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

/** Served beside each API. It is told to anybody, so it says what every answer says anyway. */
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
