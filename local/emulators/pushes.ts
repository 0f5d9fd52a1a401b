/**
 * Does Eventarc's part where Google's Pub/Sub emulator carries the messages. The emulator pushes in Pub/Sub's own form. The
 * function gets each message as the binary CloudEvent that Eventarc makes.
 */
import type { IncomingMessage } from 'node:http';
import { listen } from '../loopback.js';

interface PushTrigger {
  /** Name of the function. */
  readonly name: string;
  /** `projects/p/topics/t` */
  readonly topic: string;
  /** Read for each message. Undefined while the function is not served yet. The message then comes again. */
  readonly url: () => string | undefined;
  readonly serviceAccount: string;
}

export interface EmulatorPushesOptions {
  /** `host:port` of the emulator. */
  readonly emulatorHost: string;
  readonly identity: { idToken(claims: { email: string; audience: string }): string | Promise<string> };
  readonly triggers: readonly PushTrigger[];
  readonly onFailure?: (subscription: string, why: string) => void;
}

export interface EmulatorPushes {
  /** The number of deliveries under way. The emulator does not tell what it still holds. */
  pending(): number;
  close(): Promise<void>;
}

interface Push {
  readonly subscription: string;
  readonly message: { readonly messageId: string; readonly publishTime: string };
  readonly deliveryAttempt?: number;
}

const readAll = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
};

/** Returns the status of the function's answer. The emulator retries after anything but 2xx. */
async function handOn(
  { identity, onFailure }: EmulatorPushesOptions,
  { topic, url: urlOf, serviceAccount }: PushTrigger,
  push: Push,
  signal: AbortSignal,
): Promise<number> {
  const url = urlOf();
  if (url === undefined) return 503;
  const token = await identity.idToken({ email: serviceAccount, audience: url });
  const reply = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'user-agent': 'APIs-Google; (+https://developers.google.com/webmasters/APIs-Google.html)',
      authorization: `Bearer ${token}`,
      'ce-specversion': '1.0',
      'ce-id': push.message.messageId,
      'ce-source': `//pubsub.googleapis.com/${topic}`,
      'ce-type': 'google.cloud.pubsub.topic.v1.messagePublished',
      'ce-time': push.message.publishTime,
    },
    body: JSON.stringify(push),
    redirect: 'manual',
    signal,
  });
  const text = await reply.text();
  if (!reply.ok) onFailure?.(push.subscription, `${reply.status} ${text.slice(0, 200)}`);
  return reply.status;
}

/** An adopted emulator already has the topic and the subscription, but its push endpoint has an old port. */
async function subscribe(emulatorHost: string, { name, topic }: PushTrigger, receiverUrl: string): Promise<void> {
  const ask = async (method: string, path: string, body: object): Promise<void> => {
    const reply = await fetch(`http://${emulatorHost}/v1/${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await reply.text();
    if (!reply.ok && reply.status !== 409) throw new Error(`The Pub/Sub emulator answered ${reply.status}: ${text}`);
  };
  const project = topic.split('/').slice(0, 2).join('/');
  const subscription = `${project}/subscriptions/eventarc-${name}-sub`;
  const pushConfig = { pushEndpoint: `${receiverUrl}/${name}` };
  await ask('PUT', topic, {});
  await ask('PUT', subscription, {
    topic,
    pushConfig,
    ackDeadlineSeconds: 600,
    retryPolicy: { minimumBackoff: '1s', maximumBackoff: '10s' },
  });
  await ask('POST', `${subscription}:modifyPushConfig`, { pushConfig });
}

export async function startEmulatorPushes(options: EmulatorPushesOptions): Promise<EmulatorPushes> {
  const { emulatorHost, triggers, onFailure } = options;
  const closing = new AbortController();
  let underWay = 0;

  const receiver = await listen(async (request, response) => {
    underWay += 1;
    let status = 503;
    try {
      const trigger = triggers.find(({ name }) => request.url === `/${name}`);
      const push = JSON.parse(await readAll(request)) as Push;
      if (trigger !== undefined) status = await handOn(options, trigger, push, closing.signal);
    } catch (error) {
      if (!closing.signal.aborted) onFailure?.(request.url ?? '', (error as Error).message);
    } finally {
      underWay -= 1;
      response.writeHead(status).end();
    }
  });
  for (const trigger of triggers) await subscribe(emulatorHost, trigger, receiver.url);

  return {
    pending: () => underWay,
    async close() {
      closing.abort();
      await receiver.close();
    },
  };
}
