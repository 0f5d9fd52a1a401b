/** Compute's health checks: the legacy ones of target pools, and those of regions and of the whole project. */
import { GoogleError, type JsonObject, type Served, type World } from '../kernel/api.js';
import { numberOf, objectOf, textOf, textsOf } from '../kernel/json-fields.js';
import { defineCollection, type Found, type Wanted } from './collection.js';
import {
  type Collection,
  collections,
  held,
  inUse,
  invalid,
  link,
  required,
  serverFields,
  unlink,
} from './resources.js';

const { httpHealthChecks, httpsHealthChecks, healthChecks, targetPools, backendServices } = collections;

/** Google's defaults, in seconds and in answers. */
const times: JsonObject = { checkIntervalSec: 5, timeoutSec: 5, healthyThreshold: 2, unhealthyThreshold: 2 };

function checkTimes(check: JsonObject): void {
  for (const [field, most] of [
    ['checkIntervalSec', 300],
    ['timeoutSec', 300],
    ['healthyThreshold', 10],
    ['unhealthyThreshold', 10],
  ] as const) {
    const value = numberOf(check[field]) ?? 0;
    if (value < 1 || value > most) {
      throw invalid(`resource.${field}`, String(value), `Must be greater than or equal to 1 and at most ${most}.`);
    }
  }
  if ((numberOf(check['timeoutSec']) ?? 0) > (numberOf(check['checkIntervalSec']) ?? 0)) {
    const why = 'TimeoutSec should be less than or equal checkIntervalSec.';
    throw invalid('resource.timeoutSec', String(check['timeoutSec']), why);
  }
}

function checkPort(value: unknown, field: string): void {
  const port = Number(value);
  if (port < 1 || port > 65535)
    throw invalid(field, String(value), 'Must be greater than or equal to 1 and at most 65535.');
}

/** Clients send unset fields as 0 and `""`. */
const withoutEmpty = (body: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([, value]) => value !== 0 && value !== ''));

const kept = ({ kind, id, creationTimestamp, selfLink, name, region }: JsonObject): JsonObject => ({
  ...({ kind, id, creationTimestamp, selfLink, name } as JsonObject),
  ...(region === undefined ? {} : { region }),
});

// --- legacy ---------------------------------------------------------------------------------------------------------

const legacyOf =
  (port: number) =>
  (body: JsonObject): JsonObject => {
    const check = { host: '', requestPath: '/', port, ...times, ...withoutEmpty(body) };
    checkTimes(check);
    checkPort(check.port, 'resource.port');
    if (!String(check.requestPath).startsWith('/')) {
      throw invalid('resource.requestPath', String(check.requestPath), 'Must begin with a slash.');
    }
    return check;
  };

/** A target pool keeps the health check that it names. */
const checkPools =
  (noun: string) =>
  ({ path }: Found, world: World): void => {
    for (const [at, { resource }] of Object.entries(held(world, targetPools))) {
      if (textsOf(resource['healthChecks']).some((one) => unlink(one) === path)) throw inUse(noun, path, at);
    }
  };

function legacy(of: Collection, port: number, noun: string): Served {
  const filled = legacyOf(port);
  return defineCollection({
    of,
    make: ({ call, path }, world) => ({ ...filled(call.body), ...serverFields(path, of, world) }),
    changes: {
      patch: ({ found: { resource } }, body) => ({ ...filled({ ...resource, ...body }), ...kept(resource) }),
      update: ({ found: { resource } }, body) => ({ ...filled(body), ...kept(resource) }),
    },
    beforeDelete: checkPools(noun),
  });
}

// --- today's --------------------------------------------------------------------------------------------------------

/** The message of each type, and its port by default. */
const kinds: Readonly<Record<string, readonly [field: string, port: number | undefined]>> = {
  HTTP: ['httpHealthCheck', 80],
  HTTPS: ['httpsHealthCheck', 443],
  HTTP2: ['http2HealthCheck', 443],
  TCP: ['tcpHealthCheck', 80],
  SSL: ['sslHealthCheck', 443],
  GRPC: ['grpcHealthCheck', undefined],
  GRPC_WITH_TLS: ['grpcTlsHealthCheck', undefined],
};

function checkOf(body: JsonObject): JsonObject {
  const type = textOf(body['type']);
  const [field, port] = kinds[type ?? ''] ?? [];
  if (type === undefined || field === undefined) throw required('resource.type');
  for (const [other] of Object.values(kinds)) {
    if (other !== field && body[other] !== undefined) {
      throw invalid(`resource.${other}`, '', `The field does not fit the type of the health check, '${type}'.`);
    }
  }
  const given = withoutEmpty(objectOf(body[field]) ?? {});
  const isFixed = given['portSpecification'] === undefined || given['portSpecification'] === 'USE_FIXED_PORT';
  const probe: JsonObject = {
    ...(isFixed && port !== undefined ? { port } : {}),
    ...(field.startsWith('http') ? { requestPath: '/' } : {}),
    ...(field.startsWith('grpc') ? {} : { proxyHeader: 'NONE' }),
    ...given,
  };
  if (probe['port'] !== undefined) checkPort(probe['port'], `resource.${field}.port`);
  const check = { ...times, ...withoutEmpty(body), [field]: probe };
  checkTimes(check);
  return check;
}

function make({ call, path, place }: Wanted, world: World): JsonObject {
  return {
    ...checkOf(call.body),
    ...serverFields(path, healthChecks, world),
    ...(place.region === undefined ? {} : { region: link(`projects/${place.project.projectId}/${place.scope}`) }),
  };
}

/** A patch also merges the message of the type. */
function patched(stands: JsonObject, body: JsonObject): JsonObject {
  const inner = Object.entries(body).map(([field, value]) => {
    const message = objectOf(value);
    return [field, message === undefined ? value : { ...objectOf(stands[field]), ...message }] as const;
  });
  return { ...stands, ...Object.fromEntries(inner) };
}

function checkType({ found: { resource } }: Found, body: JsonObject): void {
  const type = body['type'] ?? resource['type'];
  if (type !== resource['type']) {
    throw new GoogleError(400, 'INVALID_ARGUMENT', 'The type of a health check cannot be changed.', {
      reason: 'invalid',
    });
  }
}

const plain = defineCollection({
  of: healthChecks,
  methodNames: ['healthChecks', 'regionHealthChecks'],
  scope: 'region',
  make,
  changes: {
    patch(at, body) {
      checkType(at, body);
      return { ...checkOf(patched(at.found.resource, body)), ...kept(at.found.resource) };
    },
    update(at, body) {
      checkType(at, body);
      return { ...checkOf(body), ...kept(at.found.resource) };
    },
  },
  beforeDelete({ path }, world) {
    for (const [user, { resource }] of Object.entries(held(world, backendServices))) {
      if (textsOf(resource['healthChecks']).some((one) => unlink(one) === path))
        throw inUse('health_check', path, user);
    }
  },
});

const http = legacy(httpHealthChecks, 80, 'http_health_check');
const https = legacy(httpsHealthChecks, 443, 'https_health_check');

export const servedHealthChecks: Served = {
  handlers: { ...http.handlers, ...https.handlers, ...plain.handlers },
  effects: { ...http.effects, ...https.effects, ...plain.effects },
};
