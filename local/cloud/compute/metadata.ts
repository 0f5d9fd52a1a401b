/** Checks the metadata of instances and projects, and gives it a fingerprint. */
import type { JsonObject } from '../kernel/api.js';
import { objectsOf, textOf } from '../kernel/json-fields.js';
import { fingerprint, invalid } from './resources.js';

/** `field` is the path of the metadata in the body: `resource.metadata`, or empty for setMetadata. */
export function metadataFrom(body: JsonObject | undefined, field: string): JsonObject {
  const items = objectsOf(body?.['items']).map((item) => ({
    key: textOf(item['key']) ?? '',
    value: textOf(item['value']) ?? '',
  }));
  const at = field === '' ? 'items' : `${field}.items`;
  const seen = new Set<string>();
  for (const [index, { key, value }] of items.entries()) {
    if (!/^[a-zA-Z0-9-_]{1,128}$/.test(key)) {
      throw invalid(`${at}[${index}].key`, key, "Must be a match of regex '[a-zA-Z0-9-_]{1,128}'");
    }
    if (seen.has(key)) throw invalid(at, key, `Metadata has duplicate keys: ${key}`);
    seen.add(key);
    if (Buffer.byteLength(value) > 256 * 1024) {
      throw invalid(`${at}[${index}].value`, `${value.slice(0, 20)}…`, 'Value is too large: at most 262144 bytes.');
    }
  }
  return { kind: 'compute#metadata', fingerprint: fingerprint(items), ...(items.length === 0 ? {} : { items }) };
}

export const metadataValue = (metadata: JsonObject | undefined, key: string): string | undefined =>
  textOf(objectsOf(metadata?.['items']).find((item) => item['key'] === key)?.['value']);
