/** Pushes one message to a function, as the binary CloudEvent that Eventarc makes. */
import { within } from '../../../shared/time-limit.js';
import type { JsonObject } from '../kernel/api.js';
import { objectOf, textOf } from '../kernel/json-fields.js';
import type { QueuedMessage } from './queues.js';

/** After this, an unanswered delivery counts as failed. It is Eventarc's, in real time. */
const ackDeadlineMs = 600_000;

export interface PushOptions {
  /** Signs the token a push carries. */
  readonly identity: { idToken(claims: { email: string; audience: string }): string | Promise<string> };
  readonly signal: AbortSignal;
}

export interface Push {
  /** Path of the subscription. */
  readonly path: string;
  readonly subscription: JsonObject;
  readonly queued: QueuedMessage;
  readonly endpoint: string;
}

/** Undefined if the endpoint answered 2xx. Otherwise the reason of the failure. */
export async function refusalOf(options: PushOptions, push: Push): Promise<string | undefined> {
  try {
    const request = { method: 'POST', headers: await headersOf(options, push), body: bodyOf(push) };
    const ask = async (signal: AbortSignal): Promise<string | undefined> => {
      const reply = await fetch(push.endpoint, { ...request, redirect: 'manual', signal });
      const text = await reply.text();
      return reply.ok ? undefined : `${reply.status} ${text.slice(0, 200)}`;
    };
    return await within(ackDeadlineMs, ask, options.signal);
  } catch (error) {
    const { message, cause } = error as Error;
    return cause instanceof Error ? `${message}: ${cause.message}` : message;
  }
}

function bodyOf({ path, queued: { message, attempts } }: Push): string {
  // Pub/Sub sends these two in both spellings.
  const both = { ...message, message_id: message.messageId, publish_time: message.publishTime };
  return JSON.stringify({ message: both, subscription: path, deliveryAttempt: attempts });
}

async function headersOf(options: PushOptions, push: Push): Promise<Record<string, string>> {
  const { message } = push.queued;
  const bearer = await bearerOf(options, push);
  return {
    'content-type': 'application/json',
    'user-agent': 'APIs-Google; (+https://developers.google.com/webmasters/APIs-Google.html)',
    ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
    'ce-specversion': '1.0',
    'ce-id': message.messageId,
    'ce-source': `//pubsub.googleapis.com/${String(push.subscription['topic'])}`,
    'ce-type': 'google.cloud.pubsub.topic.v1.messagePublished',
    'ce-time': message.publishTime,
  };
}

function bearerOf({ identity }: PushOptions, { subscription, endpoint }: Push) {
  const token = objectOf(objectOf(subscription['pushConfig'])?.['oidcToken']);
  const email = textOf(token?.['serviceAccountEmail']);
  return email === undefined
    ? undefined
    : identity.idToken({ email, audience: textOf(token?.['audience']) ?? endpoint });
}
