/** Compute's instances: their declaration, how they are made and powered, and what their guests say. */
import { type CloudCall, GoogleError, type Handler, type JsonObject, type Served, type World } from '../kernel/api.js';
import { objectOf, textOf } from '../kernel/json-fields.js';
import { chanceOf, delayOf } from '../worlds/settings.js';
import { checkFits, defineCollection, type Found } from './collection.js';
import { instanceChanges } from './instance-changes.js';
import { guests, instanceEffects, powerCycle, releaseParts } from './instance-life.js';
import { provisioningOf, wantedInstance } from './instance-request.js';
import { metadataValue } from './metadata.js';
import { beginOn, once } from './operations.js';
import { cpuMetricOf, cpusOf, externalsOf, isSsd, type Metric, quotaText } from './quotas.js';
import {
  collections,
  find,
  findReady,
  freshPath,
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
  const { instance: found, made, attached } = wantedInstance(call.body, path, place, world);
  const newDisks = made.map(([, disk]) => disk.resource);
  const need = needOf(world, place, found.resource, newDisks);
  // If existing resources exceed the quota, the request is refused. If only resources under way do, the operation fails later.
  const now = firstOver(world, place, need, { underWay: false });
  if (now !== undefined) throw quotaExceeded(now);
  const later = firstOver(world, place, need, { underWay: true });
  checkFits(instances, found.resource);
  hold(world, instances, path, found);
  for (const [at, disk] of made) hold(world, disks, at, disk);
  for (const at of attached) {
    const disk = held(world, disks)[at];
    if (disk !== undefined) disk.resource['users'] = [link(path)];
  }
  const at = { path, found, place };
  if (later === undefined) return beginStart(call, world, at, 'insert');
  return beginOn(call, world, at, {
    type: 'insert',
    seconds: delayOf(world, 'vmQuota'),
    effect: 'compute.instances.overQuota',
    args: { message: later },
  });
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
function beginStart(call: CloudCall, world: World, at: Found, type: 'insert' | 'start'): JsonObject {
  const { path, found, place } = at;
  const provisioning = provisioningOf(objectOf(found.resource['scheduling']) ?? {});
  if (world.stockout(place.project.projectId, place.zone ?? '', lastOf(path), provisioning)) {
    const leaves = chanceOf(world, 'stockoutDisk');
    const args = {
      standing: type === 'start',
      withDetails: world.random() < 0.5,
      leavesBootDisk: leaves > 0 && world.random() < leaves,
    };
    const seconds = 7 + world.random() * 93;
    return beginOn(call, world, at, { type, seconds, exact: true, effect: 'compute.instances.stockout', args });
  }
  const lateAddress = externalsOf(found.resource) > 0 && world.random() < 0.3;
  const id = found.resource['id'] ?? '';
  world.schedule(delayOf(world, 'vmStaging'), 'compute.instances.stage', { target: path, id, lateAddress });
  return beginOn(call, world, at, {
    type,
    seconds: delayOf(world, 'vmRunning'),
    effect: 'compute.instances.run',
    args: { lateAddress },
  });
}

// --- power ----------------------------------------------------------------------------------------------------------

const statusOf = ({ found }: Found): string => textOf(found.resource['status']) ?? '';

/** `start` and `resume`. A VM that is down uses no CPUs and addresses, so it needs them again. */
const up = (verb: 'start' | 'resume', from: 'TERMINATED' | 'SUSPENDED'): Handler =>
  once((call, world) => {
    const at = findReady(call, world, instances);
    const { found, place } = at;
    if (verb === 'start' && statusOf(at) === 'RUNNING') return alreadySo(call, world, at, verb);
    if (statusOf(at) !== from) throw wrongState(at, verb, from);
    const need = needOf(world, place, found.resource, []).filter(([metric]) => metric !== 'INSTANCES');
    const over = firstOver(world, place, need, { underWay: true });
    if (over !== undefined) throw quotaExceeded(over);
    found.phase = 'making';
    found.resource = { ...found.resource, status: 'PROVISIONING' };
    return beginStart(call, world, at, 'start');
  });

/** `stop` and `suspend`. */
const down = (verb: 'stop' | 'suspend', via: string, effect: string): Handler =>
  once((call, world) => {
    const at = findReady(call, world, instances);
    const status = statusOf(at);
    if (verb === 'stop' && status === 'TERMINATED') return alreadySo(call, world, at, verb);
    if (status !== 'RUNNING' && !(verb === 'stop' && status === 'SUSPENDED')) throw wrongState(at, verb, 'RUNNING');
    at.found.phase = 'making';
    at.found.resource = { ...at.found.resource, status: via };
    return beginOn(call, world, at, { type: verb, seconds: delayOf(world, 'vmStopping'), effect });
  });

const reset: Handler = (call, world) => {
  const at = findReady(call, world, instances);
  if (statusOf(at) !== 'RUNNING') throw wrongState(at, 'reset', 'RUNNING');
  powerCycle(world, at.path);
  return alreadySo(call, world, at, 'reset');
};

const wrongState = (at: Found, verb: string, wanted: string): GoogleError =>
  new GoogleError(
    400,
    'FAILED_PRECONDITION',
    `Instance '${lastOf(at.path)}' is ${statusOf(at)}: ${verb} is only possible when it is ${wanted}.`,
    { reason: /^(PROVISION|STAG|STOPP|SUSPEND)ING$/.test(statusOf(at)) ? 'resourceNotReady' : 'invalid' },
  );

const alreadySo = (call: CloudCall, world: World, at: Found, type: string): JsonObject =>
  beginOn(call, world, at, { type, seconds: 3, effect: 'compute.done' });

function checkProtection({ found }: Found): void {
  if (found.resource['deletionProtection'] === true) {
    throw invalid(
      'resource.deletionProtection',
      'true',
      "Resource cannot be deleted if it's protected against deletion.",
    );
  }
  found.resource = { ...found.resource, status: 'STOPPING' };
}

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
  const [first] = items;
  if (first === undefined) {
    throw new GoogleError(404, 'NOT_FOUND', `The resource '${wanted}' of type 'Guest Attribute' was not found.`, {
      reason: 'notFound',
    });
  }
  const shown = { kind: 'compute#guestAttributes', selfLink: link(`${path}/guestAttributes/${wanted}`) };
  if (variableKey !== undefined) return { ...shown, variableKey, variableValue: first.value };
  return { ...shown, queryPath: wanted, queryValue: { items } };
};

const getSerialPortOutput: Handler = (call, world) => {
  const { path } = find(call, world, instances);
  const port = Number(call.params['port'] ?? 1);
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

const declared = defineCollection({
  of: instances,
  scope: 'zone',
  seconds: { change: 4, delete: 'vmDeleting' },
  changes: instanceChanges,
  beforeDelete: checkProtection,
  deleted: (path, instance, world) => releaseParts(path, instance, world, ({ autoDelete }) => autoDelete),
});

export const servedInstances: Served = {
  handlers: {
    ...declared.handlers,
    'compute.instances.insert': once(insert),
    'compute.instances.start': up('start', 'TERMINATED'),
    'compute.instances.resume': up('resume', 'SUSPENDED'),
    'compute.instances.stop': down('stop', 'STOPPING', 'compute.instances.stopped'),
    'compute.instances.suspend': down('suspend', 'SUSPENDING', 'compute.instances.suspended'),
    'compute.instances.reset': once(reset),
    'compute.instances.getGuestAttributes': getGuestAttributes,
    'compute.instances.getSerialPortOutput': getSerialPortOutput,
  },
  effects: { ...declared.effects, ...instanceEffects },
};
