/** Checks requests against the API surface. Refuses what does not fit in Google's own words, and normalises the rest. */
import { GoogleError, type Json, type JsonObject } from './api.js';
import { enumName, hasEnumNumbers } from './enum-numbers.js';
import { badRequest, notSimulated } from './errors.js';
import { camelOf } from './json-fields.js';
import { exactDigits, parse, rounded } from './json-text.js';
import type { Method, Parameter, Schema, Surface } from './surface.js';

/** Google's standard parameters, which every method accepts. */
const standardParameters = new Set([
  '$.xgafv', '$alt', '$prettyPrint', '$unique', 'access_token', 'alt', 'callback', 'fields', 'key', 'oauth_token',
  'prettyPrint', 'quotaUser', 'requestReason', 'returnPartialSuccess', 'trace', 'uploadType', 'upload_protocol', 'userIp',
]); // biome-ignore format: one list

const isCompute = ({ api }: Surface): boolean => api === 'compute.v1';
/** These APIs are older than Google's common front end. They word their refusals as compute does. */
const isOld = (surface: Surface): boolean =>
  isCompute(surface) || surface.api === 'dns.v1' || surface.api === 'storage.v1';
export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const snake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export interface CheckedParams {
  readonly params: Record<string, string>;
  readonly lists: Record<string, string[]>;
  /** Fields of the request message that stand in the query instead of the body. */
  readonly fields: JsonObject;
}

/** Path and query parameters by their discovery names. */
export function checkParams(
  surface: Surface,
  method: Method,
  inPath: Readonly<Record<string, string>>,
  query: URLSearchParams,
): CheckedParams {
  const known = method.parameters ?? {};
  const params: Record<string, string> = {};
  const lists: Record<string, string[]> = {};
  const fields: JsonObject = {};
  for (const [name, text] of Object.entries(inPath)) {
    params[name] = checkParameter(surface, name, known[name], text);
  }
  for (const [given, text] of query) {
    if (standardParameters.has(given) && !Object.hasOwn(known, given)) continue;
    const name = known[given] === undefined ? camelOf(given) : given;
    const parameter = known[name];
    if (parameter === undefined) {
      if (repeatsPath(name, inPath) || takeField(surface, method, fields, given, text)) continue;
      throw badRequest(
        `Invalid JSON payload received. Unknown name "${given}": Cannot bind query parameter. Field '${given}' could not be found in request message.`,
        '',
      );
    }
    if (parameter.location === 'path') continue;
    const value = checkParameter(surface, name, parameter, text);
    if (parameter.repeated === true) {
      lists[name] = [...(lists[name] ?? []), value];
      params[name] ??= value;
    } else {
      params[name] = value;
    }
  }
  for (const [name, parameter] of Object.entries(known)) {
    const required = parameter.required === true || parameter.description?.startsWith('Required') === true;
    if (required && (params[name] ?? '') === '') throw requiredParameter(surface, name);
  }
  return { params, lists, fields };
}

/** The schema of a body that is the whole request message. Elsewhere the body is a resource, one field of the message. */
function requestMessage(surface: Surface, { request }: Method): Schema | undefined {
  const name = request?.$ref ?? '';
  if (!name.endsWith('Request') || (isOld(surface) && !name.startsWith('GoogleIam'))) return undefined;
  return surface.schemas[name];
}

/** Takes a field of the request message from the query: `options.requestedPolicyVersion`. Says whether there is one. */
function takeField(surface: Surface, method: Method, into: JsonObject, given: string, text: string): boolean {
  let schema = requestMessage(surface, method);
  let target = into;
  const path = given.split('.').map(camelOf);
  for (const [index, name] of path.entries()) {
    const properties: Readonly<Record<string, Schema>> = schema?.properties ?? {};
    const found: Schema | undefined = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (found === undefined) return false;
    if (index === path.length - 1) return setText(target, name, found, text);
    schema = found.$ref === undefined ? found : surface.schemas[found.$ref];
    target[name] ??= {};
    target = target[name] as JsonObject;
  }
  return false;
}

function setText(target: JsonObject, name: string, { type, items }: Schema, text: string): boolean {
  const read = (wanted: string | undefined): Json =>
    wanted === 'boolean' && /^(true|false)$/i.test(text) ? text.toLowerCase() === 'true' : text;
  if (type === 'array') target[name] = [...((target[name] as Json[] | undefined) ?? []), read(items?.type)];
  else if (type === undefined || type === 'object') return false;
  else target[name] = read(type);
  return true;
}

/** Clients repeat path parameters in the query, sometimes under their full path (`project.name`). */
const repeatsPath = (name: string, inPath: Readonly<Record<string, string>>): boolean =>
  inPath[name] !== undefined || inPath[name.slice(name.lastIndexOf('.') + 1)] !== undefined;

function requiredParameter(surface: Surface, name: string): GoogleError {
  return isOld(surface)
    ? new GoogleError(400, 'INVALID_ARGUMENT', `Required parameter: ${name}`, { reason: 'required', location: name })
    : badRequest('Request contains an invalid argument.', snake(name), 'Required field is missing.');
}

function checkParameter(surface: Surface, name: string, parameter: Parameter | undefined, text: string): string {
  if (parameter === undefined) return text;
  if (parameter.pattern !== undefined && !new RegExp(`^(?:${parameter.pattern})$`).test(text)) {
    throw isOld(surface)
      ? new GoogleError(
          400,
          'INVALID_ARGUMENT',
          `Invalid value '${text}'. Values must match the following regular expression: '${parameter.pattern}'`,
          { reason: 'invalidParameter', location: name },
        )
      : badRequest(`Invalid value at '${snake(name)}': "${text}" does not match "${parameter.pattern}".`, snake(name));
  }
  if (parameter.enum !== undefined) {
    const byNumber = /^\d+$/.test(text) ? namedByNumber(surface, parameter.enum, Number(text), name) : undefined;
    const value = byNumber ?? text;
    if (!parameter.enum.includes(value)) throw badParameter(surface, name, 'TYPE_ENUM', text);
    return value;
  }
  if (parameter.type === 'boolean') {
    // gcloud writes True and False.
    if (!/^(true|false)$/i.test(text)) throw badParameter(surface, name, 'TYPE_BOOL', text);
    return text.toLowerCase();
  }
  if (parameter.type === 'integer') {
    const value = Number(text);
    const low = Number(parameter.minimum ?? (parameter.format === 'uint32' ? 0 : -(2 ** 31)));
    const high = Number(parameter.maximum ?? 2 ** 31 - 1);
    if (!/^-?\d+$/.test(text) || value < low || value > high) {
      throw badParameter(surface, name, parameter.format === 'uint32' ? 'TYPE_UINT32' : 'TYPE_INT32', text);
    }
  }
  return text;
}

/** The name of an enum's number. Undefined if there is no such number. */
function namedByNumber(surface: Surface, names: readonly string[], number: number, path: string): string | undefined {
  const name = enumName(surface.api, names, number);
  if (name === undefined && !hasEnumNumbers(surface.api, names)) throw notSimulated(`enum numbers of ${path}`);
  return name;
}

function badParameter(surface: Surface, name: string, type: string, text: string): GoogleError {
  return isCompute(surface)
    ? new GoogleError(400, 'INVALID_ARGUMENT', `Invalid value for field '${name}': '${text}'. ${typeNames[type]}`, {
        reason: 'invalidParameter',
        location: name,
      })
    : badRequest(`Invalid value at '${snake(name)}' (${type}), "${text}"`, snake(name));
}

const typeNames: Readonly<Record<string, string>> = {
  TYPE_ENUM: 'It is not one of the values that the parameter takes.',
  TYPE_BOOL: 'It must be true or false.',
  TYPE_INT32: 'It must be a number in range.',
  TYPE_UINT32: 'It must be a number in range.',
};

/** Turns the body's text into normalised JSON. Clients send `""` for empty messages, so it counts as empty. */
export function checkBody(surface: Surface, method: Method, text: string, fields: JsonObject = {}): JsonObject {
  const reference = method.request?.$ref;
  if (reference === undefined) return {};
  const parsed = text.trim() === '' ? {} : parse(text);
  const body = parsed === '' || parsed === null ? {} : parsed;
  if (!isObject(body)) {
    throw badRequest('Invalid JSON payload received. Unknown name "": Root element must be a message.', '');
  }
  const root = isOld(surface) ? 'resource' : reference.endsWith('Request') ? '' : snake(reference).replace(/^_/, '');
  const whole =
    requestMessage(surface, method) === undefined ? body : withoutPath(method, surface.schemas[reference], body);
  return checkMessage({ surface, method }, surface.schemas[reference] ?? {}, { ...fields, ...whole }, root);
}

/** The path's parameters are fields of the request message too. Where both are given, the path counts. */
function withoutPath({ parameters = {} }: Method, schema: Schema | undefined, body: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(body).filter(([given, value]) => {
      const name = camelOf(given);
      const isPath = Object.hasOwn(parameters, name) && parameters[name]?.location === 'path';
      return !isPath || Object.hasOwn(schema?.properties ?? {}, name) || (typeof value !== 'string' && value !== null);
    }),
  );
}

const integers: Readonly<Record<string, readonly [bigint, bigint, string]>> = {
  int32: [-(2n ** 31n), 2n ** 31n - 1n, 'TYPE_INT32'],
  uint32: [0n, 2n ** 32n - 1n, 'TYPE_UINT32'],
  int64: [-(2n ** 63n), 2n ** 63n - 1n, 'TYPE_INT64'],
  uint64: [0n, 2n ** 64n - 1n, 'TYPE_UINT64'],
};

export const dateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;
export const duration = /^-?\d{1,12}(\.\d{1,9})?s$/;
export const base64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

interface Site {
  readonly surface: Surface;
  readonly method: Method;
}

function checkMessage(site: Site, schema: Schema, body: JsonObject, path: string): JsonObject {
  const known = schema.properties ?? {};
  const checked: JsonObject = {};
  const isKnown = (name: string): boolean => Object.hasOwn(known, name);
  for (const [given, value] of Object.entries(body)) {
    const name = isKnown(given) ? given : camelOf(given);
    const field = isKnown(name) ? known[name] : undefined;
    if (field === undefined) {
      if (schema.additionalProperties === undefined) throw unknownName(given, path);
      const inner = checkValue(site, schema.additionalProperties, value, joined(site, path, given));
      if (inner !== undefined) checked[given] = inner;
      continue;
    }
    if (checked[name] !== undefined) throw unknownName(given, path, 'Proto field is already set.');
    const inner = checkValue(site, field, value, joined(site, path, name));
    // Google ignores output-only fields that a client sends. An etag is different: it says what the client has read.
    if (inner !== undefined && (field.readOnly !== true || name === 'etag')) checked[name] = inner;
  }
  if (!isPartial(site, path)) checkRequired(site, known, checked, path);
  return checked;
}

/** A PATCH sends a part of the resource. Its request message, if it has one, must still be whole. */
const isPartial = ({ surface, method }: Site, path: string): boolean =>
  method.httpMethod === 'PATCH' && (path !== '' || requestMessage(surface, method) === undefined);

function checkRequired(site: Site, known: Readonly<Record<string, Schema>>, checked: JsonObject, path: string): void {
  for (const [name, field] of Object.entries(known)) {
    const required =
      field.annotations?.required?.includes(site.method.id) === true ||
      (field.description?.startsWith('Required') === true && field.readOnly !== true);
    const value = checked[name];
    // A required field that is also a path parameter need not be repeated in the body.
    if (!path.includes('.') && site.method.parameters?.[name]?.location === 'path') continue;
    // The older APIs cannot tell an absent list from an empty one.
    if (isOld(site.surface) && field.type === 'array') continue;
    if (required && (value === undefined || value === '')) throw requiredField(site, joined(site, path, name));
  }
}

/** Returns undefined for null, because proto JSON reads null as not set. */
function checkValue(site: Site, schema: Schema, value: Json, path: string): Json | undefined {
  if (value === null) return undefined;
  const resolved = schema.$ref === undefined ? schema : (site.surface.schemas[schema.$ref] ?? {});
  if (resolved.type === 'array') {
    if (!Array.isArray(value)) throw badValue(site, path, 'TYPE_LIST', value);
    return value.flatMap((item, i) => checkItem(site, resolved.items ?? {}, item, `${path}[${i}]`) ?? []);
  }
  if (Array.isArray(value) && resolved.type !== 'any') {
    throw unknownName(
      path.slice(path.lastIndexOf('.') + 1),
      path.slice(0, Math.max(0, path.lastIndexOf('.'))),
      'Proto field is not repeating, cannot start list.',
    );
  }
  if (resolved.type === 'object' && resolved.format === undefined) {
    if (!isObject(value))
      throw badValue(site, path, `type.googleapis.com/${resolved.id ?? 'google.protobuf.Struct'}`, value);
    return checkMessage(site, resolved, value, path);
  }
  return checkScalar(site, resolved, value, path);
}

/**
 * Proto JSON refuses null within a list (https://protobuf.dev/programming-guides/json/). The older APIs drop it. An `undefined`
 * item is dropped.
 */
function checkItem(site: Site, schema: Schema, item: Json, path: string): [Json] | undefined {
  const checked = checkValue(site, schema, item, path);
  if (checked !== undefined) return [checked];
  if (schema.type === 'any') return [null];
  if (item === '' || isOld(site.surface)) return undefined;
  throw badValue(site, path, schema.type === 'string' ? 'TYPE_STRING' : 'TYPE_MESSAGE', item);
}

function checkScalar(site: Site, schema: Schema, given: Json, path: string): Json | undefined {
  const isWide = schema.format === 'int64' || schema.format === 'uint64';
  const value = (isWide ? exactDigits(given) : undefined) ?? rounded(given);
  const integer = integers[schema.format ?? ''];
  if (integer !== undefined && (schema.type === 'integer' || schema.type === 'string')) {
    const [low, high, type] = integer;
    if (!/^-?\d+$/.test(String(value)) || typeof value === 'boolean') throw badValue(site, path, type, value);
    const number = BigInt(String(value));
    if (number < low || number > high) throw badValue(site, path, type, value);
    return schema.type === 'integer' ? Number(value) : String(value);
  }
  switch (schema.type) {
    case 'boolean':
      if (typeof value !== 'boolean') throw badValue(site, path, 'TYPE_BOOL', value);
      return value;
    case 'number':
      if (typeof value !== 'number' && !Number.isFinite(Number(value)))
        throw badValue(site, path, 'TYPE_DOUBLE', value);
      return Number(value);
    case 'integer':
      if (!/^-?\d+$/.test(String(value))) throw badValue(site, path, 'TYPE_INT32', value);
      return Number(value);
    case 'string':
      return checkText(site, schema, value, path);
    default:
      return value;
  }
}

function checkText(site: Site, schema: Schema, value: Json, path: string): Json | undefined {
  if (schema.enum !== undefined) {
    // An empty enum is one that is not set.
    if (value === '') return undefined;
    if (typeof value === 'number') {
      const named = namedByNumber(site.surface, schema.enum, value, path);
      if (named === undefined) throw badValue(site, path, 'TYPE_ENUM', value);
      return named;
    }
    if (typeof value !== 'string' || !schema.enum.includes(value)) throw badValue(site, path, 'TYPE_ENUM', value);
    return value;
  }
  if (typeof value !== 'string') throw badValue(site, path, 'TYPE_STRING', value);
  if (schema.format === 'byte' && !base64.test(value))
    throw badValue(site, path, 'TYPE_BYTES', value, 'Base64 decoding failed for');
  if (schema.format === 'google-datetime' && !dateTime.test(value)) {
    throw badValue(site, path, 'type.googleapis.com/google.protobuf.Timestamp', value);
  }
  if (schema.format === 'google-duration' && !duration.test(value)) {
    throw badValue(site, path, 'type.googleapis.com/google.protobuf.Duration', value);
  }
  if (schema.pattern !== undefined && value !== '' && !new RegExp(`^(?:${schema.pattern})$`).test(value)) {
    throw new GoogleError(
      400,
      'INVALID_ARGUMENT',
      `Invalid value for field '${path}': '${value}'. Must be a match of regex '${schema.pattern}'`,
      { reason: 'invalid' },
    );
  }
  return value;
}

function joined(site: Site, path: string, name: string): string {
  const said = isOld(site.surface) ? name : snake(name);
  return path === '' ? said : `${path}.${said}`;
}

function badValue(site: Site, path: string, type: string, value: Json, lead?: string): GoogleError {
  if (isCompute(site.surface) && type === 'TYPE_ENUM') {
    return new GoogleError(400, 'INVALID_ARGUMENT', `Invalid value for field '${path}': '${String(value)}'.`, {
      reason: 'invalid',
    });
  }
  // Google shows the value. Here the message is recorded with the call, so it must not show what may be a secret.
  const shown = site.surface.api === 'secretmanager.v1' ? '(not shown)' : JSON.stringify(value).slice(0, 80);
  const text =
    lead === undefined
      ? `Invalid value at '${path}' (${type}), ${shown}`
      : `Invalid value at '${path}' (${type}), ${lead} ${shown}`;
  return badRequest(text, path);
}

function unknownName(name: string, path: string, why = 'Cannot find field.'): GoogleError {
  const at = path === '' ? '' : ` at '${path}'`;
  return badRequest(`Invalid JSON payload received. Unknown name "${name}"${at}: ${why}`, path);
}

function requiredField(site: Site, path: string): GoogleError {
  return isOld(site.surface)
    ? new GoogleError(400, 'INVALID_ARGUMENT', `Required field '${path}' not specified`, { reason: 'required' })
    : badRequest('Request contains an invalid argument.', path, 'Required field is missing.');
}
