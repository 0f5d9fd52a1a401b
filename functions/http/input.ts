/** Parses a request's input by its route's schemas, and reports all faults at once. */
import type { IncomingHttpHeaders } from 'node:http';
import type * as z from 'zod';
import type { Route } from '../../shared/api.js';
import { type Fault, unknownHere } from '../../shared/problems.js';
import type { JsonRead } from './json.js';

export interface RawInput {
  readonly params: Readonly<Record<string, string>>;
  /** The raw query of the URL, without `?`. */
  readonly search: string;
  readonly headers: IncomingHttpHeaders;
  /** Parsed JSON. Undefined if there is no body. */
  readonly body: unknown;
  /** The path of each key that the body has more than once. */
  readonly repeated: JsonRead['repeated'];
}

export interface Input {
  readonly params: unknown;
  readonly query: unknown;
  readonly headers: unknown;
  readonly body: unknown;
}

const pathText = (parts: readonly PropertyKey[]): string => parts.map(String).join('.');

/** zod reports all unknown fields of an object in one issue. A caller wants one fault for each field. */
const faultsOf = (error: z.ZodError, prefix: readonly string[]): Fault[] =>
  error.issues.flatMap((issue) => {
    const path = [...prefix, ...issue.path];
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({ path: pathText([...path, key]), message: unknownHere }));
    }
    return [{ path: path.length === 0 ? 'body' : pathText(path), message: issue.message }];
  });

const givenAgain = (path: string): Fault => ({ path, message: 'is given more than once' });

const unknownNames = (names: Iterable<string>): Fault[] =>
  [...names].map((name) => ({ path: `query.${name}`, message: unknownHere }));

export function parseInput(route: Route, raw: RawInput): Input | { readonly faults: readonly Fault[] } {
  const faults: Fault[] = [];
  const parse = (schema: z.ZodType, value: unknown, prefix: readonly string[]): unknown => {
    const result = schema.safeParse(value, { error: wordsOf });
    if (!result.success) faults.push(...faultsOf(result.error, prefix));
    return result.data;
  };

  const params = route.params === undefined ? undefined : parse(route.params, raw.params, ['path']);

  const given = new URLSearchParams(raw.search);
  const names = new Set(given.keys());
  for (const name of names) {
    if (given.getAll(name).length > 1) faults.push(givenAgain(`query.${name}`));
  }
  if (route.query === undefined) faults.push(...unknownNames(names));
  const query = route.query === undefined ? undefined : parse(route.query, Object.fromEntries(given), ['query']);

  const headers = route.headers === undefined ? undefined : parse(route.headers, raw.headers, ['header']);

  faults.push(...raw.repeated.map((path) => givenAgain(pathText(path))));
  let body: unknown;
  if (route.body !== undefined && raw.body === undefined) faults.push({ path: 'body', message: 'is missing' });
  else if (route.body !== undefined) body = parse(route.body, raw.body, []);
  else if (!isNothing(raw.body)) faults.push({ path: 'body', message: 'must be empty here' });

  return faults.length === 0 ? { params, query, headers, body } : { faults };
}

/** Some clients send `{}` for an empty body. */
const isNothing = (body: unknown): boolean =>
  body === undefined || (typeof body === 'object' && body !== null && Object.keys(body).length === 0);

const kinds: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'null',
};

const kindOf = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return kinds[typeof value] ?? 'something else';
};

const units: Readonly<Record<string, string>> = { string: ' characters', array: ' items' };

const bounded = (origin: string, bound: string): string =>
  origin in units ? `must have ${bound}${units[origin]}` : `must be ${bound}`;

/** What a value must be, to follow the value's name. Undefined means zod's own words. zod doesn't call this for a schema with its own message. */
function wordsOf(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type': {
      if (issue.input === undefined) return 'is missing';
      const expected = kinds[issue.expected] ?? issue.expected;
      return `must be ${expected}, not ${kindOf(issue.input)}`;
    }
    case 'invalid_value':
      return `must be ${issue.values.map(String).join(' or ')}`;
    case 'too_big':
      return bounded(issue.origin, `at most ${issue.maximum}`);
    case 'too_small':
      return issue.origin === 'string' && issue.minimum === 1
        ? 'must not be empty'
        : bounded(issue.origin, `at least ${issue.minimum}`);
    case 'invalid_format':
      return issue.format === 'regex' ? 'has not the form that it must have' : `must be a valid ${issue.format}`;
    case 'invalid_union':
      return 'has none of the forms that are taken here';
    default:
      return undefined;
  }
}
