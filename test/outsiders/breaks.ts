/** Each way to break a good request, by Google's discovery document alone. */
import type { Method, Schema, Surface } from '../../local/cloud/kernel/surface.js';
import { isNeeded, type Request } from './smallest.js';

export interface Break extends Request {
  readonly name: string;
}

const withQuery = (line: string, query: string): string => `${line}${line.includes('?') ? '&' : '?'}${query}`;

/** A value that no field of this schema takes. */
function wrongFor(schema: Schema): unknown {
  if (schema.$ref !== undefined || schema.type === 'object') return 'text';
  if (schema.type === 'array') return 'text';
  if (schema.type === 'boolean') return 'maybe';
  if (schema.type === 'integer' || schema.type === 'number' || /^u?int64$/.test(schema.format ?? '')) return 'many';
  return schema.type === 'string' ? { not: 'text' } : undefined;
}

/** A text that breaks the rule of the field, if it has one. */
function badText({ type, enum: names, format, pattern }: Schema): string | undefined {
  if (type !== 'string') return undefined;
  if (names !== undefined) return 'NO_SUCH_NAME';
  if (format === 'byte') return '***';
  if (format === 'google-datetime' || format === 'google-duration') return 'soon';
  return pattern !== undefined && !new RegExp(`^(?:${pattern})$`).test('!!') ? '!!' : undefined;
}

/** The older APIs cannot tell an absent list from an empty one. A PATCH may send a part. */
const mayBeMissing = ({ api }: Surface, { httpMethod, request }: Method, field: Schema): boolean =>
  (field.type === 'array' && /^(compute|dns|storage)\./.test(api)) ||
  (httpMethod === 'PATCH' && request?.$ref.endsWith('Request') !== true);

function* brokenBodies(surface: Surface, method: Method, { line, body }: Request): Generator<Break> {
  const schema = surface.schemas[method.request?.$ref ?? ''];
  if (body === undefined || schema === undefined) return;
  yield { name: 'an unknown field', line, body: { ...body, noSuchField: 1 } };
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const isPath = method.parameters?.[name]?.location === 'path';
    const { [name]: _, ...rest } = body;
    if (isNeeded(field, method) && !isPath && !mayBeMissing(surface, method, field)) {
      yield { name: `no ${name}`, line, body: rest };
    }
    const wrong = wrongFor(field);
    if (wrong !== undefined) yield { name: `${name} of a wrong type`, line, body: { ...body, [name]: wrong } };
    const text = badText(field);
    if (text !== undefined) yield { name: `${name}: ${text}`, line, body: { ...body, [name]: text } };
  }
}

function* brokenQueries(method: Method, { line, body }: Request): Generator<Break> {
  yield { name: 'an unknown parameter', line: withQuery(line, 'noSuchParameter=1'), body };
  yield { name: 'fields that are not there', line: withQuery(line, 'fields=noSuchField'), body };
  const [path = '', query = ''] = line.split('?');
  for (const [name, parameter] of Object.entries(method.parameters ?? {})) {
    if (parameter.location !== 'query') continue;
    const params = new URLSearchParams(query);
    if (params.has(name)) {
      params.delete(name);
      yield { name: `no ${name}`, line: `${path}?${params}`, body };
    }
    if (parameter.enum !== undefined || parameter.type === 'boolean' || parameter.type === 'integer') {
      params.set(name, 'nonsense');
      yield { name: `${name}=nonsense`, line: `${path}?${params}`, body };
    }
  }
}

/** Methods that answer without a body have no fields to ask for. */
export const breaksOf = (surface: Surface, method: Method, good: Request): readonly Break[] => [
  ...brokenBodies(surface, method, good),
  ...[...brokenQueries(method, good)].filter(({ name }) => method.response !== undefined || !name.startsWith('fields')),
];
