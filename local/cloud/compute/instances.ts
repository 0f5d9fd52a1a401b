/** Compute's instances: insert, get, lists, and all operations on an instance. */
import { type CloudCall, GoogleError, type Handler, type JsonObject, type Served, type World } from '../kernel/api.js';
import { objectOf, textOf } from '../kernel/json-fields.js';
import { delayOf } from '../worlds/settings.js';
import { looksOf } from './collection.js';
import { checkFits } from './fits.js';
import { guests, instanceEffects, powerCycle } from './instance-life.js';
import { provisioningOf, wantedInstance } from './instance-request.js';
import { change, instanceSettings } from './instance-settings.js';
import { metadataValue } from './metadata.js';
import { begin, once } from './operations.js';
import { cpuMetricOf, cpusOf, externalsOf, isSsd, type Metric, quotaText } from './quotas.js';
import {
  aggregatedReply,
  collections,
  find,
  findReady,
  freshPath,
  type Held,
  held,
  hold,
  invalid,
  lastOf,
  link,
  type Place,
  placeOf,
  quotaExceeded,
} from './resources.js';

const { instances, disks } = collections;

const insert: Handler = (call, world) => {
  const place = placeOf(call, world);
  const path = freshPath(call.body, place, world, instances);
  const wanted = wantedInstance(call.body, path, place, world);
  const { instance } = wanted;
  const need = needOf(
    world,
    place,
    instance.resource,
    wanted.disks.map(([, disk]) => disk.resource),
  );
  // If existing resources exceed the quota, the request is refused. If only resources under way do, the operation fails later.
  const now = firstOver(world, place, need, { underWay: false });
  if (now !== undefined) throw quotaExceeded(now);
  const later = firstOver(world, place, need, { underWay: true });
  checkFits(instances, instance.resource);
  hold(world, instances, path, instance);
  for (const [at, disk] of wanted.disks) hold(world, disks, at, disk);
  for (const at of wanted.attached) {
    const disk = held(world, disks)[at];
    if (disk !== undefined) disk.resource['users'] = [link(path)];
  }
  return beginStart(call, world, place, path, instance, 'insert', later);
};

type Need = readonly (readonly [Metric, number])[];

function needOf(world: World, place: Place, resource: JsonObject, made: readonly JsonObject[]): Need {
  const size = (some: readonly JsonObject[]) => some.reduce((total, { sizeGb }) => total + Number(sizeGb), 0);
  return [
    [cpuMetricOf(world, place, resource), cpusOf(resource)],
    ['CPUS_ALL_REGIONS', cpusOf(resource)],
    ['SSD_TOTAL_GB', size(made.filter(isSsd))],
    ['DISKS_TOTAL_GB', size(made.filter((disk) => !isSsd(disk)))],
    ['IN_USE_ADDRESSES', externalsOf(resource)],
    ['INSTANCES', 1],
  ];
}

function firstOver(world: World, place: Place, need: Need, use: { underWay: boolean }): string | undefined {
  for (const [metric, more] of need) {
    const text = quotaText(world, place, metric, more, use);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** Insert and start behave alike: the VM runs after some 25 s, unless there is no room for it. */
function beginStart(
  call: CloudCall,
  world: World,
  place: Place,
  path: string,
  instance: Held,
  type: 'insert' | 'start',
  overQuota: string | undefined,
): JsonObject {
  const targetId = String(instance.resource['id']);
  const common = { type, target: path, targetId };
  const provisioning = provisioningOf(objectOf(instance.resource['scheduling']) ?? {});
  if (overQuota !== undefined) {
    const args = { id: targetId, message: overQuota };
    return begin(call, world, place, {
      ...common,
      seconds: delayOf(world, 'vmQuota'),
      effect: 'compute.instances.overQuota',
      args,
    });
  }
  if (world.stockout(place.project.projectId, place.zone ?? '', lastOf(path), provisioning)) {
    const args = { id: targetId, withDetails: world.random() < 0.5, standing: type === 'start' };
    const seconds = 7 + world.random() * 93;
    return begin(call, world, place, { ...common, seconds, exact: true, effect: 'compute.instances.stockout', args });
  }
  const args = { id: targetId, lateAddress: externalsOf(instance.resource) > 0 && world.random() < 0.3 };
  world.schedule(delayOf(world, 'vmStaging'), 'compute.instances.stage', { target: path, ...args });
  return begin(call, world, place, {
    ...common,
    seconds: delayOf(world, 'vmRunning'),
    effect: 'compute.instances.run',
    args,
  });
}

/** A VM that is down uses no CPUs and addresses, so it needs them again. */
function checkPowerOn(world: World, place: Place, found: Held): void {
  const need = needOf(world, place, found.resource, []).filter(([metric]) => metric !== 'INSTANCES');
  const over = firstOver(world, place, need, { underWay: true });
  if (over !== undefined) throw quotaExceeded(over);
}

// --- power ----------------------------------------------------------------------------------------------------------

const start: Handler = (call, world) => {
  const { path, found, place } = findReady(call, world, instances);
  const status = textOf(found.resource['status']);
  if (status === 'RUNNING') return done(call, world, place, path, found, 'start');
  if (status !== 'TERMINATED') throw wrongState(path, status, 'start', 'TERMINATED');
  checkPowerOn(world, place, found);
  found.phase = 'making';
  found.resource = { ...found.resource, status: 'PROVISIONING' };
  return beginStart(call, world, place, path, found, 'start', undefined);
};

/** `stop` and `suspend`: the VM passes through `via`, then goes down. */
const halt =
  (type: 'stop' | 'suspend', via: string, effect: string): Handler =>
  (call, world) => {
    const { path, found, place } = findReady(call, world, instances);
    const status = textOf(found.resource['status']);
    if (status === 'TERMINATED' && type === 'stop') return done(call, world, place, path, found, type);
    if (status !== 'RUNNING' && !(type === 'stop' && status === 'SUSPENDED'))
      throw wrongState(path, status, type, 'RUNNING');
    found.phase = 'making';
    found.resource = { ...found.resource, status: via };
    return change(call, world, place, path, found, type, delayOf(world, 'vmStopping'), effect);
  };

const resume: Handler = (call, world) => {
  const { path, found, place } = findReady(call, world, instances);
  const status = textOf(found.resource['status']);
  if (status !== 'SUSPENDED') throw wrongState(path, status, 'resume', 'SUSPENDED');
  checkPowerOn(world, place, found);
  found.phase = 'making';
  found.resource = { ...found.resource, status: 'PROVISIONING' };
  return beginStart(call, world, place, path, found, 'start', undefined);
};

const reset: Handler = (call, world) => {
  const { path, found, place } = findReady(call, world, instances);
  const status = textOf(found.resource['status']);
  if (status !== 'RUNNING') throw wrongState(path, status, 'reset', 'RUNNING');
  if (!call.method.endsWith('reset')) return done(call, world, place, path, found, 'simulateMaintenanceEvent');
  powerCycle(world, path);
  return done(call, world, place, path, found, 'reset');
};

const remove: Handler = (call, world) => {
  const { path, found, place } = findReady(call, world, instances);
  if (found.resource['deletionProtection'] === true) {
    throw invalid(
      'resource.deletionProtection',
      'true',
      `Resource cannot be deleted if it's protected against deletion.`,
    );
  }
  found.phase = 'leaving';
  found.resource = { ...found.resource, status: 'STOPPING' };
  return change(call, world, place, path, found, 'delete', delayOf(world, 'vmDeleting'), 'compute.instances.deleted');
};

const wrongState = (path: string, status: string | undefined, verb: string, wanted: string): GoogleError =>
  new GoogleError(
    400,
    'FAILED_PRECONDITION',
    `Instance '${lastOf(path)}' is ${status}: ${verb} is only possible when it is ${wanted}.`,
    { reason: status?.endsWith('ING') && status !== 'RUNNING' ? 'resourceNotReady' : 'invalid' },
  );

const done = (call: CloudCall, world: World, place: Place, path: string, found: Held, type: string): JsonObject =>
  change(call, world, place, path, found, type, 3, 'compute.done');

// --- what the guest says --------------------------------------------------------------------------------------------

/** Empty before the guest is up, and without `enable-guest-attributes`. */
const getGuestAttributes: Handler = (call, world) => {
  const { path, found, place } = find(call, world, instances);
  const { queryPath, variableKey } = call.params;
  const common = world.table<JsonObject>('compute.commonInstanceMetadata')[place.project.projectId];
  const metadata = objectOf(found.resource['metadata']);
  const enabled =
    metadataValue(metadata, 'enable-guest-attributes') ?? metadataValue(common, 'enable-guest-attributes');
  const attributes = enabled?.toLowerCase() === 'true' ? (guests(world)[path]?.attributes ?? {}) : {};
  const wanted = variableKey ?? queryPath ?? '';
  const [namespace = '', key = ''] = wanted.split('/');
  const items = Object.entries(attributes)
    .filter(([name]) => namespace === '' || name === namespace)
    .flatMap(([name, values]) => Object.entries(values).map(([one, value]) => ({ namespace: name, key: one, value })))
    .filter((item) => key === '' || item.key === key);
  if (items.length === 0) {
    throw new GoogleError(404, 'NOT_FOUND', `The resource '${wanted}' of type 'Guest Attribute' was not found.`, {
      reason: 'notFound',
    });
  }
  const selfLink = link(`${path}/guestAttributes/${wanted}`);
  const [first] = items;
  if (variableKey !== undefined && first !== undefined) {
    return { kind: 'compute#guestAttributes', selfLink, variableKey, variableValue: first.value };
  }
  return { kind: 'compute#guestAttributes', selfLink, queryPath: wanted, queryValue: { items } };
};

const getSerialPortOutput: Handler = (call, world) => {
  const { path } = find(call, world, instances);
  const port = Number(call.params['port'] ?? 1);
  if (port < 1 || port > 4) throw invalid('port', String(port), 'Must be between 1 and 4.');
  const all = Buffer.from(port === 1 ? (guests(world)[path]?.serial ?? '') : '');
  const from = Math.min(Number(call.params['start'] ?? 0), all.length);
  return {
    kind: 'compute#serialPortOutput',
    selfLink: link(`${path}/serialPort`),
    contents: all.subarray(from).toString(),
    start: String(from),
    next: String(all.length),
  };
};

const looks = looksOf({ of: instances });

const instanceHandlers: Record<string, Handler> = {
  'compute.instances.insert': once(insert),
  'compute.instances.get': looks.get,
  'compute.instances.list': looks.list,
  'compute.instances.aggregatedList': (call, world) => aggregatedReply(call, world, instances, 'zone'),
  'compute.instances.delete': once(remove),
  'compute.instances.start': once(start),
  'compute.instances.stop': once(halt('stop', 'STOPPING', 'compute.instances.stopped')),
  'compute.instances.suspend': once(halt('suspend', 'SUSPENDING', 'compute.instances.suspended')),
  'compute.instances.resume': once(resume),
  'compute.instances.reset': once(reset),
  'compute.instances.simulateMaintenanceEvent': once(reset),
  ...instanceSettings,
  'compute.instances.getGuestAttributes': getGuestAttributes,
  'compute.instances.getSerialPortOutput': getSerialPortOutput,
};

export const servedInstances: Served = { handlers: instanceHandlers, effects: instanceEffects };
