/** All checks, in the order in which they run. */
import type { Check } from '../check.js';
import { controllerChecks } from './controller.js';
import { dnsChecks } from './dns.js';
import { identityChecks } from './identities.js';
import { loginChecks } from './logins.js';
import { machineChecks, machineEnd } from './machines.js';
import { networkChecks } from './networks.js';
import { policyChecks } from './policies.js';
import { projectChecks } from './projects.js';
import { quotaChecks } from './quotas.js';
import { registryChecks } from './registry.js';
import { removalChecks } from './removal.js';
import { roleChecks } from './roles.js';
import { secretChecks } from './secrets.js';
import { serviceChecks } from './services.js';
import { tunnelChecks } from './tunnels.js';
import { uploadChecks } from './uploads.js';

export { removalChecks };

export const mainChecks: readonly Check[] = [
  ...policyChecks,
  ...roleChecks,
  ...projectChecks,
  ...serviceChecks,
  ...quotaChecks,
  ...identityChecks,
  ...secretChecks,
  ...networkChecks,
  ...controllerChecks,
  ...machineChecks,
  ...dnsChecks,
  ...registryChecks,
  ...uploadChecks,
  ...tunnelChecks,
  ...loginChecks,
  ...machineEnd,
];

export const checks: readonly Check[] = [...mainChecks, ...removalChecks];

/** The named checks and all that they need, in order. */
export function chosen(ids: readonly string[]): readonly Check[] {
  const wanted = new Set<string>();
  const add = (id: string): void => {
    const check = checks.find((each) => each.id === id);
    if (check === undefined) throw new Error(`There is no check ${id}. --list shows them all.`);
    if (wanted.has(id)) return;
    wanted.add(id);
    for (const need of check.needs ?? []) add(need);
  };
  for (const id of ids) add(id);
  return mainChecks.filter(({ id }) => wanted.has(id));
}
