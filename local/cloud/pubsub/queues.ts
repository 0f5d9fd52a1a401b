/** The queues of Pub/Sub's subscriptions. They are part of the state, so undelivered messages survive a restart. */
import type { Json, JsonObject, World } from '../kernel/api.js';
import { numberOf, objectOf, textOf } from '../kernel/json-fields.js';

export interface QueuedMessage {
  message: JsonObject & { messageId: string; publishTime: string };
  attempts: number;
  /** The earliest time of the next delivery, in milliseconds since the epoch. */
  availableAt: number;
  /** Set for a message that was already duplicated on purpose, so that it is not duplicated again. */
  copied?: boolean;
}

type Queues = Record<string, Record<string, QueuedMessage>>;

const queues = (world: World): Queues => world.table<Record<string, QueuedMessage>>('pubsub.queues');

/** The messages of a subscription by id, in order of arrival. This is the live object: acknowledge by deleting. */
export function messagesOf(world: World, subscription: string): Record<string, QueuedMessage> {
  const all = queues(world);
  all[subscription] ??= {};
  return all[subscription];
}

export const queuedSubscriptions = (world: World): string[] => Object.keys(queues(world));

export function removeQueue(world: World, subscription: string): void {
  delete queues(world)[subscription];
}

type Listener = (subscription: string, messageId: string) => void;

/** Listeners learn of every message at once. The key is the live table, which all users of a world share. */
const listeners = new WeakMap<object, Set<Listener>>();

export function onMessage(world: World, listener: Listener): () => void {
  const key = queues(world);
  const all = listeners.get(key) ?? new Set();
  listeners.set(key, all.add(listener));
  return () => all.delete(listener);
}

export function enqueue(world: World, subscription: string, message: QueuedMessage['message']): void {
  messagesOf(world, subscription)[message.messageId] = { message, attempts: 0, availableAt: world.now() };
  for (const listener of listeners.get(queues(world)) ?? []) listener(subscription, message.messageId);
}

/** `10s` → 10. */
export function secondsOf(duration: Json | undefined, otherwise: number): number {
  const match = /^(\d+(?:\.\d+)?)s$/.exec(textOf(duration) ?? '');
  return match === null ? otherwise : Number(match[1]);
}

/**
 * Schedules a failed delivery again, after a growing delay. A dead-letter policy limits the attempts. The retention ends them
 * in any case.
 */
export function failed(world: World, path: string, subscription: JsonObject, id: string): 'again' | 'dead' | 'expired' {
  const queued = messagesOf(world, path)[id];
  if (queued === undefined) return 'expired';
  const most = numberOf(objectOf(subscription['deadLetterPolicy'])?.['maxDeliveryAttempts']);
  if (most !== undefined && queued.attempts >= most) {
    delete messagesOf(world, path)[id];
    return 'dead';
  }
  const retention = world.scaled(secondsOf(subscription['messageRetentionDuration'], 604_800));
  if (retention > 0 && world.now() - Date.parse(queued.message.publishTime) > retention) {
    delete messagesOf(world, path)[id];
    return 'expired';
  }
  queued.availableAt = world.now() + Math.max(world.scaled(backoffSeconds(subscription, queued.attempts)), 10);
  return 'again';
}

/** Without a policy Pub/Sub retries soon, slowing down from 0.1 to 60 s. */
function backoffSeconds(subscription: JsonObject, attempts: number): number {
  const retry = objectOf(subscription['retryPolicy']);
  const least = retry === undefined ? 0.1 : secondsOf(retry['minimumBackoff'], 10);
  const most = retry === undefined ? 60 : secondsOf(retry['maximumBackoff'], 600);
  return Math.min(most, least * 2 ** Math.min(attempts - 1, 16));
}
