/**
 * Puts the address of `--cluster-admin-email` into a secret in Kubernetes before the install. The platform makes its first
 * admin from it.
 */
import * as z from 'zod';
import type { BootstrapOptions } from '../../../shared/bootstrap/options.js';
import { done, type StepCall } from '../../engine/step.js';
import { defineHostStep, hostNeeds, reach } from '../hosts/reach.js';
import { datacenterOf, datacenters } from '../topology.js';
import { controllerOf, installs } from './k0s.js';
import { k0sReady } from './k0s-ready.js';
import { applyObjects, getObjects } from './kubectl.js';

const needs = { ...hostNeeds((options, key) => [controllerOf(options, key)]), k0sReady } as const;
type Call = StepCall<typeof needs, typeof datacenters>;

/** Documented for packages in docs/use/packages.md. */
const namespace = 'platform';
const name = 'cluster-admin-email';

const reachController = (call: Call) => reach(call, controllerOf(call.bootstrap.options, call.key));
const encoded = ({ clusterAdminEmail = '' }: BootstrapOptions): string =>
  Buffer.from(clusterAdminEmail.toLowerCase()).toString('base64');

const Secret = z.object({ data: z.object({ email: z.string().optional() }).optional() });

export const clusterAdminEmail = defineHostStep({
  name: 'cluster-admin-email',
  title: 'E-mail of the cluster admin',
  needs,
  when: (options: BootstrapOptions) => installs(options) && options.clusterAdminEmail !== undefined,
  each: datacenters,
  content: ({ options: { clusterAdminEmail } }) => clusterAdminEmail,
  describe: (options, key) => [`secret ${name} in the Kubernetes of ${datacenterOf(options, key).name}`],
  output: z.object({ namespace: z.string(), name: z.string() }),
  async observe(call) {
    const found = await getObjects(
      await reachController(call),
      `the secret ${name}`,
      `secret ${name} --namespace ${namespace}`,
    );
    if (found === undefined) return undefined;
    const isWanted = Secret.parse(found).data?.email === encoded(call.bootstrap.options);
    return isWanted ? { namespace, name } : undefined;
  },
  async run(call) {
    await applyObjects(await reachController(call), `the secret ${name}`, [
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name, namespace },
        type: 'Opaque',
        data: { email: encoded(call.bootstrap.options) },
      },
    ]);
    return done;
  },
});
