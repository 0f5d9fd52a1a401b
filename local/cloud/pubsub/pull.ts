/** Pulling from Pub/Sub's subscriptions, acknowledgements, and dead letters. */
import { setTimeout as sleep } from 'node:timers/promises';
import { GoogleError, type Handler, type JsonObject, type World } from '../kernel/api.js';
import { labelsOf, numberOf, objectOf, textOf, textsOf } from '../kernel/json-fields.js';
import { badInput, nameOf, subscriptionAt, topics } from './names.js';
import { failed, messagesOf, type QueuedMessage } from './queues.js';
import { publishTo } from './topics.js';

const ackIdOf = (id: string, attempt: number): string => Buffer.from(`${id}:${attempt}`).toString('base64url');

/** Waits a little for the first message, as Google does. */
export const pull: Handler = async (call, world) => {
  const path = nameOf(call, world);
  const subscription = subscriptionAt(path, world);
  if (textOf(objectOf(subscription['pushConfig'])?.['pushEndpoint'])) {
    throw new GoogleError(400, 'FAILED_PRECONDITION', 'This method is not supported for this subscription type.');
  }
  const most = numberOf(call.body['maxMessages']) ?? 0;
  if (most <= 0) throw badInput('Invalid max_messages: it must be positive.');
  const until = world.now() + (call.body['returnImmediately'] === true ? 0 : 2000);
  for (;;) {
    const receivedMessages = take(world, path, subscription, Math.min(most, 1000));
    if (receivedMessages.length > 0) return { receivedMessages };
    if (world.now() >= until) return {};
    await sleep(20, undefined, { ref: false });
  }
};

function take(world: World, path: string, subscription: JsonObject, most: number): JsonObject[] {
  const now = world.now();
  const due = Object.entries(messagesOf(world, path))
    .filter(([, queued]) => queued.availableAt <= now)
    .slice(0, most);
  return due.map(([id, queued]) => {
    queued.attempts += 1;
    queued.availableAt = now + (numberOf(subscription['ackDeadlineSeconds']) ?? 10) * 1000;
    return {
      ackId: ackIdOf(id, queued.attempts),
      message: queued.message,
      ...(subscription['deadLetterPolicy'] === undefined ? {} : { deliveryAttempt: queued.attempts }),
    };
  });
}

function queuedBy(ackId: string, world: World, path: string): { id: string; queued: QueuedMessage } | undefined {
  const [id = '', attempt] = Buffer.from(ackId, 'base64url').toString().split(':');
  if (attempt === undefined) throw badInput(`You have passed an invalid ack ID to the service (ack_id=${ackId}).`);
  const queued = messagesOf(world, path)[id];
  return queued?.attempts === Number(attempt) ? { id, queued } : undefined;
}

/** A late acknowledgement is no error. It does nothing. */
export const acknowledge: Handler = (call, world) => {
  const path = nameOf(call, world);
  subscriptionAt(path, world);
  const ids = textsOf(call.body['ackIds']);
  if (ids.length === 0) throw badInput('No ack IDs specified.');
  for (const ackId of ids) {
    const found = queuedBy(ackId, world, path);
    if (found !== undefined) delete messagesOf(world, path)[found.id];
  }
  return {};
};

export const modifyAckDeadline: Handler = (call, world) => {
  const path = nameOf(call, world);
  const subscription = subscriptionAt(path, world);
  const seconds = numberOf(call.body['ackDeadlineSeconds']) ?? 0;
  if (seconds < 0 || seconds > 600) throw badInput(`Invalid ack deadline given (seconds=${seconds}).`);
  const ids = textsOf(call.body['ackIds']);
  if (ids.length === 0) throw badInput('No ack IDs specified.');
  for (const ackId of ids) {
    const found = queuedBy(ackId, world, path);
    if (found === undefined) continue;
    if (seconds > 0) found.queued.availableAt = world.now() + seconds * 1000;
    else if (failed(world, path, subscription, found.id) === 'dead')
      deadLetter(world, subscription, found.queued.message);
  }
  return {};
};

/** A message with too many attempts goes to the dead-letter topic, if the subscription has one. */
export function deadLetter(world: World, subscription: JsonObject, message: QueuedMessage['message']): void {
  const topic = textOf(objectOf(subscription['deadLetterPolicy'])?.['deadLetterTopic']);
  if (topic === undefined || topics(world)[topic] === undefined) return;
  const attributes = {
    ...labelsOf(message['attributes']),
    CloudPubSubDeadLetterSourceSubscription: String(subscription['name']),
  };
  publishTo(world, topic, {
    ...message,
    attributes,
    messageId: world.id(),
    publishTime: new Date(world.now()).toISOString(),
  });
}
