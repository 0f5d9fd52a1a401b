/**
 * Hierarchical firewall policies: rules of an organization or a folder that come before those of the networks beneath it. They
 * are set here alone. Google's methods that change them are not simulated.
 */
import { lineage } from '../iam/lineage.js';
import type { JsonObject, World } from '../kernel/api.js';

/** `folders/…` or `organizations/…`, with the rules in any order. */
export function writeFirewallPolicy(world: World, place: string, rules: readonly JsonObject[]): void {
  const table = world.table<JsonObject[]>('compute.firewallPolicies');
  if (rules.length === 0) delete table[place];
  else table[place] = rules.map((rule) => ({ kind: 'compute#firewallPolicyRule', disabled: false, ...rule }));
}

/** The policies above a project, the organization's first: the order in which they decide. */
export function firewallPoliciesAbove(world: World, projectId: string): JsonObject[] {
  const table = world.table<JsonObject[]>('compute.firewallPolicies');
  return lineage(world, `projects/${projectId}`)
    .reverse()
    .flatMap((place) => {
      const rules = table[place];
      if (rules === undefined) return [];
      const name = place.replace(/\W/g, '-');
      return [{ name, shortName: name, displayName: name, type: 'HIERARCHY', rules }];
    });
}
