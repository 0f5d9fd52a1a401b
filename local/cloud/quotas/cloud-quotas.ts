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
import { defineCollection, type Place } from '../kernel/collection.js';
import { badRequest, notSimulated } from '../kernel/errors.js';
import { labelsOf, numberOf, objectOf, stampOf, textOf } from '../kernel/json-fields.js';
import { regions } from '../kernel/places.js';
import { chanceOf, delayOf } from '../worlds/settings.js';
import { grantQuota } from './granted.js';

const service = 'compute.googleapis.com';

interface Preference {
  /** With the project's number, as clients see it. */
  name: string;
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

const metricOf = new Map([...regionalMetrics, ...globalMetrics].map((metric) => [quotaIdOf(metric), metric]));

const wrong = (field: string, description: string): GoogleError =>
  badRequest('Request contains an invalid argument.', field, description);

const missing = (): GoogleError => new GoogleError(404, 'NOT_FOUND', 'Requested entity was not found.');

const projectIn = (path: string, world: World): ProjectRecord => world.project(path.split('/')[1] ?? '');

// --- infos ----------------------------------------------------------------------------------------------------------

function infoOf(world: World, project: ProjectRecord, metric: Metric): JsonObject {
  const isGlobal = isGlobalMetric(metric);
  const row = (region: string | undefined): JsonObject => ({
    ...(region === undefined ? {} : { dimensions: { region } }),
    details: { value: String(limitOf(world, { project, region }, metric)) },
    applicableLocations: [region ?? 'global'],
  });
  const quotaId = quotaIdOf(metric);
  const isEligible = project.billingAccountName !== undefined;
  return {
    name: `projects/${project.projectNumber}/locations/global/services/${service}/quotaInfos/${quotaId}`,
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

const getInfo: Handler = ({ resource }, world) => {
  const [, location, asked = '', quotaId = ''] =
    /\/locations\/([^/]+)\/services\/([^/]+)\/quotaInfos\/([^/]+)$/.exec(resource) ?? [];
  if (location !== 'global') throw wrong('name', 'The location must be global.');
  if (world.services[asked] === undefined) throw missing();
  if (asked !== service) throw notSimulated(`quotas of services other than ${service}`);
  const metric = metricOf.get(quotaId);
  if (metric === undefined) throw missing();
  return infoOf(world, projectIn(resource, world), metric);
};

// --- preferences ----------------------------------------------------------------------------------------------------

const shown = (preference: Preference): JsonObject => ({
  name: preference.name,
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

interface Wish
  extends Pick<Preference, 'quotaId' | 'metric' | 'dimensions' | 'preferred' | 'contactEmail' | 'justification'> {
  /** The limit at present. */
  readonly current: number;
}

/** Checks a request for quota against what there is. */
function wishIn(body: JsonObject, { lists }: CloudCall, world: World, project: ProjectRecord): Wish {
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
  if (preferred < current * 0.9 && !lists['ignoreSafetyChecks']?.includes('QUOTA_DECREASE_PERCENTAGE_TOO_HIGH')) {
    throw new GoogleError(
      400,
      'FAILED_PRECONDITION',
      'The quota decrease is more than 10 percent. Set ignore_safety_checks to QUOTA_DECREASE_PERCENTAGE_TOO_HIGH to go on.',
    );
  }
  const justification = textOf(body['justification']) ?? '';
  return { quotaId, metric, dimensions, preferred, current, contactEmail, justification };
}

const freshEtag = (world: World): string => `W/"${world.id()}"`;

/** Begins a request. What is granted so far stays until the decision. */
function begin(world: World, { path, numbered }: Place, { current, ...wanted }: Wish, before?: Preference): Preference {
  const now = stampOf(world);
  const turn = (before?.turn ?? 0) + 1;
  world.schedule(delayOf(world, 'quotaDecision'), 'cloudquotas.decided', { path, turn });
  return {
    ...wanted,
    name: numbered,
    granted: current,
    stateDetail: 'The request is being reviewed.',
    reconciling: true,
    etag: freshEtag(world),
    createTime: before?.createTime ?? now,
    updateTime: now,
    turn,
  };
}

const exists = (): GoogleError => new GoogleError(409, 'ALREADY_EXISTS', 'Requested entity already exists');

function idIn({ params, body }: CloudCall, _place: Place, world: World): string {
  const id = params['quotaPreferenceId'] ?? `${String(body['quotaId']).toLowerCase()}-${world.id()}`;
  if (!/^[a-z0-9_-]{1,128}$/i.test(id)) throw wrong('quota_preference_id', `${id} is no valid id.`);
  return id;
}

const preferences = defineCollection<Preference>({
  methods: 'cloudquotas.projects.locations.quotaPreferences',
  table: 'cloudquotas.preferences',
  shown,
  missing,
  checkParent({ parent }) {
    if (!parent.endsWith('/locations/global')) throw wrong('name', 'The location must be global.');
  },
  etag: {
    fresh: freshEtag,
    check(given, current) {
      if (given === current) return;
      throw new GoogleError(409, 'ABORTED', 'The etag does not match the current etag of the quota preference.');
    },
  },
  create: {
    id: idIn,
    exists,
    make(place, call, world) {
      const wish = wishIn(call.body, call, world, projectIn(place.path, world));
      const isAsked = Object.entries(preferences.records(world)).some(
        ([path, { quotaId, dimensions }]) =>
          path.startsWith(`${place.parent}/`) &&
          quotaId === wish.quotaId &&
          dimensions['region'] === wish.dimensions['region'],
      );
      if (isAsked) throw exists();
      return begin(world, place, wish);
    },
  },
  list: {
    field: 'quotaPreferences',
    keeps({ params }) {
      const asked = ['filter', 'orderBy'].find((name) => (params[name] ?? '') !== '');
      if (asked !== undefined) throw notSimulated(`${asked} of quota preferences`);
      return () => true;
    },
  },
  patch: {
    fields: ['quotaConfig', 'dimensions', 'contactEmail', 'justification', 'etag'],
    fixed: (field) => wrong('quota_preference', `${field} of a quota preference cannot be changed.`),
    write({ record, ...place }, changed, call, world) {
      if (call.params['validateOnly'] === 'true') throw notSimulated('validate_only of quota preferences');
      Object.assign(record, begin(world, place, wishIn(changed, call, world, projectIn(place.path, world)), record));
    },
  },
});

/** Google grants all, a part, or nothing. Less is always granted. */
const decide: Effect = (args, world) => {
  const path = textOf(args['path']) ?? '';
  const preference = preferences.records(world)[path];
  if (preference === undefined || preference.turn !== numberOf(args['turn'])) return;
  const { preferred, granted } = preference;
  const isMore = preferred > granted;
  const inFull = !isMore || world.random() < chanceOf(world, 'quotaGranted');
  const inPart = !inFull && world.random() < chanceOf(world, 'quotaPartly');
  const given = inFull ? preferred : inPart ? granted + Math.floor((preferred - granted) / 2) : granted;
  Object.assign(preference, {
    granted: given,
    reconciling: false,
    updateTime: stampOf(world),
    stateDetail: inFull
      ? 'The request was approved.'
      : inPart
        ? 'The request was partially approved.'
        : 'The request was denied. Please wait 48h or until your billing account has additional history.',
  });
  if (given !== granted) {
    const region = isGlobalMetric(preference.metric) ? 'global' : (preference.dimensions['region'] ?? '*');
    grantQuota(world, path.split('/')[1] ?? '', region, preference.metric, given);
  }
};

// --- the table ------------------------------------------------------------------------------------------------------

const handlers: Readonly<Record<string, Handler>> = {
  ...preferences.handlers,
  'cloudquotas.projects.locations.services.quotaInfos.get': getInfo,
};

/** All quotas of a project go by two permissions on it. */
const onProject =
  (method: string) =>
  ({ resource }: CloudCall) => [
    {
      permission: `cloudquotas.quotas.${/\.(create|patch)$/.test(method) ? 'update' : 'get'}`,
      resource: resource.split('/').slice(0, 2).join('/'),
    },
  ];

export const cloudQuotas: ApiDefinition<'cloudquotas'> = {
  api: 'cloudquotas.v1',
  handlers,
  access: Object.fromEntries(Object.keys(handlers).map((method) => [method, onProject(method)])),
  effects: { 'cloudquotas.decided': decide },
};
