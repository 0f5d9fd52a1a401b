/**
 * What an operation of an HTTP API takes, answers and refuses. The router, the CLI's client, the OpenAPI document and the
 * tests all read tables of these; keys are operation ids.
 */
import * as z from 'zod';
import type { ProblemCode } from './problems.js';

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
  readonly summary: string;
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
export const flag = z
  .enum(['true', 'false'])
  .default('false')
  .transform((text) => text === 'true');

export const json = (description: string, schema: z.ZodType): Reply => ({
  description,
  type: 'application/json',
  schema,
});
