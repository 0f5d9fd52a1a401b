/**
 * A bootstrap driven step by step against the simulated cloud, without the engine: every instance can be run again from the
 * state that it met, as often as a law asks for. Made once a variant of options by the tests of the laws.
 */

import { createCloud } from '../../functions/cloud/index.js';
import { readConfig } from '../../functions/config.js';
import type { StepContext } from '../../functions/context.js';
import { graphOf } from '../../functions/engine/graph.js';
import { type Instance, needOutputs, planOf } from '../../functions/engine/plan.js';
import { requestId } from '../../functions/engine/run/call.js';
import { createStepSecrets } from '../../functions/engine/run/step-secrets.js';
import { type AnyStep, again, type BootstrapFacts, type Outcome, type StepCall } from '../../functions/engine/step.js';
import { createTokenSource } from '../../functions/host/access-token.js';
import { createOsLoginIdentity } from '../../functions/host/os-login.js';
import { realRandom } from '../../functions/host/random.js';
import { createRemote, type Remote, type RemoteSettings } from '../../functions/remote/remote.js';
import { steps } from '../../functions/steps/index.js';
import { put } from '../../local/cloud/compute/of-project.js';
import { createSimulatedCloud, type SimulatedCloud } from '../../local/cloud/index.js';
import { createClock } from '../../local/functions/clock.js';
import {
  type DeployedFacts,
  environmentOf,
  type FunctionEnvironment,
  functionAccount,
  initialState,
  laneFunctions,
  local,
} from '../../local/stack/deployment.js';
import { makeDeploymentSecrets } from '../../local/stack/resources.js';
import { createTestKeys } from '../../local/stack/test-keys.js';
import type { BootstrapOptions } from '../../shared/bootstrap/options.js';
import { functionNames, type Lane } from '../../shared/names.js';
import { Problem } from '../../shared/problems.js';

type Tables = Record<string, Record<string, unknown>>;

/** All that lasts between two calls. */
export interface Saved {
  readonly tables: Tables;
  readonly files: ReadonlyMap<string, string>;
}

export interface Lab {
  readonly cloud: SimulatedCloud;
  /** Whom the steps run as. */
  readonly cloudStepAccount: string;
  /** As it is now. */
  readonly bootstrap: BootstrapFacts;
  readonly instances: readonly Instance[];
  readonly outputs: Record<string, unknown>;
  save(): Saved;
  restore(saved: Saved): void;
  call(instance: Instance, attempt?: number): StepCall;
  instance(id: string): Instance;
  /** Drives the instance, and first what it needs, each once. */
  make(id: string): Promise<unknown>;
  /** The same command again, with changes: a new generation. */
  resume(changes?: Partial<BootstrapFacts>): void;
  /** As the engine does, retries included, until the instance is done. */
  drive(instance: Instance, attempt?: number): Promise<unknown>;
  undo(instance: Instance): Promise<void>;
  close(): Promise<void>;
}

/** More than the longest wait of a step, ten minutes for quotas, and the retries beside it. */
const longestSeconds = 900;

export interface LabMachines {
  /** All that the plan may hold, in place of the steps in the cloud alone. */
  readonly steps: readonly AnyStep[];
  /** Starts what the steps on machines need; what of it is deployed. */
  start(cloud: SimulatedCloud): Promise<Partial<DeployedFacts>>;
  /** In place of the product's own. */
  readonly remote?: (settings: RemoteSettings) => Remote;
}

export async function createLab(
  options: BootstrapOptions,
  timeFactor = 0,
  machines?: LabMachines,
  settings?: FunctionEnvironment,
): Promise<Lab> {
  const cloud = await createSimulatedCloud({
    timeFactor,
    dnsPort: 0,
    initial: initialState(),
    metadata: { project: local.project, serviceAccount: functionAccount(functionNames.runCloudStep) },
  });
  const environment = { GCE_METADATA_HOST: cloud.metadataHost, METADATA_SERVER_DETECTION: 'assume-present' };
  const before = Object.keys(environment).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, environment);
  await makeDeploymentSecrets(cloud);
  const started = await machines?.start(cloud);
  // Machines take the time that they take.
  const clock = createClock(machines === undefined ? timeFactor : 0.1);
  /** Each lane has an identity of its own. */
  const contextOf = (lane: Lane): StepContext => {
    const config = readConfig({
      ...environmentOf(laneFunctions[lane], {
        origin: 'http://127.0.0.1:1',
        endpoints: cloud.endpoints,
        issuerUrl: cloud.issuerUrl,
        forge1Url: 'http://127.0.0.1:1',
        dnsResolver: cloud.nameServers?.resolver,
        ...started,
      }),
      ...settings,
    });
    const own = createCloud({ config, clock });
    const keys = createTestKeys();
    return {
      config,
      clock,
      random: realRandom,
      log: () => undefined,
      cloud: own,
      keys,
      remote: (machines?.remote ?? createRemote)({
        sshProxy: config.sshProxy,
        iap: { url: config.iapTunnelUrl, token: createTokenSource(config) },
      }),
      osLogin: createOsLoginIdentity({ config, cloud: own, keys, clock }),
    };
  };
  const context = contextOf('cloud');
  const hostContext = machines === undefined ? context : contextOf('host');
  const createdAt = new Date();
  let bootstrap: BootstrapFacts = {
    id: 'b-laws',
    name: options.projectName,
    projectId: 'laws-abcd1234',
    owner: 'alice@example.com',
    ownerMember: 'user:alice@example.com',
    sharedMembers: [],
    formerMembers: [],
    options,
    machineAccess: context.config.machineAccess,
    sshSourceRanges: context.config.sshSourceRanges,
    loadBalancers: 'external',
    sshPublicKey: 'ssh-ed25519 AAAA alice',
    base: {},
    createdAt,
    deadlineAt: new Date(createdAt.getTime() + 7_200_000),
    generation: 1,
  };
  const instances = [...planOf(graphOf(machines?.steps ?? steps), bootstrap).values()];
  const outputs: Record<string, unknown> = {};
  const files = new Map<string, string>();
  const secretsOf = (context: StepContext) => createStepSecrets(context, bootstrap.id, undefined, () => undefined);

  const call = (instance: Instance, attempt = 0): StepCall => ({
    context: instance.lane === 'host' ? hostContext : context,
    bootstrap,
    key: instance.key,
    needs: needOutputs(instance, (id) => outputs[id]) as StepCall['needs'],
    secrets: secretsOf(instance.lane === 'host' ? hostContext : context),
    files: {
      read: async (name) => files.get(name),
      write: async (name, content) => void files.set(name, content),
    },
    log: {
      offset: async () => 0,
      append: async (_source, offset, bytes) => offset + bytes.length,
      lastLine: () => '',
      lastLines: () => '',
    },
    attempt,
    requestId: (purpose) => requestId(bootstrap.id, bootstrap.generation, instance.id, attempt, purpose),
    signal: new AbortController().signal,
  });

  /** Looks again as soon as the step asks for, and once more after what may pass; anything else comes out. */
  async function turns<T>(attempt: number, turn: (attempt: number) => Promise<T | Outcome>): Promise<T> {
    let failures = attempt;
    let seconds = 0;
    const pause = async (time: number) => {
      seconds += time;
      if (seconds > longestSeconds) throw new Error('it comes to no end');
      await clock.wait(time);
    };
    for (;;) {
      try {
        const result = await turn(failures);
        if (!isAgain(result)) return result as T;
        await pause(result.seconds);
      } catch (error) {
        if (!(error instanceof Problem) || error.kind.retry === 'none' || seconds > longestSeconds / 2) throw error;
        failures += 1;
        await pause(5);
      }
    }
  }

  const instance = (id: string): Instance => {
    const found = instances.find((each) => each.id === id);
    if (found === undefined) throw new Error(`no instance is ${id}`);
    return found;
  };

  const lab: Lab = {
    cloud,
    cloudStepAccount: functionAccount(functionNames.runCloudStep),
    get bootstrap() {
      return bootstrap;
    },
    instances,
    instance,
    async make(id) {
      const { needs } = instance(id);
      for (const need of needs) if (outputs[need] === undefined) await lab.make(need);
      outputs[id] = await lab.drive(instance(id));
      return outputs[id];
    },
    resume(changes = {}) {
      bootstrap = { ...bootstrap, ...changes, generation: bootstrap.generation + 1 };
    },
    outputs,
    call,
    save: () => {
      const { tables } = cloud.state() as unknown as { tables: Tables };
      return { tables, files: new Map(files) };
    },
    restore(saved) {
      const { tables } = cloud.state() as unknown as { tables: Tables };
      for (const name of new Set([...Object.keys(tables), ...Object.keys(saved.tables)])) {
        if (name === 'ports') continue;
        const table = cloud.world.table<unknown>(name);
        for (const key of Object.keys(table)) delete table[key];
        for (const [key, value] of Object.entries(structuredClone(saved.tables[name] ?? {}))) put(table, key, value);
      }
      files.clear();
      for (const [name, content] of saved.files) files.set(name, content);
    },
    drive: (instance, attempt = 0) =>
      turns(attempt, async (failures) => {
        const at = call(instance, failures);
        const seen = await instance.step.observe(at);
        if (seen !== undefined) return instance.step.output.parse(seen);
        const outcome: Outcome = await instance.step.run(at);
        if (outcome.kind === 'needsClient') throw new Error(`${instance.id} needs the client`);
        if (outcome.kind === 'again') return outcome;
        if (outcome.kind === 'recheck') {
          const needed = outcome.needs.flatMap((need) => {
            const filling = instance.fillings[need];
            if (filling?.kind === 'byKey') return Object.values(filling.ids);
            return filling?.kind === 'one' ? [filling.id] : [];
          });
          for (const id of needed) {
            outputs[id] = await lab.drive(lab.instance(id));
          }
          return again(1, outcome.problem.detail);
        }
        const made = await instance.step.observe(at);
        if (made === undefined) throw new Problem('cloud-propagation', `${instance.id} sees nothing of what it made`);
        return instance.step.output.parse(made);
      }),
    async undo(instance) {
      await turns(0, async (failures) => {
        const at = { ...call(instance, failures), output: outputs[instance.id] };
        const outcome = await instance.step.undo?.(at);
        return outcome?.kind === 'again' ? outcome : true;
      });
    },
    async close() {
      await cloud.close();
      for (const [name, value] of before) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    },
  };
  return lab;
}

const isAgain = (result: unknown): result is Outcome & { readonly kind: 'again' } =>
  typeof result === 'object' && result !== null && 'kind' in result && result.kind === 'again';
