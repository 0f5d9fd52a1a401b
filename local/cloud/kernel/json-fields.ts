/** Reads and copies fields of JSON bodies that the kernel has already checked against the API surface. */
import type { Json, JsonObject, World } from './api.js';

export const textOf = (value: Json | undefined): string | undefined => (typeof value === 'string' ? value : undefined);

export const flagOf = (value: Json | undefined): boolean | undefined =>
  typeof value === 'boolean' ? value : undefined;

/** Accepts text too, because int64 travels as text. */
export function numberOf(value: Json | undefined): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && value !== '' && Number.isFinite(Number(value)) ? Number(value) : undefined;
}

/** `aggregated_list` → `aggregatedList`. */
export const camelOf = (name: string): string =>
  name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** The time of the cloud, in the form of replies. */
export const stampOf = (world: World): string => new Date(world.now()).toISOString();

/** A duration: `10s` → 10. Not a number if there is none. */
export const secondsOf = (value: Json | undefined): number => Number.parseFloat(textOf(value) ?? '');

export const objectOf = (value: Json | undefined): JsonObject | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;

export const objectsOf = (value: Json | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter((item): item is JsonObject => objectOf(item) !== undefined) : [];

export const textsOf = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];

/** Several times as quick as structuredClone, and each reply is copied. */
export function copyOf<T extends Json>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copyOf) as T;
  const copy: JsonObject = {};
  for (const name of Object.keys(value)) copy[name] = copyOf((value as JsonObject)[name] as Json);
  return copy as T;
}

export const labelsOf = (value: Json | undefined): Record<string, string> =>
  Object.fromEntries(
    Object.entries(objectOf(value) ?? {}).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
