/** Update masks: which fields of a resource a call changes, and the resource with them changed. */
import type { CloudCall, JsonObject } from './api.js';
import { camelOf, objectOf, textOf } from './json-fields.js';

/** The mask's fields in camelCase: `httpTarget.uri`. Undefined for a call without a mask. */
export function maskOf({ params, body }: Pick<CloudCall, 'params' | 'body'>): string[] | undefined {
  const mask = params['updateMask'] ?? textOf(body['updateMask']) ?? '';
  const fields = mask.split(',').flatMap((field) => (field.trim() === '' ? [] : [camelOf(field.trim())]));
  return fields.length === 0 ? undefined : fields;
}

/** A copy of the resource in which these fields are as given. A field that is not given is removed. */
export function withFields(current: JsonObject, given: JsonObject, fields: readonly string[]): JsonObject {
  const changed = structuredClone(current);
  for (const field of fields) setField(changed, given, field.split('.'));
  return changed;
}

function setField(into: JsonObject, from: JsonObject, [top = '', ...rest]: readonly string[]): void {
  const given = from[top];
  if (rest.length > 0) {
    const inner = objectOf(into[top]) ?? {};
    setField(inner, objectOf(given) ?? {}, rest);
    into[top] = inner;
  } else if (given === undefined) delete into[top];
  else into[top] = given;
}
