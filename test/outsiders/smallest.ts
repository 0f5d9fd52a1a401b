/** Makes the smallest valid request of a method from Google's discovery document alone. */
import type { Method, Parameter, Schema, Surface } from '../../local/cloud/kernel/surface.js';
import { project } from '../local-cloud/ready-cloud.js';

/** Names that Google itself gives, by parameter or by the segment of a path before them. */
const names: Readonly<Record<string, string>> = {
  project,
  projects: project,
  projectId: project,
  zone: 'europe-west4-a',
  region: 'europe-west4',
  locations: 'europe-west4',
  folders: '1',
  organizations: '100',
  billingAccounts: '000000-000000-000000',
  services: 'dns.googleapis.com',
};

const inPath = (name: string): string => encodeURIComponent(names[name] ?? 'a1');

export interface Request {
  /** `POST /v1/projects/p/topics/a1:publish?x=y` */
  readonly line: string;
  readonly body: Record<string, unknown> | undefined;
}

/** The path with its base, filled with names that may exist. */
export function pathOf({ base }: Surface, { parameters = {}, path }: Method): string {
  return (
    base +
    path.replaceAll(/\{(\+?)([^}]+)\}/g, (_, reserved: string, name: string) => {
      if (reserved === '') return inPath(name);
      const pattern = (parameters[name]?.pattern ?? '^[^/]+$').replaceAll(/\[\^\/\]\+|\.\*/g, '*');
      const parts = pattern.replaceAll(/[\^$]/g, '').split('/');
      if (parts[0] === '*' && parts.length > 1) parts[0] = 'projects';
      return parts.map((part, i) => (part === '*' ? inPath(parts[i - 1] ?? name) : part)).join('/');
    })
  );
}

const isRequired = (of: Parameter): boolean => of.required === true || of.description?.startsWith('Required') === true;

const textOf = (of: Pick<Parameter, 'enum' | 'format' | 'type'>, name: string): string => {
  if (of.enum !== undefined) return of.enum.find((each) => !each.endsWith('_UNSPECIFIED')) ?? '';
  if (of.type === 'boolean') return 'true';
  if (of.type === 'integer') return '1';
  return names[name] ?? 'a1';
};

function sampleOf(surface: Surface, method: Method, schema: Schema, name: string, depth: number): unknown {
  const resolved = schema.$ref === undefined ? schema : (surface.schemas[schema.$ref] ?? {});
  if (resolved.type === 'array') return [sampleOf(surface, method, resolved.items ?? {}, name, depth)];
  if (resolved.type === 'object') return bodyOf(surface, method, resolved, depth - 1);
  if (resolved.type === 'boolean') return true;
  if (resolved.type === 'integer' || resolved.type === 'number') return 1;
  if (resolved.enum !== undefined) return textOf(resolved as Parameter, name);
  switch (resolved.format) {
    case 'int64':
    case 'uint64':
      return '1';
    case 'byte':
      return 'YQ==';
    case 'google-duration':
      return '600s';
    case 'google-datetime':
      return '2030-01-01T00:00:00Z';
    default:
      return 'a1';
  }
}

/** Required fields alone. */
function bodyOf(surface: Surface, method: Method, schema: Schema, depth: number): Record<string, unknown> {
  const wanted = Object.entries(schema.properties ?? {}).filter(([, field]) => isNeeded(field, method));
  return depth < 0
    ? {}
    : Object.fromEntries(wanted.map(([name, field]) => [name, sampleOf(surface, method, field, name, depth)]));
}

/** Whether the document requires a field of this method. */
export const isNeeded = (field: Schema, { id }: Method): boolean =>
  field.annotations?.required?.includes(id) === true ||
  (field.description?.startsWith('Required') === true && field.readOnly !== true);

export function smallest(surface: Surface, method: Method): Request {
  const query = new URLSearchParams();
  for (const [name, parameter] of Object.entries(method.parameters ?? {})) {
    if (parameter.location === 'query' && isRequired(parameter)) query.append(name, textOf(parameter, name));
  }
  const schema = surface.schemas[method.request?.$ref ?? ''];
  return {
    line: `${method.httpMethod} ${pathOf(surface, method)}${query.size === 0 ? '' : `?${query}`}`,
    body: method.request === undefined ? undefined : bodyOf(surface, method, schema ?? {}, 4),
  };
}
