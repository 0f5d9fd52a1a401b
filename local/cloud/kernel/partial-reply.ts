/** Shapes replies as the caller asked: with enums as numbers, and with only the fields in the `fields` parameter. */
import type { Json, JsonObject } from './api.js';
import { enumNumber } from './enum-numbers.js';
import { badRequest } from './errors.js';
import { isObject } from './request-check.js';
import type { Method, Schema, Surface } from './surface.js';

/** Fields to keep. `undefined` keeps the whole field. The name `*` means every field. */
type Mask = Map<string, Mask | undefined>;

/** Turns a reply into what the query asks for. */
export type Shape = (reply: JsonObject) => JsonObject;

/** Reads the query. Throws if it asks for fields that the reply cannot have. */
export function shapeOf(surface: Surface, method: Method, query: URLSearchParams): Shape {
  const schema = method.response;
  if (schema === undefined) return (reply) => reply;
  const encoding = `${query.get('alt') ?? ''};${query.get('$alt') ?? ''}`;
  const asNumbers = /;\s*enum-encoding=int/.test(encoding) && !['dns.v1', 'storage.v1'].includes(surface.api);
  const text = query.get('fields') ?? query.get('$fields') ?? '';
  const mask = text === '' ? undefined : readMask(text);
  if (mask !== undefined) checkMask(surface, schema, mask, '');
  return (reply) => {
    const encoded = asNumbers ? (numbered(surface, schema, reply) as JsonObject) : reply;
    return mask === undefined ? encoded : (masked(encoded, mask) as JsonObject);
  };
}

// --- enums ----------------------------------------------------------------------------------------------------------

/** Names without a known number stay: clients read both. */
function numbered(surface: Surface, schema: Schema, value: Json): Json {
  const resolved = schema.$ref === undefined ? schema : (surface.schemas[schema.$ref] ?? {});
  if (Array.isArray(value)) return value.map((item) => numbered(surface, resolved.items ?? {}, item));
  if (isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => {
        const field = resolved.properties?.[name] ?? resolved.additionalProperties;
        return [name, field === undefined ? inner : numbered(surface, field, inner)];
      }),
    );
  }
  if (resolved.enum === undefined || typeof value !== 'string') return value;
  return enumNumber(surface.api, resolved.enum, value) ?? value;
}

// --- fields ---------------------------------------------------------------------------------------------------------

const refused = (path: string) =>
  badRequest(
    'Request contains an invalid argument.',
    path,
    `Error expanding 'fields' parameter. Cannot find matching fields for path '${path}'.`,
  );

/** `items(id,name),nextPageToken`, `items/name`, `items.name`. */
function readMask(text: string): Mask {
  const tokens = text.match(/[\w$*-]+|"[^"]*"|[(),/.]|[^\s]/g) ?? [];
  let at = 0;
  const list = (): Mask => {
    const mask: Mask = new Map();
    do path(mask);
    while (tokens[at] === ',' && ++at > 0);
    return mask;
  };
  const path = (into: Mask): void => {
    const token = tokens[at++] ?? '';
    if (!/^([\w$-]+|\*|".*")$/.test(token)) throw refused(text);
    const name = token.replaceAll('"', '').replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const next = tokens[at];
    if (next === '/' || next === '.') {
      at += 1;
      path(inner(into, name));
    } else if (next === '(') {
      at += 1;
      const mask = list();
      if (tokens[at++] !== ')') throw refused(text);
      for (const [key, each] of mask) inner(into, name).set(key, each);
    } else into.set(name, undefined);
  };
  const mask = list();
  if (at !== tokens.length) throw refused(text);
  return mask;
}

/** The mask of a field. One that is already whole stays so, by a mask that nobody reads. */
function inner(mask: Mask, name: string): Mask {
  const known = mask.get(name);
  if (known !== undefined) return known;
  const made: Mask = new Map();
  if (!mask.has(name)) mask.set(name, made);
  return made;
}

function checkMask(surface: Surface, schema: Schema, mask: Mask, path: string): void {
  let resolved = schema;
  while (resolved.$ref !== undefined || resolved.type === 'array') {
    resolved = (resolved.$ref === undefined ? resolved.items : surface.schemas[resolved.$ref]) ?? {};
  }
  if (resolved.type === 'any') return;
  for (const [name, deeper] of mask) {
    const here = path === '' ? name : `${path}/${name}`;
    const known = resolved.properties ?? {};
    const fields = name === '*' ? Object.values(known) : Object.hasOwn(known, name) ? [known[name] ?? {}] : [];
    if (resolved.additionalProperties !== undefined) fields.push(resolved.additionalProperties);
    if (fields.length === 0) throw refused(here);
    if (deeper !== undefined && name !== '*') for (const field of fields) checkMask(surface, field, deeper, here);
  }
}

function masked(value: Json, mask: Mask): Json {
  if (Array.isArray(value)) return value.map((item) => masked(item, mask));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inside]) => {
      if (!mask.has(name) && !mask.has('*')) return [];
      const deeper = mask.has(name) ? mask.get(name) : mask.get('*');
      if (deeper === undefined) return [[name, inside]];
      const kept = masked(inside, deeper);
      return isObject(kept) && Object.keys(kept).length === 0 ? [] : [[name, kept]];
    }),
  );
}
