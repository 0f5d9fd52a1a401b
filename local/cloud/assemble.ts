/** Puts the kernel and the services together: the kernel knows none of them, so what it asks of them is handed to it here. */
import { apiDefinitions, apis, services } from './apis.js';
import { checkAccess } from './iam/access.js';
import { createPolicies } from './iam/policies.js';
import type { Effect } from './kernel/api.js';
import { createKernel, type Kernel, type KernelOptions } from './kernel/kernel.js';
import { createWorld, type RunningWorld, type WorldOptions } from './kernel/world.js';
import { checkOrganizationPolicies } from './org-policy/enforcement.js';
import { grantedQuota } from './quotas/granted.js';
import { chanceOf, paceOf, quotaSetting } from './worlds/settings.js';

const effects: Readonly<Record<string, Effect>> = Object.assign(
  {},
  ...apiDefinitions.map((each) => each.effects ?? {}),
);

/** A world with all services and their effects. */
export const makeWorld = (options: Omit<WorldOptions, 'services' | 'rules' | 'effects'>): RunningWorld =>
  createWorld({
    ...options,
    services,
    effects,
    rules: {
      policies: createPolicies,
      pace: paceOf,
      stockoutChance: (world) => chanceOf(world, 'stockout'),
      quota: (world, project, region, metric) =>
        grantedQuota(world, project, region, metric) ?? quotaSetting(world, metric) ?? 1000,
    },
  });

/** The kernel of all services. */
export const makeKernel = (options: Omit<KernelOptions, 'apis' | 'checks'>): Kernel =>
  createKernel({ ...options, apis, checks: { access: checkAccess, policies: checkOrganizationPolicies } });
