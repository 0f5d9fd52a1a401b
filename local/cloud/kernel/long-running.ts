/** Keeps the long-running operations of the googleapis style for all services that have them. Compute has its own kind. */
import { GoogleError, type Json, type JsonObject, type World } from './api.js';

/** Operations by name. One that is not finished has no `done`. */
const operations = (world: World): Record<string, JsonObject> => world.table('operations');

export function beginOperation(world: World, name: string, metadata: JsonObject): JsonObject {
  const operation: JsonObject = { name, metadata };
  operations(world)[name] = operation;
  return operation;
}

export function endOperation(
  world: World,
  name: string,
  outcome: { response: JsonObject } | { error: JsonObject },
): void {
  const operation = operations(world)[name];
  if (operation !== undefined && operation['done'] !== true) Object.assign(operation, { done: true, ...outcome });
}

export const operationAt = (world: World, name: string): JsonObject | undefined => operations(world)[name];

export function findOperation(world: World, name: string): JsonObject {
  const operation = operationAt(world, name);
  if (operation === undefined) throw new GoogleError(404, 'NOT_FOUND', `Operation "${name}" not found.`);
  return operation;
}

export const operationName = (prefix: string, world: World): string => `operations/${prefix}.${world.id()}`;

export const typed = (type: string, body: Readonly<Record<string, Json>>): JsonObject => ({
  '@type': `type.googleapis.com/${type}`,
  ...body,
});
