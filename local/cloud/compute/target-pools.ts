/** Compute's target pools: the VMs behind a network load balancer. */
import type { GoogleError, Handler, JsonObject, Served, World } from '../kernel/api.js';
import { notSimulated } from '../kernel/errors.js';
import { objectsOf, textOf, textsOf } from '../kernel/json-fields.js';
import { regionOf } from '../kernel/places.js';
import { type Change, defineCollection, type Found, type Wanted } from './collection.js';
import { rulesTo } from './forwarding-rules.js';
import {
  collections,
  findReady,
  held,
  inUse,
  invalid,
  link,
  notFound,
  type Place,
  pathOf,
  readyAt,
  required,
  serverFields,
  unlink,
} from './resources.js';

const { targetPools, httpHealthChecks, instances } = collections;

function make({ call: { body }, path, place }: Wanted, world: World): JsonObject {
  if (textOf(body['backupPool']) !== undefined && textOf(body['backupPool']) !== '') throw noBackup();
  const { backupPool: _none, ...given } = body;
  const members = textsOf(body['instances']).map((one, index) =>
    member(one, `resource.instances[${index}]`, place, world),
  );
  const checks = textsOf(body['healthChecks']).map((one, index) =>
    healthCheck(one, `resource.healthChecks[${index}]`, place, world),
  );
  checkOne(checks);
  return {
    ...given,
    ...serverFields(path, targetPools, world),
    region: link(`projects/${place.project.projectId}/${place.scope}`),
    sessionAffinity: textOf(body['sessionAffinity']) ?? 'NONE',
    ...(members.length === 0 ? {} : { instances: members }),
    ...(checks.length === 0 ? {} : { healthChecks: checks }),
  };
}

const noBackup = (): GoogleError => notSimulated('backup pools of target pools');

/** A VM of the pool's region. It need not exist yet. */
function member(reference: string, field: string, place: Place, world: World): string {
  const path = pathOf(reference, field, place, world);
  const zone = /^projects\/[^/]+\/zones\/([^/]+)\/instances\/[^/]+$/.exec(path)?.[1];
  if (zone === undefined) throw invalid(field, reference, 'The URL is malformed.');
  if (regionOf(zone) !== place.region) {
    throw invalid(field, reference, `The instance must be in the region of the target pool, '${place.region}'.`);
  }
  return link(path);
}

function healthCheck(reference: string, field: string, place: Place, world: World): string {
  const path = pathOf(reference, field, place, world);
  if (!path.includes(`/${httpHealthChecks.name}/`)) {
    throw invalid(field, reference, 'Target pools take legacy HTTP health checks alone.');
  }
  readyAt(path, httpHealthChecks, world);
  return link(path);
}

function checkOne(checks: readonly string[]): void {
  if (checks.length > 1) {
    throw invalid('resource.healthChecks', String(checks.length), 'At most one health check may be specified.');
  }
}

/** The pool with a list replaced. An empty list is not shown. */
function withList(resource: JsonObject, field: string, list: readonly string[]): JsonObject {
  const { [field]: _old, ...rest } = resource;
  return list.length === 0 ? rest : { ...rest, [field]: [...list] };
}

const addInstance: Change = ({ found: { resource }, place }, body, world) => {
  const given = objectsOf(body['instances']);
  if (given.length === 0) throw required('instances');
  const members = given.map((one, index) =>
    member(textOf(one['instance']) ?? '', `instances[${index}].instance`, place, world),
  );
  return withList(resource, 'instances', [...new Set([...textsOf(resource['instances']), ...members])]);
};

const removeInstance: Change = ({ found: { resource }, place }, body, world) => {
  const stands = textsOf(resource['instances']);
  const gone = objectsOf(body['instances']).map((one, index) => {
    const field = `instances[${index}].instance`;
    const reference = textOf(one['instance']) ?? '';
    const found = member(reference, field, place, world);
    if (!stands.includes(found)) throw invalid(field, reference, 'The instance is not a member of the target pool.');
    return found;
  });
  if (gone.length === 0) throw required('instances');
  return withList(
    resource,
    'instances',
    stands.filter((one) => !gone.includes(one)),
  );
};

const addHealthCheck: Change = ({ found: { resource }, place }, body, world) => {
  const given = objectsOf(body['healthChecks']);
  if (given.length === 0) throw required('healthChecks');
  const checks = given.map((one, index) =>
    healthCheck(textOf(one['healthCheck']) ?? '', `healthChecks[${index}].healthCheck`, place, world),
  );
  const all = [...new Set([...textsOf(resource['healthChecks']), ...checks])];
  checkOne(all);
  return withList(resource, 'healthChecks', all);
};

const removeHealthCheck: Change = ({ found: { resource }, place }, body, world) => {
  const stands = textsOf(resource['healthChecks']);
  const gone = objectsOf(body['healthChecks']).map((one, index) => {
    const field = `healthChecks[${index}].healthCheck`;
    const reference = textOf(one['healthCheck']) ?? '';
    const found = link(pathOf(reference, field, place, world));
    if (!stands.includes(found)) throw invalid(field, reference, 'The target pool does not use the health check.');
    return found;
  });
  if (gone.length === 0) throw required('healthChecks');
  return withList(
    resource,
    'healthChecks',
    stands.filter((one) => !gone.includes(one)),
  );
};

/** A VM that runs counts as healthy, because nothing here probes it. */
const getHealth: Handler = (call, world) => {
  const { path, found, place } = findReady(call, world, targetPools);
  const reference = textOf(call.body['instance']);
  if (reference === undefined) throw required('instance');
  const instance = member(reference, 'instance', place, world);
  if (!textsOf(found.resource['instances']).includes(instance)) throw notFound(unlink(instance));
  const isUp = held(world, instances)[unlink(instance)]?.resource['status'] === 'RUNNING';
  const healthStatus = rulesTo(world, path).map(([, rule]) => ({
    instance,
    ipAddress: String(rule['IPAddress']),
    healthState: isUp ? 'HEALTHY' : 'UNHEALTHY',
  }));
  return { kind: 'compute#targetPoolInstanceHealth', ...(healthStatus.length === 0 ? {} : { healthStatus }) };
};

function checkRules({ path }: Found, world: World): void {
  const [rule] = rulesTo(world, path);
  if (rule !== undefined) throw inUse('target_pool', path, rule[0]);
}

const plain = defineCollection({
  of: targetPools,
  scope: 'region',
  make,
  changes: { addInstance, removeInstance, addHealthCheck, removeHealthCheck },
  beforeDelete: checkRules,
});

export const servedTargetPools: Served = {
  handlers: { ...plain.handlers, 'compute.targetPools.getHealth': getHealth },
  effects: plain.effects,
};
