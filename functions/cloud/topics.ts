/** Asks Pub/Sub about the topics of plinth's own project. `functions/publisher.ts` publishes to them. */
import { orUndefined } from './errors.js';
import { createRest, type Transport } from './rest.js';

export function createTopics(transport: Transport) {
  const rest = createRest(transport, 'pubsub');
  return {
    /** Those of these permissions that plinth has on the topic. Undefined if it is not there. */
    async held(topic: string, permissions: readonly string[]): Promise<readonly string[] | undefined> {
      const path = `/v1/projects/${transport.config.project}/topics/${topic}:testIamPermissions`;
      const doing = `ask what plinth may do with the topic ${topic}`;
      const asked = rest<{ permissions?: string[] }>('POST', path, { doing, body: { permissions } });
      const found = await orUndefined(asked);
      return found && (found.permissions ?? []);
    },
  };
}
