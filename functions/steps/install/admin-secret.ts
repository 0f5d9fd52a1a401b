/**
 * The secret of `--cluster-admin-email` in Kubernetes: who wrote it, and how it is deleted. Documented for packages in
 * docs/use/packages.md.
 */
import * as z from 'zod';
import type { BootstrapOptions } from '../../../shared/bootstrap/options.js';
import type { Host } from '../../remote/remote.js';
import { deleteObjects, getObjects } from './kubectl.js';

const namespace = 'platform';
const name = 'cluster-admin-email';
export const adminSecret = { namespace, name } as const;

/** By which plinth knows its own secret. Another writer's is never deleted. */
const ownLabel = { 'app.kubernetes.io/managed-by': 'plinth' } as const;

const Secret = z.object({
  metadata: z.object({ labels: z.record(z.string(), z.string()).optional() }).optional(),
  data: z.object({ email: z.string().optional() }).optional(),
});

const encoded = ({ clusterAdminEmail = '' }: BootstrapOptions): string =>
  Buffer.from(clusterAdminEmail.toLowerCase()).toString('base64');

export const adminObjects = (options: BootstrapOptions): readonly object[] => [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
  {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace, labels: ownLabel },
    type: 'Opaque',
    data: { email: encoded(options) },
  },
];

async function readSecret(controller: Host): Promise<z.infer<typeof Secret> | undefined> {
  const found = await getObjects(controller, `the secret ${name}`, `secret ${name} --namespace ${namespace}`);
  return found === undefined ? undefined : Secret.parse(found);
}

const isOwn = ({ metadata }: z.infer<typeof Secret>): boolean =>
  Object.entries(ownLabel).every(([label, value]) => metadata?.labels?.[label] === value);

/** The secret holds the address that the options ask for. */
export async function hasAdminSecret(controller: Host, options: BootstrapOptions): Promise<boolean> {
  const found = await readSecret(controller);
  return found !== undefined && isOwn(found) && found.data?.email === encoded(options);
}

/** The options ask for no address, and the secret of an earlier one is there. */
export async function hasLeftSecret(controller: Host, { clusterAdminEmail }: BootstrapOptions): Promise<boolean> {
  if (clusterAdminEmail !== undefined) return false;
  const found = await readSecret(controller);
  return found !== undefined && isOwn(found);
}

export const deleteAdminSecret = (controller: Host): Promise<void> =>
  deleteObjects(controller, `the secret ${name}`, [
    { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace } },
  ]);
