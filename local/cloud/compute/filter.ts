/** Compute's list filters: `name=x`, `labels.k:*`, `NOT status=RUNNING`, `name eq web.*`, joined by AND and OR. */
import { GoogleError, type Json, type JsonObject } from '../kernel/api.js';
import { type Schema, surfaceOf } from '../kernel/surface.js';

export type Predicate = (resource: JsonObject) => boolean;

/** The schema of a collection's resources. `compute#instance` is an `Instance`. */
export const schemaName = (kind: string): string => {
  const bare = kind.slice(kind.indexOf('#') + 1);
  return bare.charAt(0).toUpperCase() + bare.slice(1);
};

/** Reads the filter of a list of this schema. Throws Google's 400 if it does not parse, or names a field that is not there. */
export function readFilter(filter: string | undefined, schema: string): Predicate {
  if (filter === undefined || filter.trim() === '') return () => true;
  const refused = new GoogleError(
    400,
    'INVALID_ARGUMENT',
    `Invalid value for field 'filter': '${filter}'. Invalid list filter expression.`,
    { reason: 'invalid' },
  );
  return new Reader(filter, schema, refused).whole();
}

/** A field, then an operator. */
const head = /^([\w-]+(?:\.(?:[\w-]+|"[^"]*"))*)\s*(!=|<=|>=|=|:|<|>|(?:eq|ne)\b)\s*/;
const quoted = /^(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')/;
/** A value without quotes does not begin like an operator, and holds no quotes. */
const bare = /^[^\s()"'=<>!:][^\s()"']*/;
/** The regular expressions of eq and ne may hold parentheses. */
const expression = /^(?:[^\s()"']|\([^()\s]*\))+/;

class Reader {
  #rest: string;
  readonly #schema: string;
  readonly #refused: GoogleError;

  constructor(text: string, schema: string, refused: GoogleError) {
    this.#rest = text.trim();
    this.#schema = schema;
    this.#refused = refused;
  }

  whole(): Predicate {
    const read = this.#any();
    if (this.#rest !== '') throw this.#refused;
    return read;
  }

  #take(pattern: RegExp): RegExpExecArray | undefined {
    const found = pattern.exec(this.#rest) ?? undefined;
    if (found !== undefined) this.#rest = this.#rest.slice(found[0].length).trimStart();
    return found;
  }

  #any(): Predicate {
    const sides = [this.#all()];
    while (this.#take(/^OR\b/) !== undefined) sides.push(this.#all());
    return (resource) => sides.some((side) => side(resource));
  }

  /** Terms side by side must all hold. */
  #all(): Predicate {
    const terms = [this.#one()];
    while (this.#take(/^AND\b/) !== undefined || !/^(\)|OR\b|$)/.test(this.#rest)) terms.push(this.#one());
    return (resource) => terms.every((term) => term(resource));
  }

  #one(): Predicate {
    if (this.#take(/^(NOT\b|-)/) !== undefined) {
      const inner = this.#one();
      return (resource) => !inner(resource);
    }
    if (this.#take(/^\(/) === undefined) return this.#term();
    const inner = this.#any();
    if (this.#take(/^\)/) === undefined) throw this.#refused;
    return inner;
  }

  #term(): Predicate {
    const [, field = '', operator = ''] = this.#take(head) ?? [];
    const path = field.match(/"[^"]*"|[^.]+/g)?.map((part) => part.replaceAll('"', '')) ?? [];
    if (path.length === 0 || !hasField(this.#schema, path)) throw this.#refused;
    const value = this.#value(operator);
    if ((operator === 'eq' || operator === 'ne') && !isExpression(value)) throw this.#refused;
    return (resource) => compare(valuesAt(resource, path), operator, value);
  }

  #value(operator: string): string {
    const text = this.#take(quoted);
    const isMatched = operator === 'eq' || operator === 'ne';
    // A regular expression keeps its backslashes.
    if (text !== undefined) return (text[1] ?? text[2] ?? '').replaceAll(isMatched ? /\\(["'])/g : /\\(.)/g, '$1');
    const word = this.#take(isMatched ? expression : bare);
    if (word === undefined) throw this.#refused;
    return word[0];
  }
}

function isExpression(text: string): boolean {
  try {
    new RegExp(text);
    return true;
  } catch {
    return false;
  }
}

/** Whether the resources of a list have the field. A field within a list means its items. */
function hasField(name: string, path: readonly string[]): boolean {
  const { schemas } = surfaceOf('compute.v1');
  let schema: Schema | undefined = schemas[name];
  for (const part of path) {
    schema = bottom(schema, schemas);
    if (schema === undefined || schema.type === 'any') return true;
    const known: Readonly<Record<string, Schema>> = schema.properties ?? {};
    schema = Object.hasOwn(known, part) ? known[part] : schema.additionalProperties;
    if (schema === undefined) return false;
  }
  return true;
}

function bottom(from: Schema | undefined, schemas: Readonly<Record<string, Schema>>): Schema | undefined {
  let schema = from;
  while (schema?.$ref !== undefined || schema?.type === 'array') {
    schema = schema.$ref === undefined ? schema.items : schemas[schema.$ref];
  }
  return schema;
}

function compare(found: string[], operator: string, value: string): boolean {
  switch (operator) {
    case '=':
      return found.some((one) => one === value || (value.includes('*') && wildcard(value).test(one)));
    case '!=':
      return !found.includes(value);
    case ':':
      return value === '*' ? found.length > 0 : found.some((one) => wildcard(value).test(one) || one.includes(value));
    case 'eq':
      return found.some((one) => new RegExp(`^(?:${value})$`).test(one));
    case 'ne':
      return !found.some((one) => new RegExp(`^(?:${value})$`).test(one));
    default:
      return found.some((one) => ordered(one, operator, value));
  }
}

function ordered(one: string, operator: string, value: string): boolean {
  const [a, b] = [Number(one), Number(value)];
  const order = Number.isNaN(a) || Number.isNaN(b) ? one.localeCompare(value) : a - b;
  return operator === '<' ? order < 0 : operator === '>' ? order > 0 : operator === '<=' ? order <= 0 : order >= 0;
}

export const wildcard = (value: string): RegExp =>
  new RegExp(`^${value.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`, 'i');

function valuesAt(value: Json | undefined, [field, ...rest]: readonly string[]): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => valuesAt(item, field === undefined ? [] : [field, ...rest]));
  if (field === undefined) {
    return value === undefined || value === null || typeof value === 'object' ? [] : [String(value)];
  }
  if (typeof value !== 'object' || value === null) return [];
  return valuesAt(value[field], rest);
}
