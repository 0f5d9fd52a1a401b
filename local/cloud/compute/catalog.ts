/**
 * What compute offers without anyone making it: the project's own record, regions, zones, machine types, disk types, images.
 */
import type { CloudCall, Effect, Handler, JsonObject, Served, World } from '../kernel/api.js';
import { textOf } from '../kernel/json-fields.js';
import { regionOf, regions, zones, zonesOf } from '../kernel/places.js';
import { isEnforced } from '../org-policy/policies.js';
import { defaultAccountOf } from './default-network.js';
import { imageByName, imageOfFamily, imagesOf, isImageProject } from './images.js';
import { checkMachineTypeLimit, type MachineType, machineTypeOf, machineTypes } from './machine-types.js';
import { metadataFrom } from './metadata.js';
import { begin, ending, once } from './operations.js';
import { globalMetrics, quotasOf, regionalMetrics } from './quotas.js';
import {
  aggregatedOf,
  computeService,
  conditionNotMet,
  fingerprint,
  invalid,
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
  const stands = commonMetadata(world)[projectId];
  const current = stands?.['fingerprint'] ?? fingerprint(null);
  const given = textOf(call.body['fingerprint']);
  if ((given === undefined && stands !== undefined) || (given !== undefined && !sameFingerprint(given, current))) {
    throw conditionNotMet('Supplied fingerprint does not match current metadata fingerprint.');
  }
  commonMetadata(world)[projectId] = metadataFrom(call.body, '');
  return begin(call, world, place, {
    type: 'compute.projects.setCommonInstanceMetadata',
    target: `projects/${projectId}`,
    targetId: projectNumber,
    seconds: 5,
    effect: 'compute.projects.metadataSet',
  });
};

// --- regions and zones ----------------------------------------------------------------------------------------------

function regionResource(call: CloudCall, world: World, region: string): JsonObject {
  const place = placeOf({ ...call, params: { ...call.params, region } }, world);
  const path = `projects/${place.project.projectId}/regions/${region}`;
  return {
    kind: 'compute#region',
    id: String(1000 + regions.indexOf(region) * 10),
    creationTimestamp: since,
    name: region,
    description: region,
    status: 'UP',
    zones: zonesOf(region).map((zone) => link(`projects/${place.project.projectId}/zones/${zone}`)),
    quotas: quotasOf(world, place, regionalMetrics),
    selfLink: link(path),
    supportsPzs: false,
  };
}

const getRegion: Handler = (call, world) => {
  const project = world.project(call.params['project'] ?? '', { service: computeService });
  const region = call.params['region'] ?? '';
  if (!regions.includes(region)) throw notFound(`projects/${project.projectId}/regions/${region}`);
  return regionResource(call, world, region);
};

const listRegions: Handler = (call, world) => {
  const { prefix } = placeOf(call, world);
  const all = regions.map((region) => [region, regionResource(call, world, region)] as const);
  return listOf(call, prefix.replace('/global', '/regions'), 'compute#regionList', all);
};

const zoneResource = (project: string, zone: string): JsonObject => ({
  kind: 'compute#zone',
  id: String(2000 + zones.indexOf(zone)),
  creationTimestamp: since,
  name: zone,
  description: zone,
  status: 'UP',
  region: link(`projects/${project}/regions/${regionOf(zone)}`),
  availableCpuPlatforms: ['Intel Broadwell', 'Intel Cascade Lake', 'AMD Rome', 'AMD Milan'],
  selfLink: link(`projects/${project}/zones/${zone}`),
  supportsPzs: false,
});

const getZone: Handler = (call, world) => {
  const { projectId } = world.project(call.params['project'] ?? '', { service: computeService });
  const zone = call.params['zone'] ?? '';
  if (!zones.includes(zone)) throw notFound(`projects/${projectId}/zones/${zone}`);
  return zoneResource(projectId, zone);
};

const listZones: Handler = (call, world) => {
  const { project } = placeOf(call, world);
  const all = zones.map((zone) => [zone, zoneResource(project.projectId, zone)] as const);
  return listOf(call, `projects/${project.projectId}/zones`, 'compute#zoneList', all);
};

// --- machine types and disk types -----------------------------------------------------------------------------------

function machineTypeResource(project: string, zone: string, type: MachineType): JsonObject {
  return {
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
  };
}

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

const listMachineTypes: Handler = (call, world) => {
  const { project, zone = '', prefix } = placeOf(call, world);
  const all = machineTypes.map((type) => [type.name, machineTypeResource(project.projectId, zone, type)] as const);
  return listOf(call, `${prefix}/machineTypes`, 'compute#machineTypeList', all);
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

const diskTypeCollection = { name: 'diskTypes', singular: 'diskType', kind: 'compute#diskType' } as const;

const diskTypes = ['pd-standard', 'pd-balanced', 'pd-ssd', 'pd-extreme'];

function diskTypeResource(project: string, zone: string, name: string): JsonObject {
  return {
    kind: 'compute#diskType',
    id: String(4000 + diskTypes.indexOf(name)),
    creationTimestamp: since,
    name,
    description: name,
    validDiskSize: '10GB-65536GB',
    defaultDiskSizeGb: name === 'pd-standard' ? '500' : '100',
    zone: link(`projects/${project}/zones/${zone}`),
    selfLink: link(`projects/${project}/zones/${zone}/diskTypes/${name}`),
  };
}

const getDiskType: Handler = (call, world) => {
  const { project, zone = '', prefix } = placeOf(call, world);
  const name = call.params['diskType'] ?? '';
  if (!diskTypes.includes(name)) throw notFound(`${prefix}/diskTypes/${name}`);
  return diskTypeResource(project.projectId, zone, name);
};

const listDiskTypes: Handler = (call, world) => {
  const { project, zone = '', prefix } = placeOf(call, world);
  const all = diskTypes.map((name) => [name, diskTypeResource(project.projectId, zone, name)] as const);
  return listOf(call, `${prefix}/diskTypes`, 'compute#diskTypeList', all);
};

const aggregatedDiskTypes: Handler = (call, world) => {
  const { projectId } = placeOf(call, world).project;
  const all = zones.flatMap((zone) =>
    diskTypes.map((name) => {
      const path = `projects/${projectId}/zones/${zone}/diskTypes/${name}`;
      return [path, diskTypeResource(projectId, zone, name)] as const;
    }),
  );
  return aggregatedOf(call, `projects/${projectId}/aggregated/diskTypes`, diskTypeCollection, 'zone', all);
};

// --- images ---------------------------------------------------------------------------------------------------------

/** Everybody can read Google's image projects. Other projects have no images here. */
function imageProject(call: CloudCall, world: World): string {
  const project = call.params['project'] ?? '';
  return isImageProject(project) ? project : placeOf(call, world).project.projectId;
}

const getImage: Handler = (call, world) => imageByName(imageProject(call, world), call.params['image'] ?? '');

const getImageFromFamily: Handler = (call, world) =>
  imageOfFamily(imageProject(call, world), call.params['family'] ?? '');

const listImages: Handler = (call, world) => {
  const project = imageProject(call, world);
  const all = imagesOf(project).map((image) => [String(image['name']), image] as const);
  return listOf(call, `projects/${project}/global/images`, 'compute#imageList', all);
};

export function checkDiskType(name: string, field: string, given: string): void {
  if (!diskTypes.includes(name)) throw invalid(field, given, `Disk type '${name}' does not exist.`);
}

const catalogHandlers: Record<string, Handler> = {
  'compute.projects.get': getProject,
  'compute.projects.setCommonInstanceMetadata': once(setCommonInstanceMetadata),
  'compute.regions.get': getRegion,
  'compute.regions.list': listRegions,
  'compute.zones.get': getZone,
  'compute.zones.list': listZones,
  'compute.machineTypes.get': getMachineType,
  'compute.machineTypes.list': listMachineTypes,
  'compute.machineTypes.aggregatedList': aggregatedMachineTypes,
  'compute.diskTypes.get': getDiskType,
  'compute.diskTypes.list': listDiskTypes,
  'compute.diskTypes.aggregatedList': aggregatedDiskTypes,
  'compute.images.get': getImage,
  'compute.images.getFromFamily': getImageFromFamily,
  'compute.images.list': listImages,
};

const catalogEffects: Record<string, Effect> = { 'compute.projects.metadataSet': ending(() => undefined) };

export const servedCatalog: Served = { handlers: catalogHandlers, effects: catalogEffects };
