/** Requests to one operation of the route table: from nearly right to pure noise, in path, query, headers, body and token. */
import { request as httpRequest } from 'node:http';
import * as z from 'zod';
import type { Route } from '../../shared/api.js';
import type { Random } from './random.js';

export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

export interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export interface FuzzerParts {
  readonly random: Random;
  /** Good ones, and ones that a careful verifier refuses. */
  readonly tokens: { readonly good: readonly string[]; readonly bad: readonly string[] };
  /** Values that exist, by the name of the path parameter or the field. */
  readonly known: () => Readonly<Record<string, readonly unknown[]>>;
}

const troublesome = [
  '',
  '.',
  '..',
  '%2e%2e',
  '%2F',
  '%00',
  '%0d%0a',
  '%',
  '%zz',
  '%ff%fe',
  '%F0%9F%92%A9',
  '__proto__',
  'constructor',
  'hasOwnProperty',
  '__x__@example.com',
  'a%2Fb@example.com',
  '.@example.com',
  '0',
  '-1',
  '1.5',
  '1e3',
  '0x10',
  '007',
  '2147483647',
  '2147483648',
  '99999999999999999999',
  'NaN',
  'null',
  'undefined',
  '00000000-0000-0000-0000-000000000000',
  '../../organizations',
  'x'.repeat(1600),
];

/** Of a schema with a name, they stand beneath that. */
function propertiesOf(schema: z.ZodType): Record<string, { type?: string; enum?: unknown[] }> {
  const { $ref = '', $defs = {}, ...whole } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  const named = (ref: string) => $defs[ref.replace(/.*\//, '')] ?? {};
  const { properties = {} } = $ref === '' ? whole : named($ref);
  return Object.fromEntries(
    Object.entries(properties as Record<string, { $ref?: string }>).map(([name, each]) => [
      name,
      { ...(each.$ref === undefined ? {} : named(each.$ref)), ...each } as { type?: string; enum?: unknown[] },
    ]),
  );
}

export function createFuzzer({ random, tokens, known }: FuzzerParts): (route: Route) => Sent {
  const { pick, maybe, below } = random;
  const text = (most: number, from = 0x21, to = 0x7e): string =>
    String.fromCharCode(...Array.from({ length: below(most) }, () => from + below(to - from)));
  const knownOf = (name: string): unknown => {
    const values = known()[name];
    return values === undefined ? undefined : pick(values);
  };

  const segment = (name: string): string => {
    const value = knownOf(name);
    if (value !== undefined && maybe(0.7)) return encodeURIComponent(String(value));
    return maybe(0.8) ? pick(troublesome) : encodeURIComponent(text(300, 0x20, 0x3000));
  };

  const value = (depth = 0): unknown =>
    pick<() => unknown>([
      () => null,
      () => random.next() * 1e12,
      () => -1,
      () => maybe(0.5),
      () => text(50, 0x20, 0xd7ff),
      () => pick(troublesome),
      () => 'x'.repeat(below(2000)),
      () => `${'x'.repeat(below(300))}@example.com`,
      () => (depth > 3 ? [] : [value(depth + 1)]),
      () => (depth > 3 ? {} : { [pick(['__proto__', 'toString', 'a', 'name', 'email'])]: value(depth + 1) }),
    ])();

  /** The fields that the route takes; half of the time with one of them spoilt, or one too many. */
  const fieldsOf = (schema: z.ZodType | undefined): Record<string, unknown> => {
    const properties = schema === undefined ? {} : propertiesOf(schema);
    const fields: Record<string, unknown> = {};
    for (const [name, { type, enum: choices }] of Object.entries(properties)) {
      if (maybe(0.15)) continue;
      if (maybe(0.15)) fields[name] = value();
      else if (choices !== undefined) fields[name] = pick(choices);
      else if (type === 'boolean') fields[name] = maybe(0.5);
      else fields[name] = knownOf(name) ?? text(30);
    }
    if (maybe(0.1)) fields[pick(['x', 'constructor', 'id', text(10)])] = value();
    return fields;
  };

  const query = (route: Route): string => {
    if (maybe(0.1)) return `?${text(80).replaceAll('#', '')}`;
    if (maybe(0.05)) return '?__proto__=1&limit=1&limit=2';
    const fields = Object.entries(fieldsOf(route.query)).filter(() => maybe(0.7));
    if ('limit' in Object.fromEntries(fields) && maybe(0.6))
      fields.push(['limit', pick(['1', '2', '200', '0', '201', '-1', '1e2'])]);
    const search = new URLSearchParams(
      fields.map(([name, each]): [string, string] => [
        name,
        typeof each === 'string' ? each : (JSON.stringify(each) ?? ''),
      ]),
    ).toString();
    return search === '' ? '' : `?${search}`;
  };

  const body = (route: Route): Buffer | undefined => {
    if (route.body === undefined ? maybe(0.9) : maybe(0.05)) return undefined;
    if (maybe(0.03)) return Buffer.from(Array.from({ length: 200 }, () => below(256)));
    if (maybe(0.01)) return Buffer.alloc(65 * 1024 + below(1000), 0x20);
    const written = JSON.stringify(maybe(0.05) ? value() : fieldsOf(route.body)) ?? '';
    if (!maybe(0.15)) return Buffer.from(written);
    const at = below(written.length);
    return Buffer.from(written.slice(0, at) + text(5) + written.slice(at + below(5)));
  };

  const headers = (): Record<string, string> => {
    const all: Record<string, string> = {};
    if (maybe(0.85)) all['authorization'] = `Bearer ${pick(tokens.good)}`;
    else if (maybe(0.8)) {
      all['authorization'] = maybe(0.6)
        ? `Bearer ${pick(tokens.bad)}`
        : pick(['Bearer', 'Bearer a.b.c', 'Basic eA==', text(100)]);
    }
    all['content-type'] = maybe(0.9)
      ? 'application/json'
      : pick([
          'text/plain',
          'application/json; charset=x',
          'application/json;charset="utf-8"',
          ';;',
          'application/cloudevents+json',
          text(30),
        ]);
    if (maybe(0.03)) all['content-encoding'] = pick(['gzip', 'br', 'identity', text(10)]);
    if (maybe(0.15))
      all['idempotency-key'] = pick(['a', 'b', 'c', '', 'x'.repeat(300), '__proto__', 'a/b', '..', text(60)]);
    if (maybe(0.15)) all['if-match'] = pick(['*', '"x"', 'W/"x"', '"a", "b"', '', text(60)]);
    if (maybe(0.05)) all['if-none-match'] = pick(['*', text(20)]);
    if (maybe(0.1)) all['traceparent'] = pick([`00-${'0'.repeat(32)}-${'0'.repeat(16)}-00`, text(60)]);
    if (maybe(0.05)) all['x-cloud-trace-context'] = text(60);
    if (maybe(0.02)) all['ce-id'] = '1';
    if (maybe(0.03)) all['x-http-method-override'] = pick(['DELETE', 'PUT', text(5)]);
    if (maybe(0.03)) all['expect'] = '100-continue';
    return all;
  };

  return (route) => {
    const path = maybe(0.95)
      ? route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => segment(name))
      : `/${Array.from({ length: below(6) }, () => segment('teamId')).join('/')}`;
    // What no URL can hold is not for this door.
    const written = (path + query(route)).replaceAll(/[^\x21-\x7e]|#/g, (sign) => encodeURIComponent(sign));
    return {
      method: maybe(0.95)
        ? route.method
        : pick(['GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH', 'TRACE', 'PROPFIND']),
      path: written,
      headers: headers(),
      body: body(route),
    };
  };
}

/** Not with `fetch`, which mends much of what is malformed here. */
export function send(origin: string, { method, path, headers, body }: Sent, patienceMs = 60_000): Promise<Received> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    // Node says the length of a body of its own accord with some methods only.
    const length = body === undefined ? {} : { 'content-length': String(body.length) };
    const outgoing = httpRequest({ hostname, port, method, path, headers: { ...headers, ...length } }, (reply) => {
      const chunks: Buffer[] = [];
      reply.on('data', (chunk: Buffer) => chunks.push(chunk));
      reply.on('end', () =>
        resolve({
          status: reply.statusCode ?? 0,
          headers: new Headers(
            Object.entries(reply.headers).map(([name, each]) => [
              name,
              typeof each === 'string' ? each : (JSON.stringify(each) ?? ''),
            ]),
          ),
          text: Buffer.concat(chunks).toString(),
        }),
      );
    });
    outgoing.setTimeout(patienceMs, () => outgoing.destroy(new Error(`no answer within ${patienceMs / 1000} seconds`)));
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
