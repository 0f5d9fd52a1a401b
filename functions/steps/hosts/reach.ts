/**
 * Defines steps on machines and connects to the machines: with the bootstrap's own key, through the jumpbox, and only to
 * pinned host keys. If a machine is unreachable, the steps that made it look at it again.
 */
import type { MachineAccess } from '../../../shared/bootstrap/bootstrap.js';
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
import { adminLoginRole } from '../cloud/login-roles.js';
import { machineLogin } from '../cloud/machine-login.js';
import { machineLoginRole } from '../cloud/machine-login-role.js';
import { router } from '../cloud/router.js';
import { tunnelAccess } from '../cloud/tunnel-access.js';
import { vm } from '../cloud/vm.js';
import { machineKey, readMachineKey } from '../config/machine-key.js';
import { jumpboxName, tunnelTo } from '../topology.js';
import { hostKey } from './host-key.js';

/**
 * `machines` are the VMs that the instance works on. The jumpbox is always added, because all connections go through it. A
 * machine without a public address reaches the world by the router.
 */
export function hostNeeds(machines: (options: BootstrapOptions, key: string) => readonly string[] = () => []) {
  const keys = (options: BootstrapOptions, key: string) => [...new Set([jumpboxName, ...machines(options, key)])];
  const login = { machineKey, machineLogin, machineLoginRole, tunnelAccess } as const;
  return { ...login, firewall, router, machines: of(vm, keys), hostKeys: of(hostKey, keys) } as const;
}
type HostNeeds = ReturnType<typeof hostNeeds>;

type HostCall = Pick<StepCall<HostNeeds, undefined>, 'context' | 'bootstrap' | 'secrets' | 'needs' | 'signal'>;

/** As root: by sudo where another user logs in. */
export async function reach(call: HostCall, name: string = jumpboxName): Promise<Host> {
  const { context, bootstrap, needs, signal } = call;
  const { privateKey, userOf } = await loginOf(call);
  const machine = (key: string) => {
    const { internalIp, externalIp, zone } = needs.machines[key] ?? missing(key);
    const isJumpbox = key === jumpboxName;
    const hasTunnel = isJumpbox && bootstrap.machineAccess === 'iap';
    return {
      name: key,
      address: isJumpbox ? (externalIp ?? internalIp) : internalIp,
      user: userOf(key),
      ...(hasTunnel ? { tunnel: tunnelTo(bootstrap.projectId, { name: key, zone }) } : {}),
      hostKeys: (needs.hostKeys[key] ?? missing(key)).hostKeys,
    };
  };
  const jumpbox = machine(jumpboxName);
  const target = { bootstrapId: bootstrap.id, jumpbox, privateKey };
  const machineOf = name === jumpboxName ? target : { ...target, machine: machine(name) };
  return (await context.remote.host(machineOf, signal).catch((error: unknown) => explain(call, error))).asRoot();
}

interface Login {
  readonly privateKey: string;
  userOf(machine: string): string;
}

/** Root can't log in on the jumpbox. */
async function loginOf({ context, needs, secrets }: HostCall): Promise<Login> {
  if (needs.machineLogin.by === 'os-login') {
    const { user, privateKey } = await context.osLogin.identity();
    return { privateKey, userOf: () => user };
  }
  const { privateKey } = await readMachineKey(secrets, needs.machineKey.secretVersion);
  return { privateKey, userOf: (machine) => (machine === jumpboxName ? 'ubuntu' : 'root') };
}

/** IAP learns of a grant, and of an API that was enabled, within minutes. */
const slowIap = (problem: Problem): Problem =>
  new Problem('cloud-propagation', `${problem.detail} A new grant takes some minutes.`, {
    advice: `If it lasts longer than ten minutes: ${problem.advice ?? ''} Then run the same command again.`,
    cause: problem,
  });

/** Says of a refusal by IAP or OS Login what may be missing. */
function explain({ context, bootstrap, needs }: HostCall, error: unknown): never {
  if (error instanceof Problem && error.code === 'cloud-permission' && bootstrap.machineAccess === 'iap')
    throw slowIap(error);
  if (!(error instanceof Problem) || error.code !== 'host-login' || needs.machineLogin.by === 'keys') throw error;
  context.osLogin.doubt();
  const { retryAfterSeconds } = error;
  throw new Problem('host-login', error.detail, {
    advice: `OS Login lets in ${context.config.serviceAccount} by ${adminLoginRole} on ${bootstrap.projectId}, some minutes after it was granted. The Cloud OS Login API must be on in ${context.config.project}.`,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    cause: error,
  });
}

/** The keys come from the step's own needs, so a miss is a bug in plinth. */
const missing = (key: string): never => {
  throw new Error(`the machine ${key} is not among the step's needs`);
};

type When = (options: BootstrapOptions, machineAccess: MachineAccess) => boolean;

/** Like `defineStep`, in the host lane. */
export function defineHostStep<
  O,
  const N extends HostNeeds & Needs,
  E extends Each | undefined = undefined,
  W extends When | undefined = undefined,
>(spec: Omit<StepSpec<O, N, E, W>, 'lane' | 'goes'>): Step<O, N, E, W> {
  return defineStep<O, N, E, W>({
    ...spec,
    lane: 'host',
    // Everything is on disks that disappear with the project.
    goes: 'project',
    // An unreachable machine is not as wanted. `run` decides what to do.
    observe: (call) => spec.observe(call).catch((error: unknown) => unlessUnreachable(error, call)),
    run: (call) =>
      spec.run(call).catch((error: unknown) => {
        unlessUnreachable(error, call);
        const { closedBy } = (call.needs as HostCall['needs']).firewall;
        if (closedBy !== undefined) throw closed(error, closedBy);
        return recheck(['machines', 'hostKeys', 'firewall'], error as Problem);
      }),
  });
}

/** Trying again helps only once somebody has changed the policy. */
const closed = (error: unknown, by: string): Problem =>
  new Problem('cloud-policy', `${(error as Problem).detail} The reason is ${by}, which closes port 22.`, {
    cause: error,
    advice: 'Ask who keeps the firewall policies of the organization to admit it. Then run the same command again.',
  });

/** The engine retries the first failures. Most often a machine is only slow. */
function unlessUnreachable(error: unknown, { attempt }: Pick<StepCall, 'attempt'>): undefined {
  if (error instanceof Problem && error.code === 'host-unreachable' && attempt >= 2) return undefined;
  throw error;
}
