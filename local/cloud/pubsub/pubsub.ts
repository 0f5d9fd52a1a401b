/** Pub/Sub in the simulated cloud: topics. Their subscriptions are those of event functions. deliveries.ts pushes the messages. */
import {
  type ApiDefinition,
  type CloudCall,
  GoogleError,
  type Handler,
  type JsonObject,
  type World,
} from '../kernel/api.js';
import { defineCollection, type Found, joined, type Place } from '../kernel/collection.js';
import { badInput } from '../kernel/errors.js';
import { labelsOf, objectsOf, stampOf, textOf } from '../kernel/json-fields.js';
import { pageReply } from '../kernel/pages.js';
import { enqueue } from './queues.js';
import { subscriptions, topics as topicTable } from './records.js';

const largestRequest = 10_000_000;

function checkName({ path, id }: Place): void {
  if (!/^[A-Za-z][A-Za-z0-9\-_.~+%]{2,254}$/.test(id) || id.toLowerCase().startsWith('goog')) {
    throw badInput(`Invalid resource name given (name=${path}). Refer to the rules of Pub/Sub for resource names.`);
  }
}

const topics = defineCollection({
  methods: 'pubsub.projects.topics',
  table: 'pubsub.topics',
  missing: ({ id }) => new GoogleError(404, 'NOT_FOUND', `Resource not found (resource=${id}).`),
  create: {
    exists: ({ id }) =>
      new GoogleError(409, 'ALREADY_EXISTS', `Resource already exists in the project (resource=${id}).`),
    make(place, { body }) {
      checkName(place);
      return { ...body, name: place.path, state: 'ACTIVE' };
    },
  },
  list: { field: 'topics' },
  patch: {
    within: 'topic',
    fields: ['labels', 'messageStoragePolicy', 'messageRetentionDuration', 'schemaSettings', 'messageTransforms'],
    fixed: (field) => badInput(`Invalid update_mask provided: ${field} cannot be changed.`),
    noMask: () => badInput('The update_mask in the request must be set, and contain at least one field.'),
    write({ path }, changed, _call, world) {
      topicTable(world)[path] = changed;
    },
  },
  delete: {
    deleted(path, world) {
      for (const subscription of Object.values(subscriptions(world))) {
        if (subscription['topic'] === path) subscription['topic'] = '_deleted-topic_';
      }
    },
  },
  policies: true,
  verbs: { publish },
});

function publish({ path }: Found<JsonObject>, { body }: CloudCall, world: World): JsonObject {
  const given = objectsOf(body['messages']);
  if (given.length === 0) {
    throw badInput(
      'The value for message_count is too small. You passed 0 in the request, but the minimum value is 1.',
    );
  }
  if (given.length > 1000) {
    throw badInput(
      `The value for message_count is too large. You passed ${given.length} in the request, but the maximum value is 1000.`,
    );
  }
  for (const message of given) checkMessage(message);
  const size = given.reduce((total, { data }) => total + (textOf(data)?.length ?? 0) * 0.75, 0);
  if (size > largestRequest) {
    throw badInput(
      `The value for request_size is too large. You passed ${size} in the request, but the maximum value is ${largestRequest}.`,
    );
  }
  const publishTime = stampOf(world);
  const readers = Object.keys(subscriptions(world)).filter((name) => subscriptions(world)[name]?.['topic'] === path);
  const messageIds = given.map((message) => {
    const messageId = world.id();
    for (const reader of readers) enqueue(world, reader, { ...message, messageId, publishTime });
    return messageId;
  });
  return { messageIds };
}

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

const listSubscriptions: Handler = (call, world) => {
  const { projectId } = world.project(call.resource.split('/')[1] ?? '');
  const all = Object.entries(subscriptions(world)).filter(([path]) => path.startsWith(`projects/${projectId}/`));
  return pageReply(call, 'subscriptions', all);
};

export const pubsub: ApiDefinition<'pubsub'> = {
  api: 'pubsub.v1',
  ...joined(topics, { handlers: { 'pubsub.projects.subscriptions.list': listSubscriptions } }),
};
