/** Reads the text of request bodies. */
import { randomUUID } from 'node:crypto';
import type { Json } from './api.js';
import { badRequest } from './errors.js';

/** Parses the text of a request. Whole numbers that JavaScript would round keep their digits. */
export function parse(text: string): Json {
  try {
    const read = JSON.parse(text) as Json;
    // JavaScript's numbers would round these. The text is JSON by now, so its strings and numbers are easy to tell apart.
    return longNumber.test(text) ? (JSON.parse(text.replaceAll(stringOrNumber, keepDigits)) as Json) : read;
  } catch {
    throw badRequest('Invalid JSON payload received. Unexpected token.', '');
  }
}

const longNumber = /\d{16}/;
const stringOrNumber = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
/** Marks a whole number that is kept as text. Nobody can guess it. */
const exactly = `${randomUUID()}:`;
const keepDigits = (token: string): string => (/^-?\d{16,}$/.test(token) ? `"${exactly}${token}"` : token);

const isExact = (value: Json): value is string => typeof value === 'string' && value.startsWith(exactly);

/** The digits of a long whole number, for fields of 64 bits. */
export const exactDigits = (value: Json): string | undefined =>
  isExact(value) ? value.slice(exactly.length) : undefined;

/** The value with plain numbers, for fields that are not of 64 bits. */
export function rounded(value: Json): Json {
  if (isExact(value)) return Number(value.slice(exactly.length));
  if (Array.isArray(value)) return value.map(rounded);
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, rounded(inner)]))
    : value;
}
