/**
 * Checks the simulator's own replies against the API surface. A reply that Google could not have sent is a fault and is
 * reported loudly.
 */
import type { Json } from './api.js';
import { base64, dateTime, duration, isObject } from './request-check.js';
import type { Method, Schema, Surface } from './surface.js';

/** What is wrong with a reply, as paths with reasons. Empty if Google could have sent it. */
export function faultsOfReply(surface: Surface, method: Method, reply: Json): string[] {
  const reference = method.response?.$ref;
  if (reference === undefined) {
    return isObject(reply) && Object.keys(reply).length === 0 ? [] : ['this method answers without a body'];
  }
  return faultsOf(surface, { $ref: reference }, reply, reference);
}

/** What is wrong with a resource of a schema. */
export const faultsOfResource = (surface: Surface, schema: string, resource: Json): string[] =>
  faultsOf(surface, { $ref: schema }, resource, schema);

function faultsOf(surface: Surface, schema: Schema, value: Json, path: string): string[] {
  const resolved = schema.$ref === undefined ? schema : (surface.schemas[schema.$ref] ?? {});
  const wrong = (what: string): string[] => [`${path}: ${what} (${JSON.stringify(value)?.slice(0, 60)})`];
  if (value === undefined) return [];
  if (value === null) return wrong('null');
  if (resolved.type === 'any' || (resolved.type === 'object' && resolved.format !== undefined)) return [];
  if (resolved.type === 'array') {
    if (!Array.isArray(value)) return wrong('not a list');
    return value.flatMap((item, i) => faultsOf(surface, resolved.items ?? {}, item, `${path}[${i}]`));
  }
  if (resolved.type === 'object') {
    if (!isObject(value)) return wrong('not an object');
    return Object.entries(value).flatMap(([name, inner]) => {
      const field = resolved.properties?.[name] ?? resolved.additionalProperties;
      return field === undefined
        ? [`${path}.${name}: no such field`]
        : faultsOf(surface, field, inner, `${path}.${name}`);
    });
  }
  return scalarFault(resolved, value) ? wrong(`not a ${resolved.format ?? resolved.type}`) : [];
}

function scalarFault(schema: Schema, value: Json): boolean {
  if (schema.type === 'boolean') return typeof value !== 'boolean';
  if (schema.type === 'integer') return !Number.isInteger(value);
  if (schema.type === 'number') return typeof value !== 'number';
  if (typeof value !== 'string') return true;
  if (schema.enum !== undefined) return !schema.enum.includes(value);
  switch (schema.format) {
    case 'int64':
    case 'uint64':
      return !/^-?\d+$/.test(value);
    case 'google-datetime':
      return !dateTime.test(value);
    case 'google-duration':
      return !duration.test(value);
    case 'byte':
      return !base64.test(value);
    default:
      return schema.pattern !== undefined && !new RegExp(`^(?:${schema.pattern})$`).test(value);
  }
}
