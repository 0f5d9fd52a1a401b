/** Judges an organization policy in force: what it says, and whether it lets values pass. Pure. */
import type { StepCall } from '../../engine/step.js';

type Effective = Awaited<ReturnType<StepCall['context']['cloud']['orgPolicy']['effective']>>;
type Rules = NonNullable<NonNullable<Effective['spec']>['rules']>;

const rulesOf = ({ spec }: Effective): Rules => spec?.rules ?? [];

/** Google judges conditions before it answers. One that is left depends on tags that nobody knows beforehand. */
export const isConditional = (policy: Effective): boolean =>
  rulesOf(policy).some(({ condition, parameters }) => condition !== undefined || parameters !== undefined);

/** Without a rule nobody has set a policy. None of plinth's constraints is enforced by default. */
export const isEnforced = (policy: Effective): boolean => rulesOf(policy).some(({ enforce }) => enforce === true);

/** Whether a value of the policy means the wanted one. Undefined: that can't be told here. */
export type Fits = (pattern: string) => boolean | undefined;

/** Whether a list policy lets a value pass. What is denied wins over what is allowed. Undefined: that can't be told. */
export function allows(policy: Effective, fits: Fits): boolean | undefined {
  const rules = rulesOf(policy);
  const denied = rules.flatMap(({ values }) => values?.deniedValues ?? []).map(fits);
  const allowed = rules.flatMap(({ values }) => values?.allowedValues ?? []).map(fits);
  if (rules.some(({ denyAll }) => denyAll === true) || denied.includes(true)) return false;
  if (denied.includes(undefined)) return undefined;
  if (allowed.length === 0 || rules.some(({ allowAll }) => allowAll === true) || allowed.includes(true)) return true;
  return allowed.includes(undefined) ? undefined : false;
}

/** The policy for people: `enforced`, `deny all`, `allow in:europe-locations, global`. */
export function inForce(policy: Effective, kind: 'boolean' | 'list'): string {
  if (kind === 'boolean') return isEnforced(policy) ? 'enforced' : 'not enforced';
  const rules = rulesOf(policy);
  if (rules.some(({ denyAll }) => denyAll === true)) return 'deny all';
  const named = (word: string, of: (rule: Rules[number]) => readonly string[]) => {
    const values = rules.flatMap(of);
    return values.length === 0 ? [] : [`${word} ${values.join(', ')}`];
  };
  const all = [
    ...named('allow', ({ values }) => values?.allowedValues ?? []),
    ...named('deny', ({ values }) => values?.deniedValues ?? []),
  ];
  return all.length === 0 ? 'allow all' : all.join('; ');
}

/* Whether values mean what is wanted. */

const withoutIs = (pattern: string): string => pattern.replace(/^is:/, '');

/** For values that name one thing. Groups of them are not known here. */
export const isSame =
  (wanted: string): Fits =>
  (pattern) =>
    /^(?:in|under):/.test(pattern) ? undefined : withoutIs(pattern) === wanted;

/** Types of load balancers, and the groups of them: `in:EXTERNAL`. */
export const isLoadBalancer =
  (type: string): Fits =>
  (pattern) => {
    if (pattern === 'in:EXTERNAL') return type.includes('EXTERNAL');
    return pattern === 'in:INTERNAL' ? type.includes('INTERNAL') : isSame(type)(pattern);
  };

/**
 * Google's groups of locations that follow from a region's name. Source: "Restricting resource locations", Google's
 * documentation, read in November 2026. Other groups change with time, such as `low-carbon-locations`.
 */
const groups: Readonly<Record<string, RegExp>> = {
  'africa-locations': /^africa-/,
  'asia-locations': /^asia-/,
  'australia-locations': /^australia-/,
  'europe-locations': /^europe-/,
  // London and Zurich are not in the European Union.
  'eu-locations': /^europe-(?!west(?:2|6)\b)/,
  'northamerica-locations': /^(?:us|northamerica)-/,
  'southamerica-locations': /^southamerica-/,
  'us-locations': /^us-/,
};

/** A multi-region, or another region or zone. */
const elsewhere = /^(?:global|eu|us|asia|[a-z]{2,4}\d+|[a-z]+-[a-z]+\d+(?:-[a-z])?(?:-locations)?)$/;

/** A region or zone. A zone fits the values of its region, too. */
export const isLocation =
  (wanted: string): Fits =>
  (pattern) => {
    const value = pattern.replace(/^(?:is|in):/, '');
    const region = wanted.replace(/-[a-z]$/, '');
    if ([wanted, region, `${region}-locations`].includes(value)) return true;
    const group = groups[value];
    if (group !== undefined) return group.test(region);
    return elsewhere.test(value) ? false : undefined;
  };
