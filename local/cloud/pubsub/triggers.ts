/** Makes subscriptions for event functions as Eventarc does, and finds the push endpoint of each subscription. */
import type { World } from '../kernel/api.js';
import { objectOf, textOf } from '../kernel/json-fields.js';
import { subscriptions, topics } from './records.js';

/** What deploying an event function sets up: a subscription of its own, and the identity for calls. */
export interface EventTrigger {
  /** Name of the function: `run-cloud-step`. */
  readonly name: string;
  /** `projects/p/topics/t`. It is made if missing. */
  readonly topic: string;
  readonly url: string;
  /** The identity Eventarc calls with. */
  readonly serviceAccount: string;
  /** Whether failed events are retried. Off by default, as in a deployment. */
  readonly retry?: boolean;
}

/** Subscriptions that belong to event functions. */
export const triggers = (world: World): Record<string, { retry: boolean }> =>
  world.table<{ retry: boolean }>('eventarc.triggers');

/** `projects/p/subscriptions/eventarc-<function>-sub`. */
const subscriptionOf = ({ name, topic }: Pick<EventTrigger, 'name' | 'topic'>): string =>
  `${topic.split('/').slice(0, 2).join('/')}/subscriptions/eventarc-${name}-sub`;

/** Makes the subscription of a trigger. Returns its path. */
export function addTrigger(world: World, trigger: EventTrigger): string {
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
  return path;
}

/** Undefined if the subscription is gone. */
export const endpointOf = (world: World, path: string): string | undefined =>
  textOf(objectOf(subscriptions(world)[path]?.['pushConfig'])?.['pushEndpoint']);
