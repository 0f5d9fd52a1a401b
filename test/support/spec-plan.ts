/** Reads out of the plan of a dry run how much of what it would make. For test/spec. */
import type { PlanReply } from '../../shared/bootstrap/routes.js';

export interface Plan {
  readonly vms: number;
  /** Those of Ceph and of Kubernetes. */
  readonly nodes: number;
  readonly postgresServers: number;
  readonly vcpus: number;
  /** Reserved and static. */
  readonly addresses: number;
  readonly datacenters: number;
  /** Of all VMs, each once. */
  readonly rootDiskGb: readonly number[];
  /** All that it says. */
  readonly text: string;
}

type Instances = PlanReply['instances'];

const keysOf = (instances: Instances, step: string): string[] =>
  instances.flatMap(({ id }) => (id.startsWith(`${step}:`) ? [id.slice(step.length + 1)] : []));

/** Machine types end in their vCPUs; the shared-core one has two. */
const vcpusOf = (vm: string): number => Number(/: e2-(?:standard-(\d+)|medium)/.exec(vm)?.[1] ?? 2);

export function readPlan(instances: Instances): Plan {
  const vms = keysOf(instances, 'vm');
  const made = instances.filter(({ id }) => id.startsWith('vm:')).flatMap(({ makes }) => makes);
  return {
    vms: vms.length,
    nodes: vms.filter((name) => /^(?:ceph|k0s)-/.test(name)).length,
    postgresServers: vms.filter((name) => name.startsWith('postgres')).length,
    vcpus: made.map(vcpusOf).reduce((sum, each) => sum + each, 0),
    addresses: keysOf(instances, 'address').length,
    datacenters: keysOf(instances, 'config').length,
    rootDiskGb: [...new Set(made.map((vm) => Number(/, (\d+) GB/.exec(vm)?.[1])))],
    text: JSON.stringify(instances),
  };
}
