/**
 * Pushes Pub/Sub messages to functions as binary CloudEvents, as Eventarc does.
 *
 * Delivery is at least once. Unacknowledged messages are in the state of the simulated cloud, and come again after a restart.
 */
import { setMaxListeners } from 'node:events';
import type { World } from '../kernel/api.js';
import { createLanes } from './lanes.js';
import { type PushOptions, refusalOf } from './push.js';
import { messagesOf, onMessage, type QueuedMessage, queuedSubscriptions, retryLater } from './queues.js';
import { subscriptions } from './records.js';
import { addTrigger, type EventTrigger, endpointOf, triggers } from './triggers.js';

export interface DeliveriesOptions {
  readonly world: World;
  /** Signs the token a push carries. */
  readonly identity: { idToken(claims: { email: string; audience: string }): string | Promise<string> };
  /** How many deliveries of one subscription may be under way. Default 40. */
  readonly concurrency?: number;
  /** Share of acknowledged messages that are delivered once more, 0 to 1. Default 0. */
  readonly duplicates?: number;
  /** Share of deliveries that overtake others, 0 to 1. Default 0. */
  readonly reordering?: number;
  /** Seed of duplicates and reordering. Default 1. */
  readonly seed?: number;
  /** Called for every delivery that was not acknowledged. */
  readonly onFailure?: (failure: { subscription: string; messageId: string; attempt: number; why: string }) => void;
}

export interface Deliveries {
  addTrigger(trigger: EventTrigger): void;
  /** How many messages are not acknowledged yet, including those that wait for a retry. */
  pending(): number;
  /** Resolves when no message is being delivered or due. Waiting retries do not count. */
  idle(): Promise<void>;
  /** Resolves when every message was acknowledged or given up. */
  settled(): Promise<void>;
  /** Aborts the deliveries under way. They come again when the cloud is restarted. */
  close(): Promise<void>;
}

export function createDeliveries(options: DeliveriesOptions): Deliveries {
  const { world, identity, concurrency = 40, reordering = 0 } = options;
  const random = seeded(options.seed ?? 1);
  const closing = new AbortController();
  const { signal } = closing;
  // Each delivery under way listens. Node would take so many for a leak.
  setMaxListeners(0, signal);
  const deliver = createDeliver(options, { identity, signal }, random);
  const pending = (): number => pendingIn(world);
  let waiters: { readonly when: () => boolean; readonly resolve: () => void }[] = [];

  const lanes = createLanes({
    concurrency,
    delayOf(path, id) {
      const queued = messagesOf(world, path)[id];
      return queued === undefined || endpointOf(world, path) === undefined
        ? undefined
        : queued.availableAt - world.now();
    },
    pick: (inLine) => (random() < reordering ? Math.floor(random() * inLine) : 0),
    deliver,
    onEnded() {
      const now = waiters.filter(({ when }) => when());
      waiters = waiters.filter((waiter) => !now.includes(waiter));
      for (const { resolve } of now) resolve();
    },
  });
  const unsubscribe = onMessage(world, lanes.queue);
  for (const path of queuedSubscriptions(world)) {
    for (const id of Object.keys(messagesOf(world, path))) lanes.queue(path, id);
  }
  const once = (when: () => boolean): Promise<void> =>
    when() ? Promise.resolve() : new Promise((resolve) => waiters.push({ when, resolve }));

  return {
    addTrigger: (trigger) => {
      const path = addTrigger(world, trigger);
      for (const [id, queued] of Object.entries(messagesOf(world, path))) {
        if (!lanes.unwait(path, id)) continue;
        // The function was deployed again, so retries of its failed messages need not wait.
        queued.availableAt = Math.min(queued.availableAt, world.now());
        lanes.queue(path, id);
      }
    },
    pending,
    idle: () => once(lanes.isIdle),
    settled: () => once(() => lanes.isIdle() && pending() === 0),
    close: async () => {
      unsubscribe();
      closing.abort();
      await lanes.close();
      for (const { resolve } of waiters.splice(0)) resolve();
    },
  };
}

function pendingIn(world: World): number {
  const pushed = queuedSubscriptions(world).filter((path) => endpointOf(world, path) !== undefined);
  return pushed.reduce((total, path) => total + Object.keys(messagesOf(world, path)).length, 0);
}

/** Delivers a message once, and decides what happens to it next. */
function createDeliver(
  { world, duplicates = 0, onFailure }: DeliveriesOptions,
  push: PushOptions,
  random: () => number,
): (path: string, id: string) => Promise<void> {
  /** At least once: sometimes an acknowledged message comes again. */
  function acknowledge(path: string, id: string, queued: QueuedMessage): void {
    if (queued.copied !== true && random() < duplicates) {
      queued.copied = true;
      queued.availableAt = world.now() + world.scaled(random() * 2);
      return;
    }
    delete messagesOf(world, path)[id];
  }

  return async (path, id) => {
    const queued = messagesOf(world, path)[id];
    const subscription = subscriptions(world)[path];
    const endpoint = endpointOf(world, path);
    if (queued === undefined || subscription === undefined || endpoint === undefined) return;
    queued.attempts += 1;
    const why = await refusalOf(push, { path, subscription, queued, endpoint });
    if (push.signal.aborted || messagesOf(world, path)[id] === undefined) return;
    if (why === undefined) {
      acknowledge(path, id, queued);
      return;
    }
    onFailure?.({ subscription: path, messageId: id, attempt: queued.attempts, why });
    if (triggers(world)[path]?.retry === true) retryLater(world, path, subscription, id);
    else delete messagesOf(world, path)[id];
  };
}

/** Mulberry32, which is small and good enough to choose the messages that come twice. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
