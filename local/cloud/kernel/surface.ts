/**
 * Reads the surface of Google's APIs from their discovery documents: which method a request means, and with which path
 * parameters. `request-check.ts` and `reply-check.ts` check the shapes of requests and replies.
 */
import { readFileSync } from 'node:fs';
import type { ApiName } from './api.js';

export interface Parameter {
  readonly type: string;
  readonly location: 'path' | 'query';
  readonly required?: boolean;
  readonly repeated?: boolean;
  readonly pattern?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly minimum?: string;
  readonly maximum?: string;
  readonly description?: string;
}

export interface Schema {
  readonly id?: string;
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly readOnly?: boolean;
  readonly description?: string;
  readonly annotations?: { readonly required?: readonly string[] };
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
}

export interface Method {
  readonly id: string;
  readonly httpMethod: string;
  readonly path: string;
  readonly parameters?: Readonly<Record<string, Parameter>>;
  readonly request?: { readonly $ref: string };
  readonly response?: { readonly $ref: string };
}

interface Resource {
  readonly methods?: Readonly<Record<string, Method>>;
  readonly resources?: Readonly<Record<string, Resource>>;
}

interface Discovery extends Resource {
  readonly rootUrl: string;
  readonly servicePath: string;
  readonly schemas: Readonly<Record<string, Schema>>;
}

interface Template {
  readonly method: Method;
  readonly matcher: RegExp;
  readonly names: readonly string[];
}

export interface Surface {
  readonly api: ApiName;
  /** `compute.googleapis.com`. */
  readonly host: string;
  /** The prefix of its methods' paths: `/compute/v1/`. */
  readonly base: string;
  readonly schemas: Readonly<Record<string, Schema>>;
  readonly methods: ReadonlyMap<string, Method>;
  readonly templates: readonly Template[];
}

/** The build compiles only sources. The documents stay in the checkout. */
const folder = new URL('../../../../local/cloud/discovery/', import.meta.url);

const loaded = new Map<ApiName, Surface>();

export function surfaceOf(api: ApiName): Surface {
  const known = loaded.get(api);
  if (known !== undefined) return known;
  const document = JSON.parse(readFileSync(new URL(`${api}.json`, folder), 'utf8')) as Discovery;
  const methods = methodsIn(document);
  const base = `/${document.servicePath}`;
  const surface: Surface = {
    api,
    host: new URL(document.rootUrl).host,
    base,
    schemas: corrected(document.schemas),
    methods: new Map(methods.map((method) => [method.id, method])),
    templates: methods
      .sort((a, b) => precedence(b) - precedence(a))
      .map((method) => template(base + method.path, method)),
  };
  loaded.set(api, surface);
  return surface;
}

/** The documents are stripped of prose, and that also removed fields named `title`. */
const titled: readonly string[] = ['Expr', 'GoogleTypeExpr', 'GoogleApiServiceusageV1ServiceConfig', 'Role'];

/** Fields that are required of some resources only: "Required for each regional disk". */
const sometimesRequired: readonly (readonly [schema: string, field: string])[] = [
  ['AttachedDiskInitializeParams', 'replicaZones'],
  // The documents say: except when used with UpdateJob.
  ['Job', 'schedule'],
];

/** Fields that the published documents lack and Google takes, with the client that sends them. They change nothing here. */
const unpublished: readonly (readonly [schema: string, field: string, of: Schema, client: string])[] = [
  ['NetworkRoutingConfig', 'deleteBgpAlwaysCompareMed', { type: 'boolean' }, "Terraform's Google provider 8.0"],
  ['RouterNat', 'initialNatIps', { type: 'array', items: { type: 'string' } }, "Terraform's Google provider 8.0"],
];

function corrected(schemas: Readonly<Record<string, Schema>>): Readonly<Record<string, Schema>> {
  const all: Record<string, Schema> = { ...schemas };
  for (const name of titled) {
    const schema = all[name];
    if (schema !== undefined) {
      all[name] = { ...schema, properties: { ...schema.properties, title: { type: 'string' } } };
    }
  }
  for (const [name, field] of sometimesRequired) {
    const schema = all[name];
    const { description: _, ...optional } = schema?.properties?.[field] ?? {};
    if (schema !== undefined) all[name] = { ...schema, properties: { ...schema.properties, [field]: optional } };
  }
  for (const [name, field, of] of unpublished) {
    const schema = all[name];
    if (schema !== undefined) {
      all[name] = { ...schema, properties: { ...schema.properties, [field]: { ...of, readOnly: true } } };
    }
  }
  return all;
}

const methodsIn = (resource: Resource): Method[] => [
  ...Object.values(resource.methods ?? {}),
  ...Object.values(resource.resources ?? {}).flatMap(methodsIn),
];

/** Custom verbs come before names that would swallow them. Then the path with more literal text wins. */
function precedence({ path }: Method): number {
  const literal = path.replaceAll(/\{[^}]*\}/g, '').length;
  return (/:\w+$/.test(path) ? 1000 : 0) + literal;
}

function template(path: string, method: Method): Template {
  const names: string[] = [];
  const source = path
    .split(/(\{[^}]*\})/)
    .map((part) => {
      if (!part.startsWith('{')) return part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
      const reserved = part.startsWith('{+');
      const name = part.slice(reserved ? 2 : 1, -1);
      names.push(name);
      if (!reserved) return '([^/:]+(?::[^/:]+)*?)';
      const pattern = method.parameters?.[name]?.pattern?.replace(/^\^/, '').replace(/\$$/, '');
      return pattern === undefined ? '(.+?)' : `(${pattern.replaceAll(/\((?!\?)/g, '(?:')})`;
    })
    .join('');
  return { method, matcher: new RegExp(`^${source}$`), names };
}

export interface Route {
  readonly method: Method;
  readonly params: Readonly<Record<string, string>>;
}

/** The method that a request line means. Undefined if the API has none. Google answers that with a bare 404. */
export function route(surface: Surface, httpMethod: string, path: string): Route | undefined {
  for (const { method, matcher, names } of surface.templates) {
    if (method.httpMethod !== httpMethod) continue;
    const match = matcher.exec(path);
    if (match === null) continue;
    const params = Object.fromEntries(names.map((name, i) => [name, decode(match[i + 1] ?? '')]));
    return { method, params };
  }
  return undefined;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The resource that a path names: `projects/p/zones/z/instances/i`. The custom verb of its template is not part of the name. */
export function resourceIn(path: string, template = path): string {
  const at = /\/((?:projects|folders|organizations|billingAccounts)\/.+)$/.exec(decode(path));
  const verb = /:\w+$/.exec(template)?.[0] ?? '';
  return at?.[1]?.slice(0, verb === '' ? undefined : -verb.length) ?? '';
}
