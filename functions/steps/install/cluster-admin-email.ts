/**
 * Puts the address of `--cluster-admin-email` into a secret in Kubernetes before the install. The platform makes its first
 * admin from it. Where the flag is dropped, the step of the nodes deletes the secret, because this one is then in no plan.
 */
import * as z from 'zod';
import type { BootstrapOptions } from '../../../shared/bootstrap/options.js';
import { done, type StepCall } from '../../engine/step.js';
import { defineHostStep, hostNeeds, reach } from '../hosts/reach.js';
import { datacenterOf, datacenters } from '../topology.js';
import { adminObjects, adminSecret, hasAdminSecret } from './admin-secret.js';
import { controllerOf, installs } from './k0s.js';
import { k0sReady } from './k0s-ready.js';
import { applyObjects } from './kubectl.js';

const needs = { ...hostNeeds((options, key) => [controllerOf(options, key)]), k0sReady } as const;
type Call = StepCall<typeof needs, typeof datacenters>;

const reachController = (call: Call) => reach(call, controllerOf(call.bootstrap.options, call.key));

const things = (options: BootstrapOptions, key: string): readonly string[] => [
  `secret ${adminSecret.name} in the Kubernetes of ${datacenterOf(options, key).name}`,
];

export const clusterAdminEmail = defineHostStep({
  name: 'cluster-admin-email',
  title: 'E-mail of the cluster admin',
  needs,
  when: (options: BootstrapOptions) => installs(options) && options.clusterAdminEmail !== undefined,
  each: datacenters,
  content: ({ options: { clusterAdminEmail } }) => clusterAdminEmail,
  describe: things,
  clears: things,
  output: z.object({ namespace: z.string(), name: z.string() }),
  async observe(call) {
    return (await hasAdminSecret(await reachController(call), call.bootstrap.options)) ? adminSecret : undefined;
  },
  async run(call) {
    await applyObjects(
      await reachController(call),
      `the secret ${adminSecret.name}`,
      adminObjects(call.bootstrap.options),
    );
    return done;
  },
});
