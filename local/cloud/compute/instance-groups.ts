/** Compute's unmanaged instance groups: the VMs of a zone behind an internal load balancer. */
import type { Handler, JsonObject, Served, World } from '../kernel/api.js';
import { objectsOf, textOf } from '../kernel/json-fields.js';
import { type Change, defineCollection, type Found, type Wanted } from './collection.js';
import {
  collections,
  findReady,
  fingerprint,
  held,
  inUse,
  invalid,
  link,
  listOf,
  notFound,
  type Place,
  pathOf,
  required,
  serverFields,
  unlink,
} from './resources.js';

const { backendServices, instanceGroups, instances } = collections;

/** Paths of the VMs in a group, by the path of the group. VMs that are gone have left. */
const membersIn = (world: World, path: string): string[] => {
  const members = world.table<string[]>('compute.instanceGroupMembers')[path] ?? [];
  return members.filter((member) => held(world, instances)[member] !== undefined);
};

const write = (world: World, path: string, members: readonly string[]): void => {
  world.table<string[]>('compute.instanceGroupMembers')[path] = [...members];
};

function make({ call: { body }, path, place }: Wanted, world: World): JsonObject {
  return {
    ...body,
    ...serverFields(path, instanceGroups, world),
    zone: link(`projects/${place.project.projectId}/${place.scope}`),
    description: textOf(body['description']) ?? '',
    namedPorts: objectsOf(body['namedPorts']),
    fingerprint: fingerprint(objectsOf(body['namedPorts'])),
    size: 0,
  };
}

/** The VMs that a request names, which must be in the zone of the group. */
function namedIn(body: JsonObject, place: Place, world: World): string[] {
  const given = objectsOf(body['instances']);
  if (given.length === 0) throw required('instances');
  return given.map((one, index) => {
    const field = `instances[${index}].instance`;
    const reference = textOf(one['instance']) ?? '';
    const path = pathOf(reference, field, place, world);
    if (!path.startsWith(`${place.prefix}/instances/`)) {
      throw invalid(field, reference, 'The instance must be in the zone of the instance group.');
    }
    if (held(world, instances)[path] === undefined) throw notFound(path);
    return path;
  });
}

/** All VMs of a group are in one network. The first one decides which. */
const networkOf = (path: string, world: World): JsonObject => {
  const [nic] = objectsOf(held(world, instances)[path]?.resource['networkInterfaces']);
  return { network: nic?.['network'] ?? '', subnetwork: nic?.['subnetwork'] ?? '' };
};

const addInstances: Change = ({ path, found: { resource }, place }, body, world) => {
  const stands = membersIn(world, path);
  const added = namedIn(body, place, world);
  const known = added.find((one) => stands.includes(one));
  if (known !== undefined) throw inUse('instance', known, path);
  const network = textOf(resource['network']) === undefined ? networkOf(added[0] ?? '', world) : {};
  const other = added.find((one) => {
    const wanted = network['network'] ?? resource['network'];
    return networkOf(one, world)['network'] !== wanted;
  });
  if (other !== undefined) throw invalid('instances', other, 'All instances of a group must be in one network.');
  write(world, path, [...stands, ...added]);
  return { ...resource, ...network, size: stands.length + added.length };
};

const removeInstances: Change = ({ path, found: { resource }, place }, body, world) => {
  const stands = membersIn(world, path);
  const gone = namedIn(body, place, world);
  const stranger = gone.find((one) => !stands.includes(one));
  if (stranger !== undefined) throw invalid('instances', stranger, 'The instance is not a member of the group.');
  const left = stands.filter((one) => !gone.includes(one));
  write(world, path, left);
  return { ...resource, size: left.length };
};

const listInstances: Handler = (call, world) => {
  const { path } = findReady(call, world, instanceGroups);
  const wanted = textOf(call.body['instanceState']) ?? 'ALL';
  const entries = membersIn(world, path).flatMap((member) => {
    const status = String(held(world, instances)[member]?.resource['status']);
    return wanted === 'RUNNING' && status !== 'RUNNING' ? [] : [[member, { instance: link(member), status }] as const];
  });
  const reply = listOf(call, `${path}/listInstances`, 'compute#instanceWithNamedPorts', entries);
  return { ...reply, kind: 'compute#instanceGroupsListInstances' };
};

function checkBackends({ path }: Found, world: World): void {
  for (const [user, { resource }] of Object.entries(held(world, backendServices))) {
    const isBehind = objectsOf(resource['backends']).some(({ group }) => unlink(String(group)) === path);
    if (isBehind) throw inUse('instance_group', path, user);
  }
}

const plain = defineCollection({
  of: instanceGroups,
  scope: 'zone',
  make,
  changes: { addInstances, removeInstances },
  operationTypes: {
    addInstances: 'compute.instanceGroups.addInstances',
    removeInstances: 'compute.instanceGroups.removeInstances',
  },
  beforeDelete: checkBackends,
  deleted: (path, _found, world) => void delete world.table('compute.instanceGroupMembers')[path],
});

/** Instances of a group, by its link. */
export const membersOf = (world: World, group: string): readonly string[] => membersIn(world, unlink(group));

export const servedInstanceGroups: Served = {
  handlers: { ...plain.handlers, 'compute.instanceGroups.listInstances': listInstances },
  effects: plain.effects,
};
