/** Topics and subscriptions of Pub/Sub as records, by their names with the project's id. */
import type { JsonObject, World } from '../kernel/api.js';

export const topics = (world: World): Record<string, JsonObject> => world.table('pubsub.topics');
export const subscriptions = (world: World): Record<string, JsonObject> => world.table('pubsub.subscriptions');
