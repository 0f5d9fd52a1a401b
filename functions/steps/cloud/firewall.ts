/** Writes the firewall rules. None opens PostgreSQL. Outside access to it goes through the jumpbox. */
import type { LoadBalancers } from '../../../shared/bootstrap/bootstrap.js';
import { subnetRange } from '../../../shared/bootstrap/network-ranges.js';
import { iapRange } from '../../../shared/iap.js';
import { Problem } from '../../../shared/problems.js';
import { everywhere, isIpv6Range } from '../../../shared/source-ranges.js';
import type { BootstrapFacts, StepCall } from '../../engine/step.js';
import { networkNames } from '../topology.js';
import { closingRule } from './firewall-policies.js';
import { type Begun, followAll } from './following.js';
import { network } from './network.js';
import { FirewallOutput } from './outputs.js';
import { areSettled } from './settled.js';
import { defineProjectStep } from './settling.js';

/** Where clients of internal load balancers are: in the network, or in one that is connected to it (RFC 1918). */
const privateRanges = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'];
/** Where the health checks of Google's load balancers come from, as its documentation says. */
const healthCheckRanges = ['35.191.0.0/16', '130.211.0.0/22', '209.85.152.0/22', '209.85.204.0/22'];

interface Rule {
  readonly name: string;
  readonly direction: 'INGRESS' | 'EGRESS';
  readonly allowed: readonly { readonly IPProtocol: string; readonly ports?: readonly string[] }[];
  readonly ranges: readonly string[];
  readonly targetTags: readonly string[];
  readonly disabled?: true;
}

type SshFacts = Pick<BootstrapFacts, 'machineAccess' | 'sshSourceRanges'>;

const sshSourcesOf = ({ machineAccess, sshSourceRanges }: SshFacts): readonly string[] =>
  machineAccess === 'iap' ? [iapRange] : sshSourceRanges;

const ipv6Rule = 'allow-ssh-ext-ipv6';
const sshRule = {
  direction: 'INGRESS',
  allowed: [{ IPProtocol: 'tcp', ports: ['22'] }],
  targetTags: ['ssh'],
} as const;

/** Google takes no rule of both families. It reads a rule without ranges as one for everybody, so such a rule is never written. */
const sshRulesOf = (facts: SshFacts): readonly Rule[] => {
  const sources = sshSourcesOf(facts);
  const rules = [
    { ...sshRule, name: 'allow-ssh-ext', ranges: sources.filter((range) => !isIpv6Range(range)) },
    { ...sshRule, name: ipv6Rule, ranges: sources.filter(isIpv6Range) },
  ];
  return rules.filter(({ ranges }) => ranges.length > 0);
};

const rulesOf = (facts: SshFacts, loadBalancers: LoadBalancers): readonly Rule[] => [
  ...sshRulesOf(facts),
  {
    name: 'allow-internal',
    direction: 'INGRESS',
    allowed: [{ IPProtocol: 'all' }],
    ranges: [subnetRange],
    targetTags: [],
  },
  {
    name: 'allow-all-egress',
    direction: 'EGRESS',
    allowed: [{ IPProtocol: 'all' }],
    ranges: [everywhere],
    targetTags: [],
  },
  {
    name: 'allow-ingress-web',
    direction: 'INGRESS',
    allowed: [{ IPProtocol: 'tcp', ports: ['80', '443'] }],
    ranges: loadBalancers === 'internal' ? privateRanges : [everywhere],
    targetTags: ['k0s'],
  },
  {
    name: 'allow-health-checks',
    direction: 'INGRESS',
    allowed: [{ IPProtocol: 'tcp' }],
    ranges: healthCheckRanges,
    targetTags: ['k0s'],
  },
];

export const firewall = defineProjectStep({
  name: 'firewall',
  title: 'Firewall',
  lane: 'cloud',
  prepares: 'again',
  needs: { network },
  describe: (_options, _key, machineAccess) =>
    rulesOf({ machineAccess, sshSourceRanges: [everywhere] }, 'external').map(({ name, allowed, targetTags }) => {
      const what = allowed.map(({ IPProtocol, ports = [] }) => [IPProtocol, ports.join(', ')].join(' ').trim());
      return `firewall rule ${name}: ${what.join(', ')}${targetTags.length === 0 ? '' : ` to ${targetTags.join(', ')}`}`;
    }),
  output: FirewallOutput,

  async observe(call) {
    const { compute } = call.context.cloud;
    const { projectId } = call.bootstrap;
    const states = await look(call);
    const standing = states.flatMap(({ rule, found }) => (found !== undefined && fits(rule, found) ? [found] : []));
    if (standing.length < states.length) return undefined;
    if (!(await areSettled(compute, projectId, 'global', ...standing))) return undefined;
    const closedBy = await closedByOf(call);
    return {
      rules: states.filter(({ rule }) => rule.disabled !== true).map(({ rule }) => rule.name),
      ...(closedBy === undefined ? {} : { closedBy }),
    };
  },

  async run(call) {
    const { compute } = call.context.cloud;
    const { projectId } = call.bootstrap;
    const begun: Begun[] = [];
    for (const { rule, found } of await look(call)) {
      const { name, direction, allowed, ranges, targetTags, disabled } = rule;
      const resource = {
        name,
        network: call.needs.network.selfLink,
        direction,
        allowed,
        [direction === 'INGRESS' ? 'sourceRanges' : 'destinationRanges']: ranges,
        ...(targetTags.length === 0 ? {} : { targetTags }),
        ...(disabled === undefined ? {} : { disabled }),
      };
      if (found === undefined) {
        begun.push(await compute.createFirewallRule(projectId, resource, call.requestId(`insert ${name}`)));
      } else if (!fits(rule, found)) {
        const purpose = `update ${name} ${JSON.stringify(resource)}`;
        begun.push(await compute.updateFirewallRule(projectId, name, resource, call.requestId(purpose)));
      }
    }
    return begun.length === 0
      ? { kind: 'again', seconds: 1, note: 'the rules are being written' }
      : followAll(begun, 'the rules are being written', 6);
  },
  goes: 'project',
  summary: ({ rules }) => `${rules.length} rules`,
  warning: ({ closedBy }) =>
    closedBy === undefined
      ? undefined
      : `Nobody will reach the machines: ${closedBy} closes port 22. Ask who keeps the firewall policies of the organization to admit it.`,
});

/** What lies above the project comes before the rules here. It stays unknown where plinth may not look. */
async function closedByOf({ context, bootstrap }: Pick<StepCall, 'context' | 'bootstrap'>) {
  const { projectId, options } = bootstrap;
  const { network: name } = networkNames(projectId, options.region);
  const sources = sshSourcesOf(bootstrap).filter((range) => !isIpv6Range(range));
  try {
    return closingRule(await context.cloud.compute.effectiveFirewalls(projectId, name), sources, 22);
  } catch (error) {
    if (error instanceof Problem && error.code === 'cloud-permission') return undefined;
    throw error;
  }
}

async function look({ context, bootstrap }: Pick<StepCall, 'context' | 'bootstrap'>) {
  const rules = rulesOf(bootstrap, bootstrap.loadBalancers);
  const names = rules.map(({ name }) => name);
  const standing = await context.cloud.compute.firewallRules(bootstrap.projectId, [...new Set([...names, ipv6Rule])]);
  // Ranges of IPv6 that the deployment named once.
  const given = names.includes(ipv6Rule) ? undefined : standing.find(({ name }) => name === ipv6Rule);
  const gone: Rule[] =
    given === undefined ? [] : [{ ...sshRule, name: ipv6Rule, ranges: given.sourceRanges ?? [], disabled: true }];
  return [...rules, ...gone].map((rule) => ({ rule, found: standing.find(({ name }) => name === rule.name) }));
}

type Found = NonNullable<Awaited<ReturnType<typeof look>>[number]['found']>;

const same = (a: readonly string[] | undefined, b: readonly string[]): boolean =>
  JSON.stringify([...(a ?? [])].sort()) === JSON.stringify([...b].sort());

const fits = (rule: Rule, found: Found): boolean =>
  found.direction === rule.direction &&
  (found.disabled === true) === (rule.disabled === true) &&
  same(found.direction === 'INGRESS' ? found.sourceRanges : found.destinationRanges, rule.ranges) &&
  same(found.targetTags, rule.targetTags) &&
  same(found.allowed?.map(portsOf), rule.allowed.map(portsOf));

const portsOf = ({ IPProtocol, ports }: { readonly IPProtocol?: string; readonly ports?: readonly string[] }): string =>
  `${IPProtocol} ${[...(ports ?? [])].sort().join(',')}`;
