/** Shared by the k0s steps: which machines run it, its config, and how to read its state. */
import * as z from 'zod';
import { podCidr, serviceCidr } from '../../../shared/bootstrap/network-ranges.js';
import type { BootstrapOptions } from '../../../shared/bootstrap/options.js';
import { Problem } from '../../../shared/problems.js';
import type { Each } from '../../engine/step.js';
import type { Host } from '../../remote/remote.js';
import { runScript } from '../hosts/script.js';
import { datacenterOf, vms, vmsOf } from '../topology.js';

/** Whether the bootstrap installs a package. */
export const installs = ({ installVersion, installHash, installLocal }: BootstrapOptions): boolean =>
  [installVersion, installHash, installLocal].some((given) => given !== undefined);

/** The k0s nodes of a datacenter. The first is controller and worker, the others are workers. */
export const k0sNodesOf = (options: BootstrapOptions, datacenter: string): readonly string[] =>
  vmsOf(options, datacenter, 'k0s').map(({ name }) => name);
export const controllerOf = (options: BootstrapOptions, datacenter: string): string =>
  k0sNodesOf(options, datacenter)[0] ?? '';

const isK0s = (options: BootstrapOptions) => vmsOf(options, undefined, 'k0s');
export const k0sNodes: Each<'vms'> = { of: vms.of, keys: (options) => isK0s(options).map(({ name }) => name) };
export const k0sWorkers: Each<'vms'> = {
  of: vms.of,
  keys: (options) =>
    isK0s(options)
      .filter(({ name, datacenter }) => name !== controllerOf(options, datacenter))
      .map(({ name }) => name),
};

export const k0sPath = '/usr/local/bin/k0s';
export const configPath = '/etc/k0s/k0s.yaml';

/** `address` is the controller's, where workers and the jumpbox reach it. */
export async function k0sConfig(options: BootstrapOptions, datacenter: string, address: string): Promise<string> {
  const { stringify } = await import('yaml');
  return stringify({
    apiVersion: 'k0s.k0sproject.io/v1beta1',
    kind: 'ClusterConfig',
    metadata: { name: `k0s${datacenterOf(options, datacenter).suffix}` },
    spec: {
      api: { address, sans: [address, controllerOf(options, datacenter)] },
      network: { podCIDR: podCidr, serviceCIDR: serviceCidr, provider: 'kuberouter' },
      telemetry: { enabled: false },
    },
  });
}

/**
 * Flags of `k0s install` with which a node waits for the package's cloud controller to initialise it. Kubelets with a cloud
 * controller know no address before, and k0s's network needs one. So they are told.
 */
export const forCloudController = (address: string): string =>
  `--enable-cloud-provider "--kubelet-extra-args=--node-ip=${address}"`;

/** What a node fails with whose k0s does not come up, however often it is looked at. */
export const k0sFailed = (node: string, detail: string): Problem =>
  new Problem('host-failed', detail, {
    advice: `Read the log of k0s on ${node}, and correct what stops it. Then run the same command again.`,
  });

const Status = z.object({ Role: z.string(), Version: z.string() });

/** Undefined if k0s doesn't run there. On a worker, also undefined until it has joined. */
export async function statusOf(host: Host): Promise<z.infer<typeof Status> | undefined> {
  const { exitCode, stdout } = await runScript(host, `${k0sPath} status --out json`);
  if (exitCode !== 0) return undefined;
  return Status.parse(JSON.parse(stdout));
}
