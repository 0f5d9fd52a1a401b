/** The queues of Pub/Sub's subscriptions. They are part of the state, so undelivered messages survive a restart. */
import type { JsonObject, World } from '../kernel/api.js';
import { objectOf, secondsOf } from '../kernel/json-fields.js';

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

/** Schedules a failed delivery again, after a growing delay. Returns false once the retention is over: the message is gone. */
export function retryLater(world: World, path: string, subscription: JsonObject, id: string): boolean {
  const queued = messagesOf(world, path)[id];
  if (queued === undefined) return false;
  const retention = world.scaled(secondsOf(subscription['messageRetentionDuration']));
  if (retention > 0 && world.now() - Date.parse(queued.message.publishTime) > retention) {
    delete messagesOf(world, path)[id];
    return false;
  }
  const { minimumBackoff, maximumBackoff } = objectOf(subscription['retryPolicy']) ?? {};
  const seconds = secondsOf(minimumBackoff) * 2 ** Math.min(queued.attempts - 1, 16);
  queued.availableAt = world.now() + Math.max(world.scaled(Math.min(seconds, secondsOf(maximumBackoff))), 10);
  return true;
}
