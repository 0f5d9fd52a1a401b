/** Tells what Google has and the simulation lacks, for a request that no simulated API knows. */
import type { Apis } from './api.js';
import { knownComputeMethods, knownServices } from './known.js';

/** The missing thing: `method compute.acceleratorTypes.list`. Undefined if Google has no such thing either. */
export function limitOf(apis: Apis, host: string, httpMethod: string, path: string): string | undefined {
  if (!Object.hasOwn(apis, host)) return Object.hasOwn(knownServices(), host) ? `service ${host}` : undefined;
  const version = otherVersion(host, path);
  if (version !== undefined) return `version ${version} of ${host}`;
  const method = host === 'compute' ? computeMethod(httpMethod, path) : undefined;
  return method === undefined ? undefined : `method ${method}`;
}

/** A version of a simulated service that Google has and nothing here serves. */
function otherVersion(host: string, path: string): string | undefined {
  const [, first = '', second = ''] = path.split('/');
  const version = first === host ? second : first;
  const known = (knownServices()[host] ?? '').split(' ');
  return version !== 'v1' && known.includes(version) ? version : undefined;
}

const verbs: Readonly<Record<string, string>> = {
  GET: 'get',
  DELETE: 'delete',
  PATCH: 'patch',
  PUT: 'update',
};

/** Collections of a scope have its name in front in method ids: `regionBackendServices`. */
const prefixes: Readonly<Record<string, readonly string[]>> = {
  global: ['global', ''],
  regions: ['region', ''],
  zones: ['', 'zone'],
  aggregated: ['', 'region', 'global'],
  organization: ['globalOrganization', 'organization', ''],
  project: [''],
};

/** Google's method for a path of compute. Its document here holds no paths of these, so their form stands for it. */
function computeMethod(httpMethod: string, path: string): string | undefined {
  const [, scope = '', inner = ''] =
    /^\/compute\/v1\/(?:projects\/[^/]+|locations\/(?=global))\/?(global|aggregated|regions\/[^/]+|zones\/[^/]+)\/(.+)$/.exec(
      path,
    ) ?? [];
  if (inner === '') return projectMethod(httpMethod, path);
  const kind = path.startsWith('/compute/v1/locations/') ? 'organization' : (scope.split('/')[0] ?? '');
  const segments = inner.split('/');
  // A collection inside a resource: `reservations/r/reservationBlocks/b`.
  const depth = segments.length > 2 && collection(kind, segments[2] ?? '', httpMethod, segments.slice(3)) ? 2 : 0;
  return collection(kind, segments[depth] ?? '', httpMethod, segments.slice(depth + 1));
}

function projectMethod(httpMethod: string, path: string): string | undefined {
  const [, verb = ''] = /^\/compute\/v1\/projects\/[^/]+\/(\w+)$/.exec(path) ?? [];
  return httpMethod === 'POST' || verb.startsWith('get') ? known('projects', verb) : undefined;
}

function collection(
  kind: string,
  segment: string,
  httpMethod: string,
  [name, verb]: readonly string[],
): string | undefined {
  const wanted =
    kind === 'aggregated'
      ? ['aggregatedList']
      : verb !== undefined
        ? [verb]
        : name === undefined
          ? [httpMethod === 'GET' ? 'list' : 'insert']
          : [...(httpMethod === 'POST' ? [name] : [verbs[httpMethod] ?? '']), ...(httpMethod === 'GET' ? [name] : [])];
  const names = (prefixes[kind] ?? []).map((prefix) =>
    prefix === '' ? segment : `${prefix}${segment.charAt(0).toUpperCase()}${segment.slice(1)}`,
  );
  return names.flatMap((each) => wanted.map((one) => known(each, one))).find((id) => id !== undefined);
}

function known(name: string, verb: string): string | undefined {
  const methods = Object.hasOwn(knownComputeMethods(), name) ? (knownComputeMethods()[name] ?? '') : '';
  return methods.split(' ').includes(verb) ? `compute.${name}.${verb}` : undefined;
}
