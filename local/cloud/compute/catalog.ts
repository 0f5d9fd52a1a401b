/** What compute offers without anyone making it: the project's own record, regions, zones, machine types, images. */
import type { CloudCall, Handler, JsonObject, Served, World } from '../kernel/api.js';
import { textOf } from '../kernel/json-fields.js';
import { regionOf, regions, zones, zonesOf } from '../kernel/places.js';
import { isEnforced } from '../org-policy/policies.js';
import { defaultAccountOf } from './default-network.js';
import { imageByName, imageOfFamily, isImageProject } from './images.js';
import { checkMachineTypeLimit, type MachineType, machineTypeOf, machineTypes } from './machine-types.js';
import { metadataFrom } from './metadata.js';
import { begin, once } from './operations.js';
import { globalMetrics, quotasOf, regionalMetrics } from './quotas.js';
import {
  aggregatedOf,
  conditionNotMet,
  fingerprint,
  link,
  listOf,
  notFound,
  placeOf,
  sameFingerprint,
  stamp,
} from './resources.js';

const since = '1969-12-31T16:00:00.000-08:00';

// --- the project ----------------------------------------------------------------------------------------------------

const commonMetadata = (world: World): Record<string, JsonObject> => world.table('compute.commonInstanceMetadata');

const getProject: Handler = (call, world) => {
  const place = placeOf(call, world);
  const { projectId, projectNumber, createTime } = place.project;
  return {
    kind: 'compute#project',
    id: projectNumber,
    name: projectId,
    creationTimestamp: stamp(Date.parse(createTime)),
    commonInstanceMetadata: commonMetadata(world)[projectId] ?? {
      kind: 'compute#metadata',
      fingerprint: fingerprint(null),
    },
    defaultServiceAccount: defaultAccountOf(place.project),
    defaultNetworkTier: 'PREMIUM',
    vmDnsSetting: isEnforced(world, `projects/${projectId}`, 'compute.setNewProjectDefaultToZonalDNSOnly')
      ? 'ZONAL_ONLY'
      : 'ZONAL_DEFAULT',
    xpnProjectStatus: 'UNSPECIFIED_XPN_PROJECT_STATUS',
    quotas: quotasOf(world, place, globalMetrics),
    selfLink: link(`projects/${projectId}`),
  };
};

const setCommonInstanceMetadata: Handler = (call, world) => {
  const place = placeOf(call, world);
  const { projectId, projectNumber } = place.project;
  const before = commonMetadata(world)[projectId];
  const given = textOf(call.body['fingerprint']);
  const isFirst = given === undefined && before === undefined;
  if (!isFirst && !sameFingerprint(given, before?.['fingerprint'] ?? fingerprint(null))) {
    throw conditionNotMet('Supplied fingerprint does not match current metadata fingerprint.');
  }
  commonMetadata(world)[projectId] = metadataFrom(call.body, '');
  return begin(call, world, place, {
    type: 'compute.projects.setCommonInstanceMetadata',
    target: `projects/${projectId}`,
    targetId: projectNumber,
    seconds: 5,
    effect: 'compute.done',
  });
};

// --- regions and zones ----------------------------------------------------------------------------------------------

const regionResource = (call: CloudCall, world: World, region: string): JsonObject => {
  const place = placeOf({ ...call, params: { ...call.params, region } }, world);
  const { projectId } = place.project;
  return {
    kind: 'compute#region',
    id: String(1000 + regions.indexOf(region) * 10),
    creationTimestamp: since,
    name: region,
    description: region,
    status: 'UP',
    zones: zonesOf(region).map((zone) => link(`projects/${projectId}/zones/${zone}`)),
    quotas: quotasOf(world, place, regionalMetrics),
    selfLink: link(`projects/${projectId}/regions/${region}`),
    supportsPzs: false,
  };
};

const zoneResource = (call: CloudCall, world: World, zone: string): JsonObject => {
  const { projectId } = placeOf(call, world).project;
  return {
    kind: 'compute#zone',
    id: String(2000 + zones.indexOf(zone)),
    creationTimestamp: since,
    name: zone,
    description: zone,
    status: 'UP',
    region: link(`projects/${projectId}/regions/${regionOf(zone)}`),
    availableCpuPlatforms: ['Intel Broadwell', 'Intel Cascade Lake', 'AMD Rome', 'AMD Milan'],
    selfLink: link(`projects/${projectId}/zones/${zone}`),
    supportsPzs: false,
  };
};

/** `get` and `list` of all regions or zones. A call that names an unknown one is answered 404 here, and 400 elsewhere. */
function places(
  kind: 'region' | 'zone',
  names: readonly string[],
  resource: (call: CloudCall, world: World, name: string) => JsonObject,
): Readonly<Record<string, Handler>> {
  const projectPath = (call: CloudCall, world: World): string => {
    const { region: _region, zone: _zone, ...params } = call.params;
    return `projects/${placeOf({ ...call, params }, world).project.projectId}/${kind}s`;
  };
  return {
    [`compute.${kind}s.get`]: (call, world) => {
      const name = call.params[kind] ?? '';
      if (!names.includes(name)) throw notFound(`${projectPath(call, world)}/${name}`);
      return resource(call, world, name);
    },
    [`compute.${kind}s.list`]: (call, world) =>
      listOf(
        call,
        projectPath(call, world),
        `compute#${kind}List`,
        names.map((name) => [name, resource(call, world, name)] as const),
      ),
  };
}

// --- machine types --------------------------------------------------------------------------------------------------

const machineTypeResource = (project: string, zone: string, type: MachineType): JsonObject => ({
  kind: 'compute#machineType',
  id: String(3000 + machineTypes.indexOf(type)),
  creationTimestamp: since,
  name: type.name,
  description: type.description,
  guestCpus: type.cpus,
  memoryMb: type.memoryMb,
  imageSpaceGb: 0,
  isSharedCpu: type.isShared,
  maximumPersistentDisks: 128,
  maximumPersistentDisksSizeGb: '263168',
  architecture: 'X86_64',
  zone,
  selfLink: link(`projects/${project}/zones/${zone}/machineTypes/${type.name}`),
});

const getMachineType: Handler = (call, world) => {
  const { project, zone = '', prefix } = placeOf(call, world);
  const name = call.params['machineType'] ?? '';
  const type = machineTypeOf(name);
  if (type === undefined) {
    checkMachineTypeLimit(name);
    throw notFound(`${prefix}/machineTypes/${name}`);
  }
  return machineTypeResource(project.projectId, zone, type);
};

const machineTypeCollection = { name: 'machineTypes', singular: 'machineType', kind: 'compute#machineType' };

const aggregatedMachineTypes: Handler = (call, world) => {
  const { projectId } = placeOf(call, world).project;
  const all = zones.flatMap((zone) =>
    machineTypes.map((type) => {
      const path = `projects/${projectId}/zones/${zone}/machineTypes/${type.name}`;
      return [path, machineTypeResource(projectId, zone, type)] as const;
    }),
  );
  return aggregatedOf(call, `projects/${projectId}/aggregated/machineTypes`, machineTypeCollection, 'zone', all);
};

// --- images ---------------------------------------------------------------------------------------------------------

/** Everybody can read Google's image projects. Other projects have no images here. */
const image =
  (parameter: 'image' | 'family', find: (project: string, name: string) => JsonObject): Handler =>
  (call, world) => {
    const project = call.params['project'] ?? '';
    return find(
      isImageProject(project) ? project : placeOf(call, world).project.projectId,
      call.params[parameter] ?? '',
    );
  };

export const servedCatalog: Served = {
  handlers: {
    'compute.projects.get': getProject,
    'compute.projects.setCommonInstanceMetadata': once(setCommonInstanceMetadata),
    ...places('region', regions, regionResource),
    ...places('zone', zones, zoneResource),
    'compute.machineTypes.get': getMachineType,
    'compute.machineTypes.aggregatedList': aggregatedMachineTypes,
    'compute.images.get': image('image', imageByName),
    'compute.images.getFromFamily': image('family', imageOfFamily),
  },
  effects: {},
};
