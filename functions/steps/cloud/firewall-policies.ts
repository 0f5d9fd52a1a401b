/**
 * Judges the hierarchical firewall policies above a network: whether one closes SSH to the jumpbox before plinth's own rules are
 * asked. Pure.
 */
import type { StepCall } from '../../engine/step.js';

type Effective = Awaited<ReturnType<StepCall['context']['cloud']['compute']['effectiveFirewalls']>>;
type Policy = NonNullable<Effective['firewallPolicys']>[number];
type Rule = NonNullable<Policy['rules']>[number];
type Match = NonNullable<Rule['match']>;

/** The rule that closes the port, in words. Undefined: none is known to. */
export function closingRule(
  { firewallPolicys = [] }: Effective,
  sources: readonly string[],
  port: number,
): string | undefined {
  for (const policy of firewallPolicys.filter(({ type }) => type === undefined || type === 'HIERARCHY')) {
    const rule = [...(policy.rules ?? [])]
      .sort((a, b) => (a.priority ?? 0) - (b.priority ?? 0))
      .find((each) => decides(each, sources, port));
    if (rule?.action === 'allow') return undefined;
    if (rule?.action?.startsWith('deny') === true) {
      const about = rule.description === undefined || rule.description === '' ? '' : ` (“${rule.description}”)`;
      return `the rule ${rule.priority}${about} of the firewall policy ${policy.displayName ?? policy.shortName ?? policy.name}`;
    }
  }
  return undefined;
}

/**
 * Whether a rule decides for every source. What picks machines or sources by other marks than addresses can't be judged here,
 * so such a rule counts as none.
 */
function decides(
  { direction, disabled, match = {}, ...rule }: Rule,
  sources: readonly string[],
  port: number,
): boolean {
  if (direction !== 'INGRESS' || disabled === true) return false;
  const picks = [rule.targetServiceAccounts, rule.targetSecureTags, rule.targetResources];
  if (picks.some((each) => (each ?? []).length > 0)) return false;
  if (otherMarks.some((name) => (match[name] ?? []).length > 0)) return false;
  const ranges = match.srcIpRanges ?? [];
  const covers = ranges.length === 0 || sources.every((source) => ranges.some((range) => contains(range, source)));
  return covers && (match.layer4Configs ?? []).some((config) => isFor(config, port));
}

const otherMarks = [
  'srcAddressGroups',
  'srcFqdns',
  'srcRegionCodes',
  'srcThreatIntelligences',
  'srcSecureTags',
] as const satisfies readonly (keyof Match)[];

function isFor({ ipProtocol = '', ports = [] }: NonNullable<Match['layer4Configs']>[number], port: number): boolean {
  if (!['all', 'tcp', '6'].includes(ipProtocol.toLowerCase())) return false;
  return (
    ports.length === 0 ||
    ports.some((text) => {
      const [from = Number.NaN, to = from] = text.split('-').map(Number);
      return from <= port && port <= to;
    })
  );
}

/** IPv4 alone: plinth makes no subnet with IPv6. */
function contains(range: string, inner: string): boolean {
  const [outside, inside] = [rangeOf(range), rangeOf(inner)];
  return (
    outside !== undefined &&
    inside !== undefined &&
    outside.bits <= inside.bits &&
    first(outside, outside.bits) === first(inside, outside.bits)
  );
}

function rangeOf(text: string): { readonly value: number; readonly bits: number } | undefined {
  const [, address = '', bits = '32'] = /^(\d{1,3}(?:\.\d{1,3}){3})(?:\/(\d{1,2}))?$/.exec(text) ?? [];
  const parts = address.split('.').map(Number);
  return address === '' ? undefined : { value: parts.reduce((sum, part) => sum * 256 + part, 0), bits: Number(bits) };
}

const first = ({ value }: { readonly value: number }, bits: number): number => Math.floor(value / 2 ** (32 - bits));
