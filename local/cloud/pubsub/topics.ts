/** Creates and removes Pub/Sub's topics, and publishes to them. */
import { GoogleError, type Handler, type JsonObject, type World } from '../kernel/api.js';
import { labelsOf, objectsOf, textOf } from '../kernel/json-fields.js';
import { badInput, checkName, nameOf, subscriptions, topicAt, topics } from './names.js';
import { enqueue, type QueuedMessage } from './queues.js';

const largestRequest = 10_000_000;

export const createTopic: Handler = (call, world) => {
  const path = nameOf(call, world);
  checkName(path);
  if (topics(world)[path] !== undefined)
    throw new GoogleError(
      409,
      'ALREADY_EXISTS',
      `Resource already exists in the project (resource=${path.slice(path.lastIndexOf('/') + 1)}).`,
    );
  const topic: JsonObject = { ...call.body, name: path, state: 'ACTIVE' };
  topics(world)[path] = topic;
  return topic;
};

export const deleteTopic: Handler = (call, world) => {
  const path = nameOf(call, world);
  topicAt(path, world);
  delete topics(world)[path];
  world.policies.remove(path);
  for (const subscription of Object.values(subscriptions(world))) {
    if (subscription['topic'] === path) subscription['topic'] = '_deleted-topic_';
  }
  return {};
};

export const publish: Handler = (call, world) => {
  const path = nameOf(call, world);
  topicAt(path, world);
  const given = objectsOf(call.body['messages']);
  if (given.length === 0)
    throw badInput(
      'The value for message_count is too small. You passed 0 in the request, but the minimum value is 1.',
    );
  if (given.length > 1000)
    throw badInput(
      `The value for message_count is too large. You passed ${given.length} in the request, but the maximum value is 1000.`,
    );
  for (const message of given) checkMessage(message);
  const size = given.reduce((total, { data }) => total + (textOf(data)?.length ?? 0) * 0.75, 0);
  if (size > largestRequest)
    throw badInput(
      `The value for request_size is too large. You passed ${size} in the request, but the maximum value is ${largestRequest}.`,
    );
  const publishTime = new Date(world.now()).toISOString();
  const messageIds = given.map((one) => {
    const messageId = world.id();
    publishTo(world, path, { ...one, messageId, publishTime });
    return messageId;
  });
  return { messageIds };
};

function checkMessage(message: JsonObject): void {
  const attributes = Object.entries(labelsOf(message['attributes']));
  if ((textOf(message['data']) ?? '') === '' && attributes.length === 0) {
    throw badInput(
      'One or more messages in the publish request is empty. Each message must contain either non-empty data, or at least one attribute.',
    );
  }
  if (attributes.length > 100) throw badInput('A message may have at most 100 attributes.');
  for (const [key, value] of attributes) {
    if (key === '' || key.startsWith('goog') || Buffer.byteLength(key) > 256 || Buffer.byteLength(value) > 1024) {
      throw badInput(
        `Invalid attribute '${key}': keys of 1 to 256 bytes not beginning with goog, values of at most 1024 bytes.`,
      );
    }
  }
}

/** Puts a message into the queue of every subscription whose filter matches it. */
export function publishTo(world: World, topic: string, message: QueuedMessage['message']): void {
  for (const [path, subscription] of Object.entries(subscriptions(world))) {
    if (subscription['topic'] === topic && subscription['detached'] !== true && wants(subscription, message)) {
      enqueue(world, path, message);
    }
  }
}

export const filterTerm =
  /^\s*(NOT\s+)?(?:attributes:([\w-]+)|attributes\.([\w-]+)\s*(!?=)\s*"([^"]*)"|hasPrefix\(attributes\.([\w-]+),\s*"([^"]*)"\))\s*$/;

function wants(subscription: JsonObject, message: JsonObject): boolean {
  const attributes = labelsOf(message['attributes']);
  return (textOf(subscription['filter']) ?? '')
    .split(/\s+AND\s+/)
    .filter((term) => term !== '')
    .every((term) => {
      const [, not, has, equal = '', operator, value, prefixed = '', prefix = ''] = filterTerm.exec(term) ?? [];
      const holds =
        has !== undefined
          ? has in attributes
          : operator === undefined
            ? (attributes[prefixed] ?? '').startsWith(prefix) && prefixed in attributes
            : (attributes[equal] === value) === (operator === '=');
      return holds !== (not !== undefined);
    });
}
