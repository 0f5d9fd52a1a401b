/**
 * Applies a PATCH to an object: JSON patch, JSON merge patch, strategic merge and server-side apply. The last two are read as
 * merge patches, except for lists with keys.
 */
import { parse } from 'yaml';
import { fault } from './fault.js';

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The keys of lists in a strategic patch: `type` for conditions, `name` for ports and everything else with a name. */
const mergeKeys = ['type', 'name'] as const;

/** Merges as RFC 7386 says. */
function merged(target: unknown, patch: unknown, strategic = false): unknown {
  if (strategic && Array.isArray(target) && Array.isArray(patch)) return mergedList(target, patch);
  if (!isObject(patch)) return patch;
  const result: Json = { ...(isObject(target) ? target : {}) };
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = merged(result[name], value, strategic);
  }
  return result;
}

function mergedList(target: readonly unknown[], patch: readonly unknown[]): unknown {
  const all = [...target, ...patch];
  const key = mergeKeys.find((name) => all.every((each) => isObject(each) && typeof each[name] === 'string'));
  if (key === undefined) return patch;
  const result = new Map((target as Json[]).map((each) => [each[key], each]));
  for (const each of patch as Json[]) {
    if (each['$patch'] === 'delete') result.delete(each[key]);
    else result.set(each[key], merged(result.get(each[key]), each, true) as Json);
  }
  return [...result.values()];
}

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly value?: unknown;
}

/** Applies add, replace and remove of RFC 6902, on objects only. */
function operated(target: Json, operations: readonly Operation[]): Json {
  const result = structuredClone(target);
  for (const { op, path, value } of operations) {
    const names = path
      .split('/')
      .slice(1)
      .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = names.pop() ?? '';
    const holder = names.reduce<unknown>((found, name) => (found as Json | undefined)?.[name], result);
    if (!isObject(holder) || !['add', 'replace', 'remove'].includes(op) || (op !== 'add' && !(last in holder))) {
      throw fault(422, 'Invalid', `the server rejected our request due to an error in our request: ${op} ${path}`);
    }
    if (op === 'remove') delete holder[last];
    else holder[last] = value;
  }
  return result;
}

export function patched(target: Json, contentType: string, body: string): Json {
  const [type = ''] = contentType.split(';');
  switch (type) {
    case 'application/json-patch+json':
      return operated(target, JSON.parse(body) as Operation[]);
    case 'application/merge-patch+json':
      return merged(target, JSON.parse(body)) as Json;
    case 'application/strategic-merge-patch+json':
      return merged(target, JSON.parse(body), true) as Json;
    case 'application/apply-patch+yaml':
      return merged(target, parse(body), true) as Json;
    default:
      throw fault(415, 'UnsupportedMediaType', `the body of the request was in an unknown format: ${type}`);
  }
}
