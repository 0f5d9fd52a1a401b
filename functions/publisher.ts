/** Publishes step messages. The one importer of @google-cloud/pubsub, which is loaded on first use. */
import type { v1 } from '@google-cloud/pubsub';
import type { StepMessage } from '../shared/bootstrap/message.js';
import { type Lane, topics } from '../shared/names.js';
import { Problem } from '../shared/problems.js';
import type { Config } from './config.js';
import { type ConnectionWatch, noWatch } from './host/connection-watch.js';
import { createGoogleAuth, createNoAuth } from './host/credentials.js';

export interface Publisher {
  /** Resolves once Pub/Sub has taken all messages. `attributes.traceparent` carries the trace. */
  publish(lane: Lane, messages: readonly StepMessage[], attributes?: Readonly<Record<string, string>>): Promise<void>;
  close(): Promise<void>;
}

/** Pub/Sub takes 1,000 messages a call. */
const perCall = 1000;
/** Sweep sends what is not published by then. */
const timeoutMilliseconds = 20_000;

const urlOf = ({ pubsubEmulatorHost: emulator, endpoints }: Config): URL =>
  new URL(emulator === undefined ? endpoints.pubsub : `http://${emulator}`);

async function connect(config: Config): Promise<v1.PublisherClient> {
  // The package loads its subscriber, too. Bundles leave it out: tools/bundle/lean-clients.ts.
  const { v1 } = await import('@google-cloud/pubsub');
  const { pubsubEmulatorHost: emulator } = config;
  const { protocol, hostname, port } = urlOf(config);
  return new v1.PublisherClient({
    projectId: config.project,
    auth: (emulator === undefined ? createGoogleAuth(config) : createNoAuth(config)) as never,
    // REST loads in half the time of gRPC, and the local simulation of Google speaks it.
    fallback: true,
    apiEndpoint: hostname,
    protocol: protocol.replace(':', ''),
    port: Number(port || (protocol === 'http:' ? 80 : 443)),
  });
}

/** The client's own batching waits for more messages. Here, messages that belong together are sent together. */
export function createPublisher(config: Config, connections: ConnectionWatch = noWatch): Publisher {
  const { origin } = urlOf(config);
  let connecting: Promise<v1.PublisherClient> | undefined;
  return {
    async publish(lane, messages, attributes = {}) {
      if (messages.length === 0) return;
      connecting ??= connect(config);
      const client = await connecting;
      const topic = `projects/${config.project}/topics/${topics[lane]}`;
      const encoded = messages.map((message) => ({
        data: Buffer.from(JSON.stringify(message)),
        attributes: { ...attributes },
      }));
      for (let i = 0; i < encoded.length; i += perCall) {
        const some = { topic, messages: encoded.slice(i, i + perCall) };
        await connections
          .observe('gaxios', origin, () => client.publish(some, { timeout: timeoutMilliseconds }))
          .catch((cause: unknown) => {
            throw new Problem('unavailable', 'Pub/Sub cannot be reached now.', { cause, retryAfterSeconds: 5 });
          });
      }
    },
    async close() {
      const client = await connecting?.catch(() => undefined);
      connecting = undefined;
      await client?.close();
    },
  };
}
