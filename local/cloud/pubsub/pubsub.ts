/** Pub/Sub in the simulated cloud: one table, joined from the files of its resources. deliveries.ts does the pushes. */

import type { Access, ApiDefinition, CloudCall, Handler, JsonObject, World } from '../kernel/api.js';
import { numberOf, objectOf, textOf } from '../kernel/json-fields.js';
import { pageOf } from '../kernel/pages.js';
import { testPermissions } from '../kernel/policy-methods.js';
import { badInput, nameOf, pathOf, subscriptionAt, subscriptions, topicAt, topics } from './names.js';
import { acknowledge, modifyAckDeadline, pull } from './pull.js';
import {
  checkSubscription,
  createSubscription,
  deleteSubscription,
  detach,
  modifyPushConfig,
} from './subscriptions.js';
import { createTopic, deleteTopic, publish } from './topics.js';

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

/** `patch` of a topic or subscription changes only the fields in the mask. */
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
  /** Needed on the named resource, or on its project. */
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

export const pubsub: ApiDefinition<'pubsub'> = {
  api: 'pubsub.v1',
  handlers: Object.fromEntries(Object.entries(methods).map(([name, { handler }]) => [full(name), handler])),
  access: Object.fromEntries(
    Object.entries(methods).map(([name, method]) => [
      full(name),
      (call: CloudCall, world: World) => accessOf(method, call, world),
    ]),
  ),
};
