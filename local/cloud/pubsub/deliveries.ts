/**
 * Pushes Pub/Sub messages: to functions as binary CloudEvents, the way Eventarc does it, to other endpoints as Pub/Sub does.
 * At least once; what was not acknowledged is in the state of the simulated cloud and comes again after a restart. Made by the local stack and by tests.
 */
import { timeLimit } from '../../../shared/time-limit.js';
import type { JsonObject, World } from '../kernel/api.js';
import { objectOf, textOf } from '../kernel/json-fields.js';
import { subscriptions, topics } from './names.js';
import { deadLetter } from './pull.js';
import { failed, messagesOf, onMessage, type QueuedMessage, queuedSubscriptions } from './queues.js';

export interface DeliveriesOptions {
  readonly world: World;
  /** Signs the token a push carries. */
  readonly identity: { idToken(claims: { email: string; audience: string }): string | Promise<string> };
  /** How many deliveries of one subscription may be under way; default 40. */
  readonly concurrency?: number;
  /** Share of acknowledged messages that are delivered once more, 0 to 1; default 0. */
  readonly duplicates?: number;
  /** Share of deliveries that overtake others, 0 to 1; default 0. */
  readonly reordering?: number;
  /** Of duplicates and reordering. */
  readonly seed?: number;
  /** Milliseconds, real time, after which a delivery without answer counts as failed; default 600 000, what Eventarc gives. */
  readonly ackDeadlineMs?: number;
  /** Hears of every delivery that was not acknowledged. */
  readonly onFailure?: (failure: { subscription: string; messageId: string; attempt: number; why: string }) => void;
}

/** What deploying an event function makes: a subscription of its own and whom to call as. */
interface EventTrigger {
  /** Of the function: `run-cloud-step`. */
  readonly name: string;
  /** `projects/p/topics/t`; made if it is missing. */
  readonly topic: string;
  readonly url: string;
  /** The identity Eventarc calls with. */
  readonly serviceAccount: string;
  /** Off, as deployed by default: what fails is not tried again. */
  readonly retry?: boolean;
}

export interface Deliveries {
  addTrigger(trigger: EventTrigger): void;
  /** Messages that were not acknowledged yet, those that wait for their next attempt included. */
  pending(): number;
  /** Resolves when nothing is being delivered or due; what waits for another attempt does not count. */
  idle(): Promise<void>;
  /** Resolves when everything was acknowledged or given up. */
  settled(): Promise<void>;
  /** Deliveries under way are broken off; they come again when the cloud is started again. */
  close(): Promise<void>;
}

interface Lane {
  readonly ready: string[];
  readonly underWay: Set<string>;
  readonly waiting: Map<string, NodeJS.Timeout>;
}

export function createDeliveries(options: DeliveriesOptions): Deliveries {
  const { world, identity, concurrency = 40, duplicates = 0, reordering = 0, ackDeadlineMs = 600_000 } = options;
  const random = seeded(options.seed ?? 1);
  const lanes = new Map<string, Lane>();
  const running = new Set<Promise<void>>();
  const closing = new AbortController();
  let waiters: { readonly when: () => boolean; readonly resolve: () => void }[] = [];

  const unsubscribe = onMessage(world, queue);
  for (const path of queuedSubscriptions(world)) {
    for (const id of Object.keys(messagesOf(world, path))) queue(path, id);
  }

  function laneOf(path: string): Lane {
    const lane = lanes.get(path) ?? { ready: [], underWay: new Set(), waiting: new Map() };
    lanes.set(path, lane);
    return lane;
  }

  /** Puts a message in line, when its time has come. */
  function queue(path: string, id: string): void {
    const queued = messagesOf(world, path)[id];
    if (closing.signal.aborted || queued === undefined || endpointOf(path) === undefined) return;
    const lane = laneOf(path);
    const delay = queued.availableAt - world.now();
    if (delay <= 0) {
      lane.ready.push(id);
      pump(path);
      return;
    }
    lane.waiting.set(
      id,
      setTimeout(() => {
        lane.waiting.delete(id);
        lane.ready.push(id);
        pump(path);
      }, delay),
    );
  }

  function pump(path: string): void {
    const lane = laneOf(path);
    while (!closing.signal.aborted && lane.ready.length > 0 && lane.underWay.size < concurrency) {
      const at = random() < reordering ? Math.floor(random() * lane.ready.length) : 0;
      const [id] = lane.ready.splice(at, 1);
      if (id === undefined || lane.underWay.has(id)) continue;
      lane.underWay.add(id);
      const delivery = deliver(path, id).finally(() => {
        lane.underWay.delete(id);
        running.delete(delivery);
        queue(path, id);
        pump(path);
        wake();
      });
      running.add(delivery);
    }
  }

  async function deliver(path: string, id: string): Promise<void> {
    const queued = messagesOf(world, path)[id];
    const subscription = subscriptions(world)[path];
    const endpoint = endpointOf(path);
    if (queued === undefined || subscription === undefined || endpoint === undefined) return;
    queued.attempts += 1;
    const why = await refusal(path, subscription, queued, endpoint);
    if (closing.signal.aborted || messagesOf(world, path)[id] === undefined) return;
    if (why === undefined) {
      acknowledge(path, id, queued);
      return;
    }
    options.onFailure?.({ subscription: path, messageId: id, attempt: queued.attempts, why });
    if (triggers(world)[path]?.retry === false) delete messagesOf(world, path)[id];
    else if (failed(world, path, subscription, id) === 'dead') deadLetter(world, subscription, queued.message);
  }

  /** At least once: now and then an acknowledged message comes again. */
  function acknowledge(path: string, id: string, queued: QueuedMessage): void {
    if (queued.copied !== true && random() < duplicates) {
      queued.copied = true;
      queued.availableAt = world.now() + world.scaled(random() * 2);
      return;
    }
    delete messagesOf(world, path)[id];
  }

  /** Undefined once the endpoint has said 2xx; otherwise what went wrong. */
  async function refusal(
    path: string,
    subscription: JsonObject,
    queued: QueuedMessage,
    endpoint: string,
  ): Promise<string | undefined> {
    try {
      const { headers, body } = await request(path, subscription, queued, endpoint);
      const reply = await fetch(endpoint, {
        method: 'POST',
        headers,
        body,
        redirect: 'manual',
        signal: AbortSignal.any([closing.signal, timeLimit(ackDeadlineMs)]),
      });
      const text = await reply.text();
      return reply.ok ? undefined : `${reply.status} ${text.slice(0, 200)}`;
    } catch (error) {
      const { message, cause } = error as Error;
      return cause instanceof Error ? `${message}: ${cause.message}` : message;
    }
  }

  async function request(path: string, subscription: JsonObject, queued: QueuedMessage, endpoint: string) {
    const { message, attempts } = queued;
    const push = objectOf(subscription['pushConfig']);
    const token = objectOf(push?.['oidcToken']);
    const email = textOf(token?.['serviceAccountEmail']);
    const bearer =
      email === undefined
        ? undefined
        : await identity.idToken({ email, audience: textOf(token?.['audience']) ?? endpoint });
    // Pub/Sub spells these two both ways.
    const both = { ...message, message_id: message.messageId, publish_time: message.publishTime };
    const isEvent = triggers(world)[path] !== undefined;
    const showsAttempt = isEvent || subscription['deadLetterPolicy'] !== undefined;
    return {
      body: JSON.stringify({
        message: both,
        subscription: path,
        ...(showsAttempt ? { deliveryAttempt: attempts } : {}),
      }),
      headers: {
        'content-type': 'application/json',
        'user-agent': 'APIs-Google; (+https://developers.google.com/webmasters/APIs-Google.html)',
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
        ...(isEvent
          ? {
              'ce-specversion': '1.0',
              'ce-id': message.messageId,
              'ce-source': `//pubsub.googleapis.com/${String(subscription['topic'])}`,
              'ce-type': 'google.cloud.pubsub.topic.v1.messagePublished',
              'ce-time': message.publishTime,
            }
          : {}),
      },
    };
  }

  function endpointOf(path: string): string | undefined {
    const endpoint = textOf(objectOf(subscriptions(world)[path]?.['pushConfig'])?.['pushEndpoint']);
    return endpoint === '' ? undefined : endpoint;
  }

  function pending(): number {
    const pushed = queuedSubscriptions(world).filter((path) => endpointOf(path) !== undefined);
    return pushed.reduce((total, path) => total + Object.keys(messagesOf(world, path)).length, 0);
  }

  const isIdle = () => running.size === 0 && [...lanes.values()].every(({ ready }) => ready.length === 0);

  function wake(): void {
    const now = waiters.filter(({ when }) => when());
    waiters = waiters.filter((waiter) => !now.includes(waiter));
    for (const { resolve } of now) resolve();
  }

  const once = (when: () => boolean): Promise<void> =>
    when() ? Promise.resolve() : new Promise((resolve) => waiters.push({ when, resolve }));

  return {
    addTrigger: (trigger) => {
      addTrigger(world, trigger);
      const path = subscriptionOf(trigger);
      const { ready, underWay, waiting } = laneOf(path);
      for (const [id, queued] of Object.entries(messagesOf(world, path))) {
        if (ready.includes(id) || underWay.has(id)) continue;
        // The function was deployed anew: what its last deployment failed at is tried without further wait.
        clearTimeout(waiting.get(id));
        waiting.delete(id);
        queued.availableAt = Math.min(queued.availableAt, world.now());
        queue(path, id);
      }
    },
    pending,
    idle: () => once(isIdle),
    settled: () => once(() => isIdle() && pending() === 0),
    close: async () => {
      unsubscribe();
      closing.abort();
      for (const { waiting } of lanes.values()) for (const timer of waiting.values()) clearTimeout(timer);
      await Promise.all(running);
      for (const { resolve } of waiters.splice(0)) resolve();
    },
  };
}

// --- triggers -------------------------------------------------------------------------------------------------------

/** Subscriptions that belong to event functions. */
const triggers = (world: World): Record<string, { retry: boolean }> =>
  world.table<{ retry: boolean }>('eventarc.triggers');

/** `projects/p/subscriptions/eventarc-<function>-sub`. */
const subscriptionOf = ({ name, topic }: Pick<EventTrigger, 'name' | 'topic'>): string =>
  `${topic.split('/').slice(0, 2).join('/')}/subscriptions/eventarc-${name}-sub`;

function addTrigger(world: World, trigger: EventTrigger): void {
  const { topic, url, serviceAccount, retry = false } = trigger;
  const path = subscriptionOf(trigger);
  topics(world)[topic] ??= { name: topic, state: 'ACTIVE' };
  triggers(world)[path] = { retry };
  subscriptions(world)[path] = {
    name: path,
    topic,
    pushConfig: { pushEndpoint: url, oidcToken: { serviceAccountEmail: serviceAccount, audience: url } },
    ackDeadlineSeconds: 600,
    messageRetentionDuration: '86400s',
    expirationPolicy: {},
    retryPolicy: { minimumBackoff: '10s', maximumBackoff: '600s' },
    state: 'ACTIVE',
  };
}

/** Mulberry32: small, and good enough to choose which message comes twice. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
