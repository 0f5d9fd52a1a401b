/**
 * What a step on machines needs to get there, and the way: with the bootstrap's own key, through the jumpbox, to pinned host
 * keys only. A machine that cannot be reached is looked at again by the steps that made it.
 */
import type { BootstrapOptions } from '../../../shared/bootstrap/options.js';
import { Problem } from '../../../shared/problems.js';
import {
  defineStep,
  type Each,
  type Needs,
  of,
  recheck,
  type Step,
  type StepCall,
  type StepSpec,
} from '../../engine/step.js';
import type { Host } from '../../remote/remote.js';
import { firewall } from '../cloud/firewall.js';
import { vm } from '../cloud/vm.js';
import { machineKey, readMachineKey } from '../config/machine-key.js';
import { hostKey } from './host-key.js';

const jumpboxName = 'jumpbox';

/** `machines`: the VMs that the instance works on, besides the jumpbox, through which all go. */
export function hostNeeds(machines: (options: BootstrapOptions, key: string) => readonly string[] = () => []) {
  const keys = (options: BootstrapOptions, key: string) => [...new Set([jumpboxName, ...machines(options, key)])];
  return { machineKey, firewall, machines: of(vm, keys), hostKeys: of(hostKey, keys) } as const;
}
type HostNeeds = ReturnType<typeof hostNeeds>;

type HostCall = Pick<StepCall<HostNeeds, undefined>, 'context' | 'bootstrap' | 'secrets' | 'needs' | 'signal'>;

/** As root; on the jumpbox by `ubuntu`, as root does not log in there. */
export async function reach(call: HostCall, name: string = jumpboxName): Promise<Host> {
  const { context, bootstrap, needs, secrets, signal } = call;
  const { privateKey } = await readMachineKey(secrets, needs.machineKey.secretVersion);
  const machine = (key: string) => {
    const { internalIp, externalIp } = needs.machines[key] ?? missing(key);
    const isJumpbox = key === jumpboxName;
    return {
      name: key,
      address: isJumpbox ? (externalIp ?? internalIp) : internalIp,
      user: isJumpbox ? 'ubuntu' : 'root',
      hostKeys: (needs.hostKeys[key] ?? missing(key)).hostKeys,
    };
  };
  const jumpbox = machine(jumpboxName);
  const target = { bootstrapId: bootstrap.id, jumpbox, privateKey };
  const machineOf = name === jumpboxName ? target : { ...target, machine: machine(name) };
  return (await context.remote.host(machineOf, signal)).asRoot();
}

/** Keys come from the step's own needs, so a miss is a fault of ours. */
const missing = (key: string): never => {
  throw new Error(`the machine ${key} is not among the step's needs`);
};

type When = (options: BootstrapOptions) => boolean;

/** As `defineStep`, in the host lane. */
export function defineHostStep<
  O,
  const N extends HostNeeds & Needs,
  E extends Each | undefined = undefined,
  W extends When | undefined = undefined,
>(spec: Omit<StepSpec<O, N, E, W>, 'lane' | 'goes'>): Step<O, N, E, W> {
  return defineStep<O, N, E, W>({
    ...spec,
    lane: 'host',
    // All of it is on disks that go with the project.
    goes: 'project',
    // Unreachable is not as wanted; what to do about it is `run`'s.
    observe: (call) => spec.observe(call).catch((error: unknown) => unlessUnreachable(error, call)),
    run: (call) =>
      spec.run(call).catch((error: unknown) => {
        unlessUnreachable(error, call);
        return recheck(['machines', 'hostKeys'], (error as Problem).detail);
      }),
  });
}

/** The first failures are the engine's to try again: most often a machine is only slow. */
function unlessUnreachable(error: unknown, { attempt }: Pick<StepCall, 'attempt'>): undefined {
  if (error instanceof Problem && error.code === 'host-unreachable' && attempt >= 2) return undefined;
  throw error;
}
