/** Reads fields of JSON bodies that the kernel has already checked against the API surface. */
import type { Json, JsonObject } from './api.js';

export const textOf = (value: Json | undefined): string | undefined => (typeof value === 'string' ? value : undefined);

export const flagOf = (value: Json | undefined): boolean | undefined =>
  typeof value === 'boolean' ? value : undefined;

/** Accepts text too, because int64 travels as text. */
export function numberOf(value: Json | undefined): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && value !== '' && Number.isFinite(Number(value)) ? Number(value) : undefined;
}

export const objectOf = (value: Json | undefined): JsonObject | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;

export const objectsOf = (value: Json | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter((item): item is JsonObject => objectOf(item) !== undefined) : [];

export const textsOf = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];

export const labelsOf = (value: Json | undefined): Record<string, string> =>
  Object.fromEntries(
    Object.entries(objectOf(value) ?? {}).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
