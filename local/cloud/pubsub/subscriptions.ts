/** Creates, changes and removes Pub/Sub's subscriptions. */
import { GoogleError, type Handler, type JsonObject } from '../kernel/api.js';
import { notSimulated } from '../kernel/errors.js';
import { numberOf, objectOf, textOf } from '../kernel/json-fields.js';
import { badInput, checkName, nameOf, pathOf, subscriptionAt, subscriptions, topicAt } from './names.js';
import { removeQueue, secondsOf } from './queues.js';
import { filterTerm } from './topics.js';

export const createSubscription: Handler = (call, world) => {
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

export function checkSubscription(subscription: JsonObject): void {
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
    if (term !== '' && !filterTerm.test(term)) throw badInput(`Invalid filter: ${term}`);
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
      throw notSimulated(`subscriptions with ${field}`);
    }
  }
}

/** Google pushes over HTTPS only. Here a loopback address may use plain HTTP. */
function checkEndpoint(endpoint: string): void {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  const isLoopback = url !== undefined && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  if (url === undefined || (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback))) {
    throw badInput(`Invalid push endpoint given (endpoint=${endpoint}): it must be an HTTPS URL.`);
  }
}

export const deleteSubscription: Handler = (call, world) => {
  const path = nameOf(call, world);
  subscriptionAt(path, world);
  delete subscriptions(world)[path];
  removeQueue(world, path);
  world.policies.remove(path);
  return {};
};

export const modifyPushConfig: Handler = (call, world) => {
  const subscription = subscriptionAt(nameOf(call, world), world);
  const changed = { ...subscription, pushConfig: objectOf(call.body['pushConfig']) ?? {} };
  checkSubscription(changed);
  subscription['pushConfig'] = changed.pushConfig;
  return {};
};

export const detach: Handler = (call, world) => {
  const path = nameOf(call, world);
  subscriptionAt(path, world)['detached'] = true;
  removeQueue(world, path);
  return {};
};
