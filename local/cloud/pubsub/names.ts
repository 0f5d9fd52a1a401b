/** Topics and subscriptions in the state: their names, how calls refer to them, and their refusals. */
import { type CloudCall, GoogleError, type JsonObject, type World } from '../kernel/api.js';

const service = 'pubsub.googleapis.com';

export const topics = (world: World): Record<string, JsonObject> => world.table('pubsub.topics');
export const subscriptions = (world: World): Record<string, JsonObject> => world.table('pubsub.subscriptions');

export const badInput = (message: string): GoogleError => new GoogleError(400, 'INVALID_ARGUMENT', message);

const notFound = (path: string): GoogleError =>
  new GoogleError(404, 'NOT_FOUND', `Resource not found (resource=${path.slice(path.lastIndexOf('/') + 1)}).`);

/** The path with the project's id, whether the caller named the project by id or number. */
export function pathOf(given: string, world: World): string {
  const [, project = '', ...rest] = given.split('/');
  const { projectId } = world.project(project, { service });
  return ['projects', projectId, ...rest].join('/');
}

export function checkName(path: string): void {
  const id = path.slice(path.lastIndexOf('/') + 1);
  if (!/^[A-Za-z][A-Za-z0-9\-_.~+%]{2,254}$/.test(id) || id.toLowerCase().startsWith('goog')) {
    throw badInput(`Invalid resource name given (name=${path}). Refer to the rules of Pub/Sub for resource names.`);
  }
}

export function nameOf(call: CloudCall, world: World): string {
  const { name, topic, subscription, resource, project } = call.params;
  return pathOf(name ?? topic ?? subscription ?? resource ?? project ?? '', world);
}

export function topicAt(path: string, world: World): JsonObject {
  const found = topics(world)[path];
  if (found === undefined) throw notFound(path);
  return found;
}

export function subscriptionAt(path: string, world: World): JsonObject {
  const found = subscriptions(world)[path];
  if (found === undefined) throw notFound(path);
  return found;
}
