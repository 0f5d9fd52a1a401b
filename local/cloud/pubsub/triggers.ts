/** Subscriptions as Eventarc makes them for event functions, and where each subscription pushes to. */
import type { World } from '../kernel/api.js';
import { objectOf, textOf } from '../kernel/json-fields.js';
import { subscriptions, topics } from './names.js';

/** What deploying an event function makes: a subscription of its own and whom to call as. */
export interface EventTrigger {
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

/** Subscriptions that belong to event functions. */
export const triggers = (world: World): Record<string, { retry: boolean }> =>
  world.table<{ retry: boolean }>('eventarc.triggers');

/** `projects/p/subscriptions/eventarc-<function>-sub`. */
const subscriptionOf = ({ name, topic }: Pick<EventTrigger, 'name' | 'topic'>): string =>
  `${topic.split('/').slice(0, 2).join('/')}/subscriptions/eventarc-${name}-sub`;

/** Gives the path of its subscription. */
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

/** Undefined where a subscription is pulled from. */
export function endpointOf(world: World, path: string): string | undefined {
  const endpoint = textOf(objectOf(subscriptions(world)[path]?.['pushConfig'])?.['pushEndpoint']);
  return endpoint === '' ? undefined : endpoint;
}
