/** Compute's regional backend services: what an internal load balancer sends traffic to. */
import type { Handler, JsonObject, Served, World } from '../kernel/api.js';
import { notSimulated } from '../kernel/errors.js';
import { objectsOf, textOf, textsOf } from '../kernel/json-fields.js';
import { regionOf } from '../kernel/places.js';
import { type Change, defineCollection, type Found, type Wanted } from './collection.js';
import { membersOf } from './instance-groups.js';
import {
  collections,
  conditionNotMet,
  findReady,
  fingerprint,
  held,
  inUse,
  invalid,
  link,
  notFound,
  type Place,
  pathOf,
  readyAt,
  required,
  sameFingerprint,
  serverFields,
  unlink,
} from './resources.js';

const { backendServices, forwardingRules, healthChecks, instanceGroups, instances } = collections;

function make({ call: { body }, path, place }: Wanted, world: World): JsonObject {
  return {
    ...contentOf(body, place, world),
    ...serverFields(path, backendServices, world),
    region: link(`projects/${place.project.projectId}/${place.scope}`),
  };
}

function contentOf(body: JsonObject, place: Place, world: World): JsonObject {
  const scheme = textOf(body['loadBalancingScheme']) ?? 'EXTERNAL';
  if (scheme !== 'INTERNAL') throw notSimulated(`backend services of scheme ${scheme}`);
  const protocol = textOf(body['protocol']) ?? 'TCP';
  if (!['TCP', 'UDP', 'UNSPECIFIED'].includes(protocol)) {
    throw invalid('resource.protocol', protocol, 'The protocol does not fit an internal load balancer.');
  }
  const content: JsonObject = {
    ...body,
    description: textOf(body['description']) ?? '',
    loadBalancingScheme: scheme,
    protocol,
    sessionAffinity: textOf(body['sessionAffinity']) ?? 'NONE',
    timeoutSec: body['timeoutSec'] ?? 30,
    connectionDraining: body['connectionDraining'] ?? { drainingTimeoutSec: 0 },
    backends: objectsOf(body['backends']).map((one, index) => backend(one, index, place, world)),
    healthChecks: checksOf(body, place, world),
  };
  return { ...content, fingerprint: fingerprint(content) };
}

function backend(one: JsonObject, index: number, place: Place, world: World): JsonObject {
  const field = `resource.backends[${index}].group`;
  const reference = textOf(one['group']);
  if (reference === undefined || reference === '') throw required(field);
  const path = pathOf(reference, field, place, world);
  readyAt(path, instanceGroups, world);
  if (regionOf(path.split('/')[3] ?? '') !== place.region) {
    throw invalid(field, reference, 'The group must be in the region of the backend service.');
  }
  return { ...one, group: link(path), balancingMode: textOf(one['balancingMode']) ?? 'CONNECTION' };
}

function checksOf(body: JsonObject, place: Place, world: World): string[] {
  const given = textsOf(body['healthChecks']);
  if (given.length !== 1) {
    throw invalid('resource.healthChecks', String(given.length), 'Exactly one health check must be specified.');
  }
  return given.map((one) => {
    const path = pathOf(one, 'resource.healthChecks[0]', place, world);
    if (!path.includes('/healthChecks/')) {
      throw invalid('resource.healthChecks[0]', one, 'Backend services take no legacy health checks here.');
    }
    readyAt(path, healthChecks, world);
    return link(path);
  });
}

/** What no change may touch. */
const kept = ({ kind, id, creationTimestamp, selfLink, name, region }: JsonObject): JsonObject =>
  ({ kind, id, creationTimestamp, selfLink, name, region }) as JsonObject;

const changedTo =
  (wanted: (stands: JsonObject, body: JsonObject) => JsonObject): Change =>
  ({ found: { resource }, place }, body, world) => {
    const given = textOf(body['fingerprint']);
    if (given !== undefined && !sameFingerprint(given, resource['fingerprint'])) {
      throw conditionNotMet('Invalid fingerprint.');
    }
    const { fingerprint: _given, ...rest } = wanted(resource, body);
    return { ...contentOf(rest, place, world), ...kept(resource) };
  };

function checkRules({ path }: Found, world: World): void {
  for (const [rule, { resource }] of Object.entries(held(world, forwardingRules))) {
    if (unlink(String(resource['backendService'])) === path) throw inUse('backend_service', path, rule);
  }
}

/** A VM that runs counts as healthy, because nothing here probes it. */
const getHealth: Handler = (call, world) => {
  const { path, found } = findReady(call, world, backendServices);
  const group = textOf(call.body['group']);
  if (group === undefined) throw required('group');
  if (!objectsOf(found.resource['backends']).some((one) => unlink(String(one['group'])) === unlink(group))) {
    throw notFound(unlink(group));
  }
  const rules = Object.entries(held(world, forwardingRules)).filter(
    ([, { resource }]) => unlink(String(resource['backendService'])) === path,
  );
  const healthStatus = membersOf(world, group).flatMap((member) => {
    const vm = held(world, instances)[member]?.resource;
    return rules.map(([rule, { resource }]) => ({
      instance: link(member),
      ipAddress: String(objectsOf(vm?.['networkInterfaces'])[0]?.['networkIP']),
      healthState: vm?.['status'] === 'RUNNING' ? 'HEALTHY' : 'UNHEALTHY',
      forwardingRule: link(rule),
      forwardingRuleIp: String(resource['IPAddress']),
    }));
  });
  return { kind: 'compute#backendServiceGroupHealth', ...(healthStatus.length === 0 ? {} : { healthStatus }) };
};

const plain = defineCollection({
  of: backendServices,
  methodNames: ['regionBackendServices'],
  scope: 'region',
  make,
  changes: {
    patch: changedTo((stands, body) => ({ ...stands, ...body })),
    update: changedTo((_stands, body) => body),
  },
  beforeDelete: checkRules,
});

export const servedBackendServices: Served = {
  handlers: { ...plain.handlers, 'compute.regionBackendServices.getHealth': getHealth },
  effects: plain.effects,
};
