/** Organization policies: which rules are set where, what they come to on a resource, and what that lets pass. */
import { createHash } from 'node:crypto';
import { lineage } from '../iam/lineage.js';
import type { JsonObject, World } from '../kernel/api.js';
import { flagOf, objectOf, textsOf } from '../kernel/json-fields.js';
import { type ConstraintName, constraintOf } from '../worlds/constraints.js';
import { policySetting } from '../worlds/settings.js';

/** What holds on a resource. Values that are denied win over those that are allowed. */
export type Effective =
  | { readonly kind: 'boolean'; readonly enforced: boolean }
  | {
      readonly kind: 'list';
      readonly all?: 'ALLOW' | 'DENY';
      readonly allowed: readonly string[];
      readonly denied: readonly string[];
    };

interface PolicyRecord {
  readonly rules: JsonObject[];
}

/** Policies of single resources, by resource and constraint. The world's settings are those of every organization. */
const records = (world: World): Record<string, PolicyRecord> => world.table<PolicyRecord>('orgpolicy.rules');

const keyOf = (resource: string, constraint: string): string => `${resource}/policies/${constraint}`;

/** Sets the policy of a project, folder or organization, in force at once. Without rules: removes it. */
export function setOrganizationPolicy(
  world: World,
  resource: string,
  constraint: ConstraintName,
  rules: readonly JsonObject[] | undefined,
): void {
  if (rules === undefined) delete records(world)[keyOf(resource, constraint)];
  else records(world)[keyOf(resource, constraint)] = { rules: [...rules] };
}

/** Whether no policy anywhere names the constraint. Most calls end here. */
function isUnset(world: World, constraint: ConstraintName): boolean {
  if (policySetting(world, constraint) !== 'off') return false;
  const ending = `/policies/${constraint}`;
  for (const key in records(world)) if (key.endsWith(ending)) return false;
  return true;
}

/** The policy that holds on a resource: the nearest one decides. */
export function effectiveOn(world: World, resource: string, constraint: ConstraintName): Effective {
  const rules = isUnset(world, constraint) ? undefined : nearestRules(world, resource, constraint);
  const { kind, default: standing } = constraintOf(constraint);
  if (rules !== undefined) return kind === 'boolean' ? readBoolean(rules) : readList(rules);
  return kind === 'boolean'
    ? { kind, enforced: standing === 'DENY' }
    : { kind, all: standing, allowed: [], denied: [] };
}

function nearestRules(world: World, resource: string, constraint: ConstraintName): readonly JsonObject[] | undefined {
  for (const place of lineage(world, resource)) {
    const record = records(world)[keyOf(place, constraint)];
    if (record !== undefined) return record.rules;
    if (place.startsWith('organizations/')) return rulesOfText(policySetting(world, constraint), place);
  }
  return undefined;
}

/** Whether the policy that holds depends on tags, which are not simulated. */
export const isConditional = (world: World, resource: string, constraint: ConstraintName): boolean =>
  nearestRules(world, resource, constraint)?.some((rule) => rule['condition'] !== undefined) ?? false;

const readBoolean = (rules: readonly JsonObject[]): Effective => ({
  kind: 'boolean',
  enforced: rules.some((rule) => flagOf(rule['enforce']) === true),
});

function readList(rules: readonly JsonObject[]): Effective {
  if (rules.some((rule) => rule['denyAll'] === true)) return { kind: 'list', all: 'DENY', allowed: [], denied: [] };
  const values = rules.map((rule) => objectOf(rule['values']));
  return {
    kind: 'list',
    ...(rules.some((rule) => rule['allowAll'] === true) ? { all: 'ALLOW' as const } : {}),
    allowed: values.flatMap((each) => textsOf(each?.['allowedValues'])),
    denied: values.flatMap((each) => textsOf(each?.['deniedValues'])),
  };
}

/** The rules in the form of the API. */
export function rulesOf(effective: Effective): JsonObject[] {
  if (effective.kind === 'boolean') return [{ enforce: effective.enforced }];
  const { all, allowed, denied } = effective;
  const values: JsonObject = {
    ...(allowed.length === 0 ? {} : { allowedValues: [...allowed] }),
    ...(denied.length === 0 ? {} : { deniedValues: [...denied] }),
  };
  return [
    ...(all === undefined ? [] : [all === 'ALLOW' ? { allowAll: true } : { denyAll: true }]),
    ...(Object.keys(values).length === 0 ? [] : [{ values }]),
  ];
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
function rulesOfText(text: string, organization: string): readonly JsonObject[] | undefined {
  if (text === 'off') return undefined;
  if (text === 'enforced') return [{ enforce: true }];
  if (text === 'allow-all') return [{ allowAll: true }];
  if (text === 'deny-all') return [{ denyAll: true }];
  const [kind = '', ...rest] = text.split(':');
  const values = rest
    .join(':')
    .split(',')
    .map((value) => (value === 'own' ? customerOf(organization) : value));
  return [{ values: { [kind === 'allow' ? 'allowedValues' : 'deniedValues']: values } }];
}
