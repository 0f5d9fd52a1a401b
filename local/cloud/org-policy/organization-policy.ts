/** Organization Policy v2: policies of projects, folders and organizations, what they come to, and the constraints. */
import {
  type ApiDefinition,
  type CloudCall,
  GoogleError,
  type Handler,
  type JsonObject,
  type World,
} from '../kernel/api.js';
import { badRequest, notSimulated } from '../kernel/errors.js';
import { numberOf, objectOf, objectsOf, textOf, textsOf } from '../kernel/json-fields.js';
import { pageOf } from '../kernel/pages.js';
import { lookUpProject, withProjectId } from '../kernel/projects.js';
import { type ConstraintName, constraintNames, constraintOf, isConstraint } from '../worlds/constraints.js';
import {
  effectiveOn,
  isConditional,
  type PolicyRecord,
  recordAt,
  recordsOn,
  specOf,
  writePolicyRecord,
} from './policies.js';

/** `projects/<number>`, or the folder or organization itself: how replies name it. */
const shownPlace = (world: World, place: string): string => {
  const [kind, id = ''] = place.split('/');
  return kind === 'projects' ? `projects/${lookUpProject(world, id)?.projectNumber ?? id}` : place;
};

const wrong = (field: string, description: string): GoogleError =>
  badRequest('Request contains an invalid argument.', field, description);

const missing = (): GoogleError => new GoogleError(404, 'NOT_FOUND', 'Requested entity was not found.');

function constraintIn(name: string): ConstraintName {
  if (name.startsWith('custom.')) throw notSimulated('custom constraints');
  if (!isConstraint(name)) throw wrong('name', `Unknown constraint: constraints/${name}`);
  return name;
}

/** `projects/p/policies/c` → its place by id, and the constraint. */
function policyIn(world: World, name: string): { place: string; constraint: ConstraintName } {
  const [, place, constraint] = /^((?:projects|folders|organizations)\/[^/]+)\/policies\/([^/]+)$/.exec(name) ?? [];
  if (place === undefined || constraint === undefined) throw wrong('name', `${name} is not the name of a policy.`);
  return { place: placeIn(world, place), constraint: constraintIn(constraint) };
}

function placeIn(world: World, place: string): string {
  if (place.startsWith('projects/')) return `projects/${world.project(place.slice('projects/'.length)).projectId}`;
  if (world.table('containers')[place] === undefined) throw missing();
  return withProjectId(world, place);
}

const shown = (world: World, place: string, { constraint, shown: content }: PolicyRecord): JsonObject => ({
  name: `${shownPlace(world, place)}/policies/${constraint}`,
  ...(content?.spec === undefined ? {} : { spec: { ...content.spec, etag: content.etag } }),
  ...(content?.dryRunSpec === undefined ? {} : { dryRunSpec: { ...content.dryRunSpec, etag: content.etag } }),
  ...(content === undefined ? {} : { etag: content.etag }),
});

function standing(world: World, place: string, constraint: ConstraintName): PolicyRecord {
  const record = recordAt(world, place, constraint);
  if (record?.shown === undefined) throw missing();
  return record;
}

// --- what a policy may say ------------------------------------------------------------------------------------------

function checkRule(rule: JsonObject, constraint: ConstraintName, field: string): void {
  if (rule['condition'] !== undefined || rule['parameters'] !== undefined) {
    throw notSimulated('conditions and parameters of organization policies');
  }
  const { kind, prefixes = [] } = constraintOf(constraint);
  const kinds = ['values', 'allowAll', 'denyAll', 'enforce'].filter((key) => rule[key] !== undefined);
  const fits = kind === 'boolean' ? ['enforce'] : ['values', 'allowAll', 'denyAll'];
  if (kinds.length !== 1 || !fits.includes(kinds[0] ?? '')) {
    throw wrong(field, `A rule of a ${kind} constraint has exactly one of ${fits.join(', ')}.`);
  }
  const values = objectOf(rule['values']);
  for (const value of [...textsOf(values?.['allowedValues']), ...textsOf(values?.['deniedValues'])]) {
    const prefix = /^(in|under):/.exec(value)?.[1] as 'in' | 'under' | undefined;
    if (prefix !== undefined && !prefixes.includes(prefix)) {
      throw wrong(`${field}.values`, `constraints/${constraint} does not support the prefix ${prefix}:`);
    }
  }
}

/** Returns the spec as it is kept. */
function checkedSpec(
  spec: JsonObject | undefined,
  constraint: ConstraintName,
  field: string,
  world: World,
): JsonObject | undefined {
  if (spec === undefined) return undefined;
  const rules = objectsOf(spec['rules']);
  const inherits = spec['inheritFromParent'] === true;
  if (spec['reset'] === true && (rules.length > 0 || inherits)) {
    throw wrong(field, 'reset allows neither rules nor inheritFromParent.');
  }
  if (inherits && constraintOf(constraint).kind === 'boolean') {
    throw wrong(`${field}.inherit_from_parent`, 'Only policies of list constraints inherit.');
  }
  if (rules.length > 10) throw wrong(`${field}.rules`, 'A policy has at most 10 rules.');
  for (const [index, rule] of rules.entries()) checkRule(rule, constraint, `${field}.rules[${index}]`);
  const { etag: _etag, ...kept } = spec;
  return { ...kept, updateTime: new Date(world.now()).toISOString() };
}

function checkEtag(given: string | undefined, record: PolicyRecord): void {
  if (given === undefined || given === '') return;
  const bytes = (text: string | undefined) => Buffer.from(text ?? '', 'base64');
  if (bytes(given).equals(bytes(record.shown?.etag))) return;
  throw new GoogleError(
    409,
    'ABORTED',
    'There were concurrent policy changes. Please retry the whole read-modify-write with exponential backoff.',
  );
}

function checkContent(body: JsonObject): void {
  if (body['alternate'] !== undefined) throw notSimulated('the deprecated field alternate');
  if (body['spec'] === undefined && body['dryRunSpec'] === undefined) {
    throw wrong('policy.spec', 'A policy has a spec or a dry run spec.');
  }
}

// --- methods --------------------------------------------------------------------------------------------------------

const parentIn = (call: CloudCall, world: World): string => placeIn(world, call.params['parent'] ?? '');

const create: Handler = (call, world) => {
  const place = parentIn(call, world);
  const named = policyIn(world, textOf(call.body['name']) ?? '');
  if (named.place !== place) throw wrong('policy.name', 'The policy must be beneath the parent.');
  checkContent(call.body);
  const { constraint } = named;
  const content = contentOf(call.body, constraint, world);
  if (recordAt(world, place, constraint)?.shown !== undefined) {
    throw new GoogleError(409, 'ALREADY_EXISTS', 'Requested entity already exists');
  }
  return shown(world, place, writePolicyRecord(world, place, constraint, content));
};

const contentOf = (body: JsonObject, constraint: ConstraintName, world: World) => ({
  spec: checkedSpec(objectOf(body['spec']), constraint, 'policy.spec', world),
  dryRunSpec: checkedSpec(objectOf(body['dryRunSpec']), constraint, 'policy.dry_run_spec', world),
});

const masks: Readonly<Record<string, readonly ('spec' | 'dryRunSpec')[]>> = {
  '': ['spec', 'dryRunSpec'],
  '*': ['spec', 'dryRunSpec'],
  spec: ['spec'],
  'policy.spec': ['spec'],
  dryRunSpec: ['dryRunSpec'],
  dry_run_spec: ['dryRunSpec'],
  'policy.dry_run_spec': ['dryRunSpec'],
  'policy.dryRunSpec': ['dryRunSpec'],
};

const patch: Handler = (call, world) => {
  const { place, constraint } = policyIn(world, call.params['name'] ?? '');
  const record = standing(world, place, constraint);
  const spec = objectOf(call.body['spec']);
  checkEtag(textOf(call.body['etag']) ?? textOf(spec?.['etag']), record);
  const fields = (call.params['updateMask'] ?? '').split(',').flatMap((path) => {
    const found = masks[path];
    if (found === undefined) throw wrong('update_mask', `${path} cannot be updated.`);
    return found;
  });
  const wanted = contentOf(call.body, constraint, world);
  const now = record.shown;
  return shown(
    world,
    place,
    writePolicyRecord(world, place, constraint, {
      spec: fields.includes('spec') ? wanted.spec : now?.spec,
      dryRunSpec: fields.includes('dryRunSpec') ? wanted.dryRunSpec : now?.dryRunSpec,
    }),
  );
};

const remove: Handler = (call, world) => {
  const { place, constraint } = policyIn(world, call.params['name'] ?? '');
  checkEtag(call.params['etag'], standing(world, place, constraint));
  writePolicyRecord(world, place, constraint, undefined);
  return {};
};

const get: Handler = (call, world) => {
  const { place, constraint } = policyIn(world, call.params['name'] ?? '');
  return shown(world, place, standing(world, place, constraint));
};

/** Tells what is set, at once. Methods may still feel the policy before a change. */
const getEffective: Handler = (call, world) => {
  const { place, constraint } = policyIn(world, call.params['name'] ?? '');
  if (isConditional(world, place, constraint)) throw notSimulated('conditions of organization policies');
  const spec = specOf(effectiveOn(world, place, constraint, 'shown'));
  return { name: `${shownPlace(world, place)}/policies/${constraint}`, spec };
};

function page(call: CloudCall, name: string, entries: readonly (readonly [string, JsonObject])[]): JsonObject {
  const { items, nextPageToken } = pageOf(entries, numberOf(call.params['pageSize']), call.params['pageToken']);
  return {
    ...(items.length === 0 ? {} : { [name]: items }),
    ...(nextPageToken === undefined ? {} : { nextPageToken }),
  };
}

const list: Handler = (call, world) => {
  const place = parentIn(call, world);
  const found = recordsOn(world, place);
  return page(
    call,
    'policies',
    found.map((record) => [record.constraint, shown(world, place, record)]),
  );
};

const listConstraints: Handler = (call, world) => {
  const parent = shownPlace(world, parentIn(call, world));
  return page(
    call,
    'constraints',
    constraintNames.map((name): readonly [string, JsonObject] => {
      const { title, kind, default: standing, prefixes = [] } = constraintOf(name);
      const inList = {
        ...(prefixes.includes('in') ? { supportsIn: true } : {}),
        ...(prefixes.includes('under') ? { supportsUnder: true } : {}),
      };
      return [
        name,
        {
          name: `${parent}/constraints/${name}`,
          displayName: title,
          constraintDefault: standing,
          ...(kind === 'boolean' ? { booleanConstraint: {} } : { listConstraint: inList }),
        },
      ];
    }),
  );
};

// --- the table ------------------------------------------------------------------------------------------------------

const verbs: Readonly<Record<string, readonly [handler: Handler, permission: string]>> = {
  'policies.create': [create, 'orgpolicy.policies.create'],
  'policies.patch': [patch, 'orgpolicy.policies.update'],
  'policies.delete': [remove, 'orgpolicy.policies.delete'],
  'policies.get': [get, 'orgpolicy.policy.get'],
  'policies.getEffectivePolicy': [getEffective, 'orgpolicy.policy.get'],
  'policies.list': [list, 'orgpolicy.policies.list'],
  'constraints.list': [listConstraints, 'orgpolicy.constraints.list'],
};

const methods = ['projects', 'folders', 'organizations'].flatMap((kind) =>
  Object.entries(verbs).map(([verb, row]) => [`orgpolicy.${kind}.${verb}`, row] as const),
);

/** Permissions are judged on the project, folder or organization. */
const onPlace = (permission: string) => (call: CloudCall) => [
  { permission, resource: call.resource.split('/').slice(0, 2).join('/') },
];

export const organizationPolicy: ApiDefinition<'orgpolicy'> = {
  api: 'orgpolicy.v2',
  handlers: Object.fromEntries(methods.map(([method, [handler]]) => [method, handler])),
  access: Object.fromEntries(methods.map(([method, [, permission]]) => [method, onPlace(permission)])),
};
