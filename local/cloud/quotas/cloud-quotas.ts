/** Cloud Quotas: what a project may use of Compute Engine, and requests for more of it. */

import { globalMetrics, isGlobalMetric, limitOf, type Metric, regionalMetrics } from '../compute/quotas.js';
import {
  type ApiDefinition,
  type CloudCall,
  type Effect,
  GoogleError,
  type Handler,
  type JsonObject,
  type ProjectRecord,
  type World,
} from '../kernel/api.js';
import { badRequest, notSimulated } from '../kernel/errors.js';
import { labelsOf, numberOf, objectOf, textOf } from '../kernel/json-fields.js';
import { pageOf } from '../kernel/pages.js';
import { regions } from '../kernel/places.js';
import { lookUpProject } from '../kernel/projects.js';
import { chanceOf, delayOf } from '../worlds/settings.js';
import { grantQuota } from './granted.js';

const service = 'compute.googleapis.com';

interface Preference {
  projectId: string;
  id: string;
  quotaId: string;
  metric: Metric;
  dimensions: Record<string, string>;
  preferred: number;
  granted: number;
  stateDetail: string;
  reconciling: boolean;
  contactEmail: string;
  justification: string;
  etag: string;
  createTime: string;
  updateTime: string;
  /** Which request was the last one. An older decision comes too late. */
  turn: number;
}

const preferences = (world: World): Record<string, Preference> => world.table<Preference>('cloudquotas.preferences');

/** `SSD_TOTAL_GB` → `SSD-TOTAL-GB-per-project-region`. */
const quotaIdOf = (metric: Metric): string =>
  `${metric.replaceAll('_', '-')}-per-project${isGlobalMetric(metric) ? '' : '-region'}`;

/** Where Cloud Quotas has another name than Compute Engine's in lower case. */
const otherNames: Readonly<Partial<Record<Metric, string>>> = {
  SSD_TOTAL_GB: 'ssd_total_storage',
  DISKS_TOTAL_GB: 'disks_total_storage',
  IN_USE_ADDRESSES: 'regional_in_use_addresses',
  STATIC_ADDRESSES: 'regional_static_addresses',
};

const metrics: readonly Metric[] = [...regionalMetrics, ...globalMetrics];
const metricOf = new Map(metrics.map((metric) => [quotaIdOf(metric), metric]));

const wrong = (field: string, description: string): GoogleError =>
  badRequest('Request contains an invalid argument.', field, description);

const missing = (): GoogleError => new GoogleError(404, 'NOT_FOUND', 'Requested entity was not found.');

interface Asked {
  readonly project: ProjectRecord;
  readonly parent: string;
}

/** Quotas are asked for in a project, in the location `global`. */
function askedIn(call: CloudCall, world: World): Asked {
  const name = call.params['parent'] ?? call.params['name'] ?? '';
  const [kind, id = '', , location] = name.split('/');
  if (kind !== 'projects') throw notSimulated(`${call.method}: quotas of projects alone are simulated`);
  if (location !== 'global') throw wrong('name', 'The location must be global.');
  const project = world.project(id);
  return { project, parent: `projects/${project.projectNumber}/locations/global` };
}

// --- infos ----------------------------------------------------------------------------------------------------------

function infoOf(world: World, { project, parent }: Asked, metric: Metric): JsonObject {
  const isGlobal = isGlobalMetric(metric);
  const row = (region: string | undefined): JsonObject => ({
    ...(region === undefined ? {} : { dimensions: { region } }),
    details: { value: String(limitOf(world, { project, region }, metric)) },
    applicableLocations: [region ?? 'global'],
  });
  const quotaId = quotaIdOf(metric);
  const isEligible = project.billingAccountName !== undefined;
  return {
    name: `${parent}/services/${service}/quotaInfos/${quotaId}`,
    quotaId,
    metric: `${service}/${otherNames[metric] ?? metric.toLowerCase()}`,
    service,
    isPrecise: true,
    containerType: 'PROJECT',
    ...(isGlobal ? {} : { dimensions: ['region'] }),
    metricDisplayName: metric,
    quotaDisplayName: metric,
    metricUnit: '1',
    quotaIncreaseEligibility: isEligible
      ? { isEligible }
      : { isEligible, ineligibilityReason: 'NO_VALID_BILLING_ACCOUNT' },
    dimensionsInfos: isGlobal ? [row(undefined)] : regions.map(row),
    isConcurrent: true,
  };
}

function checkServiceName(world: World, name: string): void {
  const asked = /\/services\/([^/]+)/.exec(name)?.[1] ?? '';
  if (asked === service) return;
  if (world.services[asked] === undefined) throw missing();
  throw notSimulated(`quotas of services other than ${service}`);
}

const getInfo: Handler = (call, world) => {
  const name = call.params['name'] ?? '';
  checkServiceName(world, name);
  const metric = metricOf.get(name.slice(name.lastIndexOf('/') + 1));
  if (metric === undefined) throw missing();
  return infoOf(world, askedIn(call, world), metric);
};

const listInfos: Handler = (call, world) => {
  checkServiceName(world, call.params['parent'] ?? '');
  const asked = askedIn(call, world);
  const all = metrics.map((metric) => [quotaIdOf(metric), infoOf(world, asked, metric)] as const);
  return page(call, 'quotaInfos', all);
};

function page(call: CloudCall, name: string, entries: readonly (readonly [string, JsonObject])[]): JsonObject {
  const { items, nextPageToken } = pageOf(entries, numberOf(call.params['pageSize']), call.params['pageToken']);
  return {
    ...(items.length === 0 ? {} : { [name]: items }),
    ...(nextPageToken === undefined ? {} : { nextPageToken }),
  };
}

// --- preferences ----------------------------------------------------------------------------------------------------

const shown = (world: World, preference: Preference): JsonObject => ({
  name: `projects/${lookUpProject(world, preference.projectId)?.projectNumber}/locations/global/quotaPreferences/${preference.id}`,
  ...(Object.keys(preference.dimensions).length === 0 ? {} : { dimensions: { ...preference.dimensions } }),
  quotaConfig: {
    preferredValue: String(preference.preferred),
    grantedValue: String(preference.granted),
    stateDetail: preference.stateDetail,
    traceId: preference.etag,
    requestOrigin: 'ORIGIN_UNSPECIFIED',
  },
  etag: preference.etag,
  createTime: preference.createTime,
  updateTime: preference.updateTime,
  service,
  quotaId: preference.quotaId,
  reconciling: preference.reconciling,
  contactEmail: preference.contactEmail,
});

interface Wish {
  readonly quotaId: string;
  readonly metric: Metric;
  readonly dimensions: Record<string, string>;
  readonly preferred: number;
  readonly current: number;
  readonly contactEmail: string;
  readonly justification: string;
}

/** Checks a request for quota against what there is. */
function wishIn(call: CloudCall, world: World, project: ProjectRecord): Wish {
  const { body } = call;
  const quotaId = textOf(body['quotaId']) ?? '';
  if (body['service'] !== service) throw wrong('quota_preference.service', `Only ${service} has quotas here.`);
  const metric = metricOf.get(quotaId);
  if (metric === undefined) throw wrong('quota_preference.quota_id', `${quotaId} is no quota of ${service}.`);
  const dimensions = labelsOf(body['dimensions']);
  const { region, ...others } = dimensions;
  const strange = Object.keys(others)[0] ?? (isGlobalMetric(metric) && region !== undefined ? 'region' : undefined);
  if (strange !== undefined) throw wrong('quota_preference.dimensions', `${quotaId} has no dimension ${strange}.`);
  if (region !== undefined && !regions.includes(region)) {
    throw wrong('quota_preference.dimensions', `${region} is no region.`);
  }
  const preferred = numberOf(objectOf(body['quotaConfig'])?.['preferredValue']);
  if (preferred === undefined || preferred < -1) {
    throw wrong('quota_preference.quota_config.preferred_value', 'A preferred value is required.');
  }
  const current = limitOf(world, { project, region }, metric);
  const contactEmail = textOf(body['contactEmail']) ?? '';
  if (preferred > current && !/^[^@\s]+@[^@\s]+$/.test(contactEmail)) {
    throw wrong('quota_preference.contact_email', 'A request for more needs a contact e-mail.');
  }
  const ignored = call.lists['ignoreSafetyChecks'] ?? [];
  if (preferred < current * 0.9 && !ignored.includes('QUOTA_DECREASE_PERCENTAGE_TOO_HIGH')) {
    throw new GoogleError(
      400,
      'FAILED_PRECONDITION',
      'The quota decrease is more than 10 percent. Set ignore_safety_checks to QUOTA_DECREASE_PERCENTAGE_TOO_HIGH to go on.',
    );
  }
  return {
    quotaId,
    metric,
    dimensions,
    preferred,
    current,
    contactEmail,
    justification: textOf(body['justification']) ?? '',
  };
}

const keyOf = (projectId: string, id: string): string => `${projectId} ${id}`;

/** Begins a request. What is granted so far stays until the decision. */
function begin(world: World, { projectId }: ProjectRecord, id: string, wish: Wish, before?: Preference): JsonObject {
  const now = new Date(world.now()).toISOString();
  const { current, ...wanted } = wish;
  const preference: Preference = {
    ...wanted,
    projectId,
    id,
    granted: current,
    stateDetail: 'The request is being reviewed.',
    reconciling: true,
    etag: `W/"${world.id()}"`,
    createTime: before?.createTime ?? now,
    updateTime: now,
    turn: (before?.turn ?? 0) + 1,
  };
  const key = keyOf(projectId, id);
  preferences(world)[key] = preference;
  world.schedule(delayOf(world, 'quotaDecision'), 'cloudquotas.decided', { key, turn: preference.turn });
  return shown(world, preference);
}

const create: Handler = (call, world) => {
  const { project } = askedIn(call, world);
  const wish = wishIn(call, world, project);
  const id = call.params['quotaPreferenceId'] ?? `${wish.quotaId.toLowerCase()}-${world.id()}`;
  if (!/^[a-z0-9_-]{1,128}$/i.test(id)) throw wrong('quota_preference_id', `${id} is no valid id.`);
  const sameAsked = Object.values(preferences(world)).some(
    ({ projectId, quotaId, dimensions }) =>
      projectId === project.projectId && quotaId === wish.quotaId && dimensions['region'] === wish.dimensions['region'],
  );
  if (sameAsked || preferences(world)[keyOf(project.projectId, id)] !== undefined) {
    throw new GoogleError(409, 'ALREADY_EXISTS', 'Requested entity already exists');
  }
  return begin(world, project, id, wish);
};

function find(call: CloudCall, world: World): { project: ProjectRecord; id: string; found: Preference | undefined } {
  const name = call.params['name'] ?? '';
  const { project } = askedIn(call, world);
  const id = name.slice(name.lastIndexOf('/') + 1);
  return { project, id, found: preferences(world)[keyOf(project.projectId, id)] };
}

const get: Handler = (call, world) => {
  const { found } = find(call, world);
  if (found === undefined) throw missing();
  return shown(world, found);
};

const patch: Handler = (call, world) => {
  const { project, id, found } = find(call, world);
  if (found === undefined && call.params['allowMissing'] !== 'true') throw missing();
  const etag = textOf(call.body['etag']);
  if (found !== undefined && etag !== undefined && etag !== '' && etag !== found.etag) {
    throw new GoogleError(409, 'ABORTED', 'The etag does not match the current etag of the quota preference.');
  }
  const body: JsonObject = {
    ...(found === undefined
      ? {}
      : { service, quotaId: found.quotaId, dimensions: found.dimensions, contactEmail: found.contactEmail }),
    ...call.body,
  };
  if (found !== undefined && body['quotaId'] !== found.quotaId) {
    throw wrong('quota_preference.quota_id', 'The quota of a preference cannot be changed.');
  }
  const wish = wishIn({ ...call, body }, world, project);
  if (call.params['validateOnly'] === 'true') return found === undefined ? {} : shown(world, found);
  return begin(world, project, id, wish, found);
};

/** `reconciling=true AND quota_id=…`: every term must hold. */
function readFilter(filter: string): (preference: JsonObject) => boolean {
  const terms = filter.split(/\s+AND\s+/).filter((term) => term.trim() !== '');
  const tests = terms.map((term) => {
    const [, name = '', value = ''] = /^\s*([a-z_A-Z]+)\s*[=:]\s*"?([^"]*)"?\s*$/.exec(term) ?? [];
    const field = name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    if (!['reconciling', 'quotaId', 'service', 'contactEmail'].includes(field)) {
      throw wrong('filter', `${term} is not understood.`);
    }
    return (preference: JsonObject) => String(preference[field]) === value;
  });
  return (preference) => tests.every((test) => test(preference));
}

/** By the time of creation, unless another order is asked for. */
function readOrder(orderBy: string): (a: Preference, b: Preference) => number {
  const read = /^\s*(?:(create|update)_?time(?:\s+(asc|desc))?)?\s*$/i.exec(orderBy);
  if (read === null) throw wrong('order_by', `${orderBy} is not understood.`);
  const field = read[1]?.toLowerCase() === 'update' ? 'updateTime' : 'createTime';
  const sign = read[2]?.toLowerCase() === 'desc' ? -1 : 1;
  return (a, b) => sign * (a[field] < b[field] ? -1 : a[field] > b[field] ? 1 : 0);
}

const list: Handler = (call, world) => {
  const { project } = askedIn(call, world);
  const fits = readFilter(call.params['filter'] ?? '');
  const mine = Object.values(preferences(world))
    .filter(({ projectId }) => projectId === project.projectId)
    .sort(readOrder(call.params['orderBy'] ?? ''))
    .map((preference) => shown(world, preference))
    .filter(fits);
  // Pages go by these keys.
  const keyed = mine.map((preference, index) => [String(index).padStart(6, '0'), preference] as const);
  return page(call, 'quotaPreferences', keyed);
};

/** Google grants all, a part, or nothing. Less is always granted. */
const decide: Effect = (args, world) => {
  const preference = preferences(world)[textOf(args['key']) ?? ''];
  if (preference === undefined || preference.turn !== numberOf(args['turn'])) return;
  const { preferred, granted } = preference;
  const isMore = preferred > granted;
  const inFull = !isMore || world.random() < chanceOf(world, 'quotaGranted');
  const inPart = !inFull && world.random() < chanceOf(world, 'quotaPartly');
  const given = inFull ? preferred : inPart ? granted + Math.floor((preferred - granted) / 2) : granted;
  Object.assign(preference, {
    granted: given,
    reconciling: false,
    updateTime: new Date(world.now()).toISOString(),
    stateDetail: inFull
      ? 'The request was approved.'
      : inPart
        ? 'The request was partially approved.'
        : 'The request was denied. Please wait 48h or until your billing account has additional history.',
  });
  if (given !== granted) {
    const region = isGlobalMetric(preference.metric) ? 'global' : (preference.dimensions['region'] ?? '*');
    grantQuota(world, preference.projectId, region, preference.metric, given);
  }
};

// --- the table ------------------------------------------------------------------------------------------------------

const verbs: Readonly<Record<string, readonly [handler: Handler, permission: string]>> = {
  'services.quotaInfos.get': [getInfo, 'cloudquotas.quotas.get'],
  'services.quotaInfos.list': [listInfos, 'cloudquotas.quotas.get'],
  'quotaPreferences.create': [create, 'cloudquotas.quotas.update'],
  'quotaPreferences.patch': [patch, 'cloudquotas.quotas.update'],
  'quotaPreferences.get': [get, 'cloudquotas.quotas.get'],
  'quotaPreferences.list': [list, 'cloudquotas.quotas.get'],
};

const methods = Object.entries(verbs).map(([verb, row]) => [`cloudquotas.projects.locations.${verb}`, row] as const);

const onProject = (permission: string) => (call: CloudCall) => [
  { permission, resource: call.resource.split('/').slice(0, 2).join('/') },
];

export const cloudQuotas: ApiDefinition<'cloudquotas'> = {
  api: 'cloudquotas.v1',
  handlers: Object.fromEntries(methods.map(([method, [handler]]) => [method, handler])),
  access: Object.fromEntries(methods.map(([method, [, permission]]) => [method, onProject(permission)])),
  effects: { 'cloudquotas.decided': decide },
};
