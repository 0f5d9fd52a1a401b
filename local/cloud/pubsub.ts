/** Pub/Sub as the simulated cloud serves it: topics, subscriptions, publish, pull and acknowledge. Push is done by local/deliveries.ts. Listed in index.ts. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Access,
  type ApiDefinition,
  type CloudCall,
  GoogleError,
  type Handler,
  type JsonObject,
  type World,
} from './api.js';
import { labelsOf, numberOf, objectOf, objectsOf, textOf, textsOf } from './json-fields.js';
import { pageOf } from './pages.js';
import { enqueue, failed, messagesOf, type QueuedMessage, removeQueue, secondsOf } from './pubsub-queues.js';
import { testPermissions } from './test-permissions.js';

const service = 'pubsub.googleapis.com';
const largestRequest = 10_000_000;

export const topics = (world: World): Record<string, JsonObject> => world.table('pubsub.topics');
export const subscriptions = (world: World): Record<string, JsonObject> => world.table('pubsub.subscriptions');

const badInput = (message: string): GoogleError => new GoogleError(400, 'INVALID_ARGUMENT', message);

const notFound = (path: string): GoogleError =>
  new GoogleError(404, 'NOT_FOUND', `Resource not found (resource=${path.slice(path.lastIndexOf('/') + 1)}).`);

/** The path with the project's id, whichever way the project was named. */
function pathOf(given: string, world: World): string {
  const [, project = '', ...rest] = given.split('/');
  const { projectId } = world.project(project, { service });
  return ['projects', projectId, ...rest].join('/');
}

function checkName(path: string): void {
  const id = path.slice(path.lastIndexOf('/') + 1);
  if (!/^[A-Za-z][A-Za-z0-9\-_.~+%]{2,254}$/.test(id) || id.toLowerCase().startsWith('goog')) {
    throw badInput(`Invalid resource name given (name=${path}). Refer to the rules of Pub/Sub for resource names.`);
  }
}

function nameOf(call: CloudCall, world: World): string {
  const { name, topic, subscription, resource, project } = call.params;
  return pathOf(name ?? topic ?? subscription ?? resource ?? project ?? '', world);
}

function topicAt(path: string, world: World): JsonObject {
  const found = topics(world)[path];
  if (found === undefined) throw notFound(path);
  return found;
}

function subscriptionAt(path: string, world: World): JsonObject {
  const found = subscriptions(world)[path];
  if (found === undefined) throw notFound(path);
  return found;
}

const paged = (
  field: string,
  call: CloudCall,
  entries: readonly (readonly [string, JsonObject | string])[],
): JsonObject => {
  const page = pageOf(entries, numberOf(call.params['pageSize']), call.params['pageToken']);
  return {
    ...(page.items.length === 0 ? {} : { [field]: page.items }),
    ...(page.nextPageToken === undefined ? {} : { nextPageToken: page.nextPageToken }),
  };
};

const inProject = (table: Record<string, JsonObject>, project: string) =>
  Object.entries(table).filter(([path]) => path.startsWith(`${project}/`));

// --- topics ---------------------------------------------------------------------------------------------------------

const createTopic: Handler = (call, world) => {
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

const deleteTopic: Handler = (call, world) => {
  const path = nameOf(call, world);
  topicAt(path, world);
  delete topics(world)[path];
  world.policies.remove(path);
  for (const subscription of Object.values(subscriptions(world))) {
    if (subscription['topic'] === path) subscription['topic'] = '_deleted-topic_';
  }
  return {};
};

/** `patch` of a topic or subscription: only what the mask names. */
const patchOf =
  (body: string, at: (path: string, world: World) => JsonObject): Handler =>
  (call, world) => {
    const found = at(nameOf(call, world), world);
    const given = objectOf(call.body[body]) ?? {};
    const mask = (textOf(call.body['updateMask']) ?? '').split(',').filter((field) => field !== '');
    if (mask.length === 0)
      throw badInput('The update_mask in the request must be set, and contain at least one field.');
    for (const field of mask) {
      const top = field.replace(/_(\w)/g, (_all, letter: string) => letter.toUpperCase()).split('.')[0] ?? '';
      if (['name', 'topic', 'state'].includes(top))
        throw badInput(`Invalid update_mask provided: ${field} cannot be changed.`);
      const value = given[top];
      if (value === undefined) delete found[top];
      else found[top] = value;
    }
    if (body === 'subscription') checkSubscription(found);
    return found;
  };

const publish: Handler = (call, world) => {
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

/** Puts a message into the queue of every subscription that wants it. */
function publishTo(world: World, topic: string, message: QueuedMessage['message']): void {
  for (const [path, subscription] of Object.entries(subscriptions(world))) {
    if (subscription['topic'] === topic && subscription['detached'] !== true && wants(subscription, message)) {
      enqueue(world, path, message);
    }
  }
}

const terms =
  /^\s*(NOT\s+)?(?:attributes:([\w-]+)|attributes\.([\w-]+)\s*(!?=)\s*"([^"]*)"|hasPrefix\(attributes\.([\w-]+),\s*"([^"]*)"\))\s*$/;

function wants(subscription: JsonObject, message: JsonObject): boolean {
  const attributes = labelsOf(message['attributes']);
  return (textOf(subscription['filter']) ?? '')
    .split(/\s+AND\s+/)
    .filter((term) => term !== '')
    .every((term) => {
      const [, not, has, equal = '', operator, value, prefixed = '', prefix = ''] = terms.exec(term) ?? [];
      const holds =
        has !== undefined
          ? has in attributes
          : operator === undefined
            ? (attributes[prefixed] ?? '').startsWith(prefix) && prefixed in attributes
            : (attributes[equal] === value) === (operator === '=');
      return holds !== (not !== undefined);
    });
}

// --- subscriptions --------------------------------------------------------------------------------------------------

const createSubscription: Handler = (call, world) => {
  const path = nameOf(call, world);
  checkName(path);
  const topic = textOf(call.body['topic']);
  if (topic === undefined || !/^projects\/[^/]+\/topics\/[^/]+$/.test(topic)) {
    throw badInput(`Invalid resource name given (name=${topic ?? ''}).`);
  }
  const topicPath = pathOf(topic, world);
  topicAt(topicPath, world);
  if (subscriptions(world)[path] !== undefined)
    throw new GoogleError(
      409,
      'ALREADY_EXISTS',
      `Resource already exists in the project (resource=${path.slice(path.lastIndexOf('/') + 1)}).`,
    );
  const subscription: JsonObject = {
    pushConfig: {},
    ackDeadlineSeconds: 10,
    messageRetentionDuration: '604800s',
    expirationPolicy: { ttl: '2678400s' },
    ...withoutZeros(call.body),
    name: path,
    topic: topicPath,
    state: 'ACTIVE',
  };
  checkSubscription(subscription);
  subscriptions(world)[path] = subscription;
  return subscription;
};

/** Clients send unset numbers as 0. */
const withoutZeros = (body: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([, value]) => value !== 0 && value !== ''));

function checkSubscription(subscription: JsonObject): void {
  const deadline = numberOf(subscription['ackDeadlineSeconds']) ?? 10;
  if (deadline < 10 || deadline > 600) {
    throw badInput(`Invalid ack deadline given (seconds=${deadline}): it must be between 10 and 600 seconds.`);
  }
  const retention = secondsOf(subscription['messageRetentionDuration'], 604_800);
  if (retention < 600 || retention > 2_678_400) {
    throw badInput('Invalid message retention duration: it must be between 10 minutes and 31 days.');
  }
  const endpoint = textOf(objectOf(subscription['pushConfig'])?.['pushEndpoint']);
  if (endpoint !== undefined && endpoint !== '') checkEndpoint(endpoint);
  const retry = objectOf(subscription['retryPolicy']);
  const [least, most] = [secondsOf(retry?.['minimumBackoff'], 10), secondsOf(retry?.['maximumBackoff'], 600)];
  if (least < 0 || most > 600 || least > most) {
    throw badInput('Invalid retry policy: 0 ≤ minimum backoff ≤ maximum backoff ≤ 600 seconds.');
  }
  const deadLetter = objectOf(subscription['deadLetterPolicy']);
  const attempts = numberOf(deadLetter?.['maxDeliveryAttempts']) ?? 5;
  if (attempts < 5 || attempts > 100) throw badInput('Invalid dead letter policy: 5 to 100 delivery attempts.');
  for (const term of (textOf(subscription['filter']) ?? '').split(/\s+AND\s+/)) {
    if (term !== '' && !terms.test(term)) throw badInput(`Invalid filter: ${term}`);
  }
  for (const field of [
    'enableMessageOrdering',
    'enableExactlyOnceDelivery',
    'bigqueryConfig',
    'cloudStorageConfig',
    'bigtableConfig',
  ]) {
    const value = subscription[field];
    if (value !== undefined && value !== false) {
      throw new GoogleError(501, 'UNIMPLEMENTED', `The simulated cloud has no subscriptions with ${field}.`);
    }
  }
}

/** Google pushes over HTTPS alone; here a loopback address may do without. */
function checkEndpoint(endpoint: string): void {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  const isLoopback = url !== undefined && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  if (url === undefined || (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback))) {
    throw badInput(`Invalid push endpoint given (endpoint=${endpoint}): it must be an HTTPS URL.`);
  }
}

const deleteSubscription: Handler = (call, world) => {
  const path = nameOf(call, world);
  subscriptionAt(path, world);
  delete subscriptions(world)[path];
  removeQueue(world, path);
  world.policies.remove(path);
  return {};
};

const modifyPushConfig: Handler = (call, world) => {
  const subscription = subscriptionAt(nameOf(call, world), world);
  const changed = { ...subscription, pushConfig: objectOf(call.body['pushConfig']) ?? {} };
  checkSubscription(changed);
  subscription['pushConfig'] = changed.pushConfig;
  return {};
};

const detach: Handler = (call, world) => {
  const path = nameOf(call, world);
  subscriptionAt(path, world)['detached'] = true;
  removeQueue(world, path);
  return {};
};

// --- pull -----------------------------------------------------------------------------------------------------------

const ackIdOf = (id: string, attempt: number): string => Buffer.from(`${id}:${attempt}`).toString('base64url');

/** Waits a little for the first message, as Google does. */
const pull: Handler = async (call, world) => {
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

/** A late acknowledgement is no error; it just does nothing. */
const acknowledge: Handler = (call, world) => {
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

const modifyAckDeadline: Handler = (call, world) => {
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

/** A message that was tried too often goes to the dead-letter topic, if the subscription has one. */
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

// --- the table ------------------------------------------------------------------------------------------------------

const getIamPolicy: Handler = (call, world) =>
  world.policies.get(existing(call, world), numberOf(call.params['options.requestedPolicyVersion']));
const setIamPolicy: Handler = (call, world) =>
  world.policies.set(existing(call, world), objectOf(call.body['policy']) ?? {});

function existing(call: CloudCall, world: World): string {
  const path = nameOf(call, world);
  if (path.includes('/topics/')) topicAt(path, world);
  else subscriptionAt(path, world);
  return path;
}

interface Method {
  readonly handler: Handler;
  /** On the named resource, or on its project. */
  readonly permission?: string;
  readonly on?: 'project';
}

const policies = (noun: string): Record<string, Method> => ({
  [`${noun}.getIamPolicy`]: { handler: getIamPolicy, permission: `${noun}.getIamPolicy` },
  [`${noun}.setIamPolicy`]: { handler: setIamPolicy, permission: `${noun}.setIamPolicy` },
  [`${noun}.testIamPermissions`]: { handler: (call, world) => testPermissions(call, world, existing(call, world)) },
});

const methods: Readonly<Record<string, Method>> = {
  'topics.create': { handler: createTopic, permission: 'topics.create', on: 'project' },
  'topics.get': { handler: (call, world) => topicAt(nameOf(call, world), world), permission: 'topics.get' },
  'topics.list': {
    handler: (call, world) => paged('topics', call, inProject(topics(world), nameOf(call, world))),
    permission: 'topics.list',
    on: 'project',
  },
  'topics.delete': { handler: deleteTopic, permission: 'topics.delete' },
  'topics.patch': { handler: patchOf('topic', topicAt), permission: 'topics.update' },
  'topics.publish': { handler: publish, permission: 'topics.publish' },
  'topics.subscriptions.list': {
    handler: (call, world) => {
      const path = nameOf(call, world);
      topicAt(path, world);
      const mine = Object.entries(subscriptions(world)).filter(([, { topic }]) => topic === path);
      return paged(
        'subscriptions',
        call,
        mine.map(([at]) => [at, at] as const),
      );
    },
    permission: 'topics.get',
  },
  ...policies('topics'),
  'subscriptions.create': { handler: createSubscription, permission: 'subscriptions.create', on: 'project' },
  'subscriptions.get': {
    handler: (call, world) => subscriptionAt(nameOf(call, world), world),
    permission: 'subscriptions.get',
  },
  'subscriptions.list': {
    handler: (call, world) => paged('subscriptions', call, inProject(subscriptions(world), nameOf(call, world))),
    permission: 'subscriptions.list',
    on: 'project',
  },
  'subscriptions.delete': { handler: deleteSubscription, permission: 'subscriptions.delete' },
  'subscriptions.patch': { handler: patchOf('subscription', subscriptionAt), permission: 'subscriptions.update' },
  'subscriptions.modifyPushConfig': { handler: modifyPushConfig, permission: 'subscriptions.update' },
  'subscriptions.detach': { handler: detach, permission: 'topics.detachSubscription' },
  'subscriptions.pull': { handler: pull, permission: 'subscriptions.consume' },
  'subscriptions.acknowledge': { handler: acknowledge, permission: 'subscriptions.consume' },
  'subscriptions.modifyAckDeadline': { handler: modifyAckDeadline, permission: 'subscriptions.consume' },
  ...policies('subscriptions'),
};

function accessOf(method: Method, call: CloudCall, world: World): readonly Access[] {
  if (method.permission === undefined) return [];
  const path = nameOf(call, world);
  const project = path.split('/').slice(0, 2).join('/');
  const needed: Access[] = [
    { permission: `pubsub.${method.permission}`, resource: method.on === 'project' ? project : path },
  ];
  if (method.permission !== 'subscriptions.create') return needed;
  const topic = textOf(call.body['topic']);
  if (topic !== undefined && /^projects\/[^/]+\/topics\/[^/]+$/.test(topic)) {
    needed.push({ permission: 'pubsub.topics.attachSubscription', resource: pathOf(topic, world) });
  }
  return needed;
}

const full = (method: string): string => `pubsub.projects.${method}`;

export const pubsub: ApiDefinition = {
  api: 'pubsub.v1',
  handlers: Object.fromEntries(Object.entries(methods).map(([name, { handler }]) => [full(name), handler])),
  access: Object.fromEntries(
    Object.entries(methods).map(([name, method]) => [
      full(name),
      (call: CloudCall, world: World) => accessOf(method, call, world),
    ]),
  ),
};
