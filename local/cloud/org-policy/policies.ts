/** Organization policies as records: what is set on a resource, what comes from above it, and what is enforced. */
import { createHash } from 'node:crypto';
import { lineage } from '../iam/lineage.js';
import type { JsonObject, World } from '../kernel/api.js';
import { flagOf, objectOf, objectsOf, textsOf } from '../kernel/json-fields.js';
import { type ConstraintName, constraintNames, constraintOf } from '../worlds/constraints.js';
import { delayOf, worldSettings } from '../worlds/settings.js';

export interface PolicyContent {
  readonly spec?: JsonObject | undefined;
  readonly dryRunSpec?: JsonObject | undefined;
}

export interface PolicyRecord {
  constraint: ConstraintName;
  /** What the API shows. Undefined once the policy is deleted. */
  shown?: (PolicyContent & { readonly etag: string }) | undefined;
  /** What methods look at. A change reaches it after a while. */
  enforced?: JsonObject | undefined;
  coming: { at: number; spec?: JsonObject | undefined }[];
}

/** What holds on a resource. Values that are denied win over those that are allowed. */
export type Effective =
  | { readonly kind: 'boolean'; readonly enforced: boolean }
  | {
      readonly kind: 'list';
      readonly all?: 'ALLOW' | 'DENY';
      readonly allowed: readonly string[];
      readonly denied: readonly string[];
    };

const records = (world: World): Record<string, PolicyRecord> => world.table<PolicyRecord>('orgpolicy.policies');

const keyOf = (resource: string, constraint: string): string => `${resource}/policies/${constraint}`;

export const recordAt = (world: World, resource: string, constraint: string): PolicyRecord | undefined =>
  records(world)[keyOf(resource, constraint)];

/** The policies that are set on this resource itself. */
export const recordsOn = (world: World, resource: string): PolicyRecord[] =>
  constraintNames.flatMap((constraint) => {
    const record = recordAt(world, resource, constraint);
    return record?.shown === undefined ? [] : [record];
  });

/** Whether nothing anywhere says a word about the constraint. Most calls end here. */
const isUnset = (world: World, constraint: ConstraintName): boolean => {
  const ending = `/policies/${constraint}`;
  for (const key in records(world)) if (key.endsWith(ending)) return false;
  return true;
};

/** Sets or deletes a policy. It is shown at once, and enforced up to 15 minutes later. */
export function writePolicyRecord(
  world: World,
  resource: string,
  constraint: ConstraintName,
  content: PolicyContent | undefined,
  options: { readonly atOnce?: boolean } = {},
): PolicyRecord {
  const record = records(world)[keyOf(resource, constraint)] ?? { constraint, coming: [] };
  records(world)[keyOf(resource, constraint)] = record;
  const spec = content?.spec;
  const etag = `C${Buffer.from(world.id()).toString('base64').slice(0, 22)}=`;
  record.shown = content === undefined ? undefined : { ...content, etag };
  if (options.atOnce === true) {
    record.coming = [];
    record.enforced = spec;
  } else {
    const wait = world.scaled(delayOf(world, 'orgPolicy')) * (0.1 + 0.9 * world.random());
    record.coming.push({ at: world.now() + wait, ...(spec === undefined ? {} : { spec }) });
  }
  return record;
}

function enforcedIn(world: World, record: PolicyRecord): JsonObject | undefined {
  for (let next = record.coming[0]; next !== undefined && next.at <= world.now(); next = record.coming[0]) {
    record.enforced = next.spec;
    record.coming.shift();
  }
  return record.enforced;
}

/** The project, its folders and its organization: where policies can be set. */
const placesAbove = (world: World, resource: string): string[] =>
  lineage(world, resource).filter((name) => /^(projects|folders|organizations)\/[^/]+$/.test(name));

const byDefault = (constraint: ConstraintName): Effective => {
  const { kind, default: standing } = constraintOf(constraint);
  return kind === 'boolean'
    ? { kind, enforced: standing === 'DENY' }
    : { kind, all: standing, allowed: [], denied: [] };
};

/**
 * The policy that holds on a resource. The nearest one decides, and takes in those above it where it says so.
 *
 * `shown`: as the API tells it. `enforced`: as methods feel it.
 */
export function effectiveOn(
  world: World,
  resource: string,
  constraint: ConstraintName,
  view: 'shown' | 'enforced' = 'enforced',
): Effective {
  if (isUnset(world, constraint)) return byDefault(constraint);
  return merged(world, placesAbove(world, resource), constraint, view);
}

function merged(
  world: World,
  places: readonly string[],
  constraint: ConstraintName,
  view: 'shown' | 'enforced',
): Effective {
  const [nearest, ...above] = places;
  if (nearest === undefined) return byDefault(constraint);
  const record = recordAt(world, nearest, constraint);
  const spec = record === undefined ? undefined : view === 'shown' ? record.shown?.spec : enforcedIn(world, record);
  if (spec === undefined) return merged(world, above, constraint, view);
  if (spec['reset'] === true) return byDefault(constraint);
  const own = readSpec(spec, constraint);
  if (own.kind === 'boolean' || spec['inheritFromParent'] !== true) return own;
  const parent = merged(world, above, constraint, view);
  return parent.kind === 'boolean' ? own : union(own, parent);
}

function readSpec(spec: JsonObject, constraint: ConstraintName): Effective {
  const rules = objectsOf(spec['rules']);
  if (constraintOf(constraint).kind === 'boolean') {
    return { kind: 'boolean', enforced: rules.some((rule) => flagOf(rule['enforce']) === true) };
  }
  const values = rules.map((rule) => objectOf(rule['values']));
  const allowed = values.flatMap((each) => textsOf(each?.['allowedValues']));
  const denied = values.flatMap((each) => textsOf(each?.['deniedValues']));
  if (rules.some((rule) => rule['denyAll'] === true)) return { kind: 'list', all: 'DENY', allowed: [], denied: [] };
  const isOpen = rules.some((rule) => rule['allowAll'] === true);
  return { kind: 'list', ...(isOpen ? { all: 'ALLOW' as const } : {}), allowed, denied };
}

/** Whether a policy above depends on tags, which are not simulated. */
export const isConditional = (world: World, resource: string, constraint: ConstraintName): boolean =>
  placesAbove(world, resource).some((place) =>
    objectsOf(recordAt(world, place, constraint)?.shown?.spec?.['rules']).some(
      (rule) => rule['condition'] !== undefined,
    ),
  );

type ListPolicy = Extract<Effective, { kind: 'list' }>;

function union(own: ListPolicy, parent: ListPolicy): ListPolicy {
  if (own.all === 'DENY' || parent.all === 'DENY') return { kind: 'list', all: 'DENY', allowed: [], denied: [] };
  const both = (a: readonly string[], b: readonly string[]) => [...new Set([...a, ...b])];
  const allowed = both(parent.allowed, own.allowed);
  const isOpen = own.all === 'ALLOW' || (parent.all === 'ALLOW' && allowed.length === 0);
  return {
    kind: 'list',
    ...(isOpen ? { all: 'ALLOW' as const } : {}),
    allowed,
    denied: both(parent.denied, own.denied),
  };
}

/** The policy in the form of the API. */
export function specOf(effective: Effective): JsonObject {
  if (effective.kind === 'boolean') return { rules: [{ enforce: effective.enforced }] };
  const { all, allowed, denied } = effective;
  const values: JsonObject = {
    ...(allowed.length === 0 ? {} : { allowedValues: [...allowed] }),
    ...(denied.length === 0 ? {} : { deniedValues: [...denied] }),
  };
  const rules: JsonObject[] = [
    ...(all === undefined ? [] : [all === 'ALLOW' ? { allowAll: true } : { denyAll: true }]),
    ...(Object.keys(values).length === 0 ? [] : [{ values }]),
  ];
  return { rules };
}

/** Whether a list policy lets a value pass. `fits` compares it with one value of the policy. */
export function allows(effective: Effective, fits: (pattern: string) => boolean): boolean {
  if (effective.kind === 'boolean') return !effective.enforced;
  const { all, allowed, denied } = effective;
  if (all === 'DENY' || denied.some(fits)) return false;
  return all === 'ALLOW' || allowed.length === 0 || allowed.some(fits);
}

export const isEnforced = (world: World, resource: string, constraint: ConstraintName): boolean => {
  const effective = effectiveOn(world, resource, constraint);
  return effective.kind === 'boolean' && effective.enforced;
};

/** The customer id of an organization, which domain restriction names: `C0` and seven characters. */
export const customerOf = (organization: string): string =>
  `C0${createHash('sha256').update(organization).digest('hex').slice(0, 7)}`;

/** The rules of a policy that is written in one line. Undefined for `off`. */
function specOfText(text: string, organization: string): JsonObject | undefined {
  if (text === 'off') return undefined;
  if (text === 'enforced') return { rules: [{ enforce: true }] };
  if (text === 'allow-all' || text === 'deny-all') {
    return { rules: [text === 'allow-all' ? { allowAll: true } : { denyAll: true }] };
  }
  const [kind = '', ...rest] = text.split(':');
  const values = rest
    .join(':')
    .split(',')
    .map((value) => (value === 'own' ? customerOf(organization) : value));
  return { rules: [{ values: { [kind === 'allow' ? 'allowedValues' : 'deniedValues']: values } }] };
}

/** Writes the world's policies on every organization, in force at once. Without names: all of them. */
export function writeWorldPolicies(world: World, names: readonly ConstraintName[] = constraintNames): void {
  const settings = worldSettings(world);
  const organizations = Object.keys(world.table('containers')).filter((name) => name.startsWith('organizations/'));
  for (const organization of organizations) {
    for (const name of names) {
      const spec = specOfText(String(settings[`policy.${name}`]), organization);
      if (spec === undefined && recordAt(world, organization, name) === undefined) continue;
      const updateTime = new Date(world.now()).toISOString();
      const content = spec === undefined ? undefined : { spec: { ...spec, updateTime } };
      writePolicyRecord(world, organization, name, content, { atOnce: true });
    }
  }
}
