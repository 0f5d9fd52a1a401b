/**
 * The half of a local stack that stands in for Google: simulated cloud, emulators, deliveries, scheduler, token issuer, and
 * the stand-in for forge1. It may be killed and restarted in the same folder.
 */
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Lane } from '../../shared/names.js';
import { computeEnvironment } from '../cloud/gcloud.js';
import { createSimulatedCloud, type SimulatedCloud } from '../cloud/index.js';
import { createDeliveries, type Deliveries } from '../cloud/pubsub/deliveries.js';
import type { ScheduledCalls } from '../cloud/scheduler/calls.js';
import { worldName } from '../cloud/worlds/settings.js';
import {
  adoptEmulator,
  type Emulator,
  type EmulatorName,
  type EmulatorRecord,
  startEmulator,
} from '../emulators/emulators.js';
import { type EmulatorPushes, startEmulatorPushes } from '../emulators/pushes.js';
import { type Forge1, startForge1 } from '../forge1/forge1.js';
import { type Forge1Registry, startForge1Registry } from '../forge1/registry.js';
import { embedded } from '../machines/embedded.js';
import { type Machines, startMachines } from '../machines/index.js';
import { outsideNames } from '../machines/network/outside-names.js';
import type { Tier } from '../machines/tier.js';
import { startK0sReleases } from '../releases/k0s.js';
import { functionUrl, initialState, invokers, laneFunctions, local, topicPath } from './deployment.js';
import { type PublishedRelease, publishRelease } from './plinth-release.js';
import { makeBucket, makeDeploymentSecrets, makeScheduledJobs, makeStandingZone } from './resources.js';
import { type CloudRecord, type StateFolder, serves } from './state-folder.js';
import type { WorldChoice } from './world-option.js';

export interface CloudHalfOptions extends WorldChoice {
  readonly store: 'memory' | 'emulator';
  readonly timeFactor: number;
  readonly seed: number;
  /** Keep the simulated cloud's state in the folder. */
  readonly keep: boolean;
  /** Shares of deliveries, 0 to 1. */
  readonly duplicates?: number | undefined;
  readonly reordering?: number | undefined;
  /** Port of the name servers and of the resolver. 0 means any free one. */
  readonly dnsPort: number;
  /** The machines behind VMs, if this computer can hold them. */
  readonly machines: 'embedded' | Tier | 'none';
  /** Called with one line about something that failed or is worth knowing. */
  readonly onNote: (note: string) => void;
}

export interface CloudHalf {
  readonly record: CloudRecord;
  readonly cloud: SimulatedCloud;
  readonly forge1: Forge1;
  readonly forge1Registry: Forge1Registry;
  /** Undefined if VMs are only entries, because nobody asked for machines or they are not possible here. */
  readonly machines?: Machines | undefined;
  /** The calls of Cloud Scheduler. They must end before the functions do. */
  readonly scheduledCalls: ScheduledCalls;
  /** Tells the deliveries and Cloud Scheduler where the functions are now. They also look for themselves. */
  lookForFunctions(): Promise<void>;
  /** How many messages no function has acknowledged yet. Google's emulator reports only those under way. */
  pending(): number;
  close(): Promise<void>;
}

const emulatorNames: readonly EmulatorName[] = ['firestore', 'pubsub'];
const lanes = Object.keys(laneFunctions) as Lane[];

/** Adopts the emulators that a killed predecessor left, with all their data. Otherwise starts empty ones. */
async function emulatorsFor(folder: StateFolder): Promise<{ emulators: Emulator[]; adopted: boolean }> {
  const found = await Promise.all(folder.readEmulators().map(adoptEmulator));
  const alive = found.filter((each) => each !== undefined);
  if (alive.length === emulatorNames.length) return { emulators: alive, adopted: true };
  await Promise.all(alive.map((each) => each.close()));
  const spawned: EmulatorRecord[] = [];
  const started = await Promise.allSettled(
    emulatorNames.map((name) =>
      startEmulator(name, (record) => {
        // At once, because the successor must find them if this process is killed now.
        spawned.push(record);
        folder.writeEmulators(spawned);
      }),
    ),
  );
  const emulators = started.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const failed = started.find((each) => each.status === 'rejected');
  if (failed === undefined) return { emulators, adopted: false };
  await Promise.all(emulators.map((each) => each.close()));
  throw failed.reason;
}

/** Ends the emulators some time after this process was killed, if no successor comes. */
function startKeeper(folder: StateFolder): () => void {
  const program = fileURLToPath(new URL('./emulator-keeper.js', import.meta.url));
  const keeper = spawn(process.execPath, [program, folder.path, String(process.pid)], {
    detached: true,
    stdio: 'ignore',
  });
  keeper.unref();
  return () => keeper.kill();
}

/** Starts the machines. If this computer cannot hold them, it notes why and the stack runs without. */
async function machinesOf(
  tier: Tier,
  cloud: SimulatedCloud,
  folder: StateFolder,
  /** URLs of the loopback servers that machines reach. */
  servers: readonly string[],
  onNote: (note: string) => void,
): Promise<Machines | undefined> {
  const disks = folder.file('machines');
  const why = tier.whyNot(disks);
  if (why !== undefined) {
    onNote(
      `No simulated VM answers SSH here: ${why}. Bootstraps end when their cloud resources stand; --install-version, --install-hash and --install-local are refused.`,
    );
    return undefined;
  }
  const portOf = (url: string): number => Number(new URL(url).port);
  const fixed = [cloud.frontUrl, ...servers, ...Object.values(cloud.endpoints)].map(portOf);
  const outsidePorts = (): number[] => {
    const { origin } = folder.readFunctions() ?? {};
    return [...new Set([...fixed, ...(origin === undefined ? [] : [portOf(origin)])])];
  };
  const { world, identity, endpoints } = cloud;
  const environment = computeEnvironment(endpoints.compute);
  return startMachines({ world, identity, folder: disks, tier, environment, outsidePorts, onNote });
}

/** Closes everything that was started, the last first. */
interface Closers {
  add(close: () => Promise<void> | void): void;
  close(): Promise<void>;
}

function createClosers(): Closers {
  const closers: (() => Promise<void> | void)[] = [];
  return {
    add(close) {
      closers.push(close);
    },
    async close() {
      for (const each of closers.splice(0).reverse()) await each();
    },
  };
}

/** The simulated cloud and the servers beside it, for machines and functions. */
interface Served {
  readonly cloud: SimulatedCloud;
  readonly forge1: Forge1;
  readonly forge1Registry: Forge1Registry;
  readonly k0sReleasesUrl: string;
  /** URLs of the loopback servers that machines reach, except the cloud's own. */
  readonly urls: readonly string[];
}

async function startServers(cloud: SimulatedCloud, closers: Closers): Promise<Served> {
  // A restarted cloud keeps its addresses.
  const ports = cloud.world.table<number>('ports');
  const forge1 = await startForge1(ports['forge1']);
  ports['forge1'] = forge1.port;
  closers.add(() => forge1.close());
  const forge1Registry = await startForge1Registry(cloud.world, forge1, local.packagesBucket);
  closers.add(() => forge1Registry.close());
  const k0sReleases = await startK0sReleases(ports['k0sReleases']);
  ports['k0sReleases'] = k0sReleases.port;
  closers.add(() => k0sReleases.close());
  const urls = [forge1.url, k0sReleases.url, forge1Registry.url, `http://${cloud.imagesHost}`];
  return { cloud, forge1, forge1Registry, k0sReleasesUrl: k0sReleases.url, urls };
}

/** The function that gets a lane's messages, and where it is now. */
const triggersIn = (folder: StateFolder) =>
  lanes.map((lane) => ({
    name: laneFunctions[lane],
    topic: topicPath(lane),
    url: (): string | undefined => {
      const functions = folder.readFunctions();
      return functions === undefined ? undefined : functionUrl(functions.origin, laneFunctions[lane]);
    },
    serviceAccount: invokers.eventarc,
  }));

type Triggers = ReturnType<typeof triggersIn>;

/** Carries messages to the functions: with Google's emulator if it runs, else with the simulated Pub/Sub. */
async function startMessages(
  { identity, world }: SimulatedCloud,
  pubsubHost: string | undefined,
  triggers: Triggers,
  { seed, duplicates = 0, reordering = 0, onNote }: CloudHalfOptions,
): Promise<EmulatorPushes | Deliveries> {
  if (pubsubHost !== undefined) {
    return startEmulatorPushes({
      emulatorHost: pubsubHost,
      identity,
      triggers,
      onFailure: (subscription, why) => onNote(`${subscription}: a delivery failed: ${why}`),
    });
  }
  return createDeliveries({
    world,
    identity,
    seed,
    duplicates,
    reordering,
    onFailure: ({ subscription, attempt, why }) => onNote(`${subscription}: delivery ${attempt} failed: ${why}`),
  });
}

/** Points deliveries and Cloud Scheduler at the current address of the functions. */
function createPointer(
  folder: StateFolder,
  cloud: SimulatedCloud,
  triggers: Triggers,
  messages: EmulatorPushes | Deliveries,
): () => Promise<void> {
  const pointed = new Map<string, string>();
  let deployed: { readonly origin: string; readonly jobs: Promise<void> } | undefined;
  return async () => {
    for (const { url: ask, ...trigger } of triggers) {
      const url = ask();
      if (url === undefined || pointed.get(trigger.name) === url) continue;
      pointed.set(trigger.name, url);
      if ('addTrigger' in messages) messages.addTrigger({ ...trigger, url, retry: true });
    }
    const origin = folder.readFunctions()?.origin;
    if (origin === undefined) return;
    if (origin !== deployed?.origin) deployed = { origin, jobs: makeScheduledJobs(cloud, origin) };
    await deployed.jobs;
  };
}

/** Repeats the work until it is stopped. */
function keepDoing(work: () => Promise<void>, onNote: (note: string) => void): () => Promise<void> {
  const ending = new AbortController();
  const done = (async () => {
    while (!ending.signal.aborted) {
      await work().catch((error: Error) => onNote(error.message));
      await sleep(200, undefined, { signal: ending.signal, ref: false }).catch(() => undefined);
    }
  })();
  return async () => {
    ending.abort();
    await done;
  };
}

const recordOf = (
  { store, timeFactor, seed }: CloudHalfOptions,
  { cloud, forge1, forge1Registry, k0sReleasesUrl }: Served,
  machines: Machines | undefined,
  release: PublishedRelease | undefined,
  emulators: readonly Emulator[],
): CloudRecord => ({
  schema: 1,
  pid: process.pid,
  store,
  timeFactor,
  seed,
  frontUrl: cloud.frontUrl,
  endpoints: cloud.endpoints,
  metadataHost: cloud.metadataHost,
  dns: { resolver: cloud.nameServers?.resolver ?? '', servers: cloud.nameServers?.addresses ?? {} },
  issuerUrl: cloud.issuerUrl,
  forge1Url: forge1.url,
  forge1RegistryUrl: forge1Registry.url,
  artifactRegistryDockerUrl: `http://${outsideNames.artifactRegistry}:${new URL(`http://${cloud.imagesHost}`).port}`,
  k0sReleasesUrl,
  sshProxyUrl: machines?.proxyUrl,
  // A hardened organization allows no public address.
  ...(worldName(cloud.world) === 'hardened'
    ? { machineAccess: 'iap', loadBalancers: 'internal' }
    : { machineAccess: 'direct', loadBalancers: 'external' }),
  iapTunnelUrl: cloud.tunnel.url,
  release,
  emulators: emulators.map(({ name, pid, host }) => ({ name, pid, host })),
});

async function startEmulators(folder: StateFolder, { store }: CloudHalfOptions, closers: Closers) {
  if (store !== 'emulator') return { emulators: [], adopted: false };
  const endKeeper = startKeeper(folder);
  closers.add(() => void endKeeper());
  const found = await emulatorsFor(folder);
  closers.add(async () => {
    await Promise.all(found.emulators.map((each) => each.close()));
  });
  return found;
}

async function startCloud(
  folder: StateFolder,
  { seed, timeFactor, keep, duplicates = 0, dnsPort, world, worldSettings, onNote }: CloudHalfOptions,
  adopted: boolean,
): Promise<SimulatedCloud> {
  // The store holds the bootstraps. If it starts empty, a cloud that remembers their projects would only confuse.
  const snapshotFile = keep ? folder.file('cloud-snapshot.json') : undefined;
  if (snapshotFile !== undefined && !adopted) rmSync(snapshotFile, { force: true });
  return createSimulatedCloud({
    seed,
    timeFactor,
    snapshotFile,
    dnsPort,
    logins: { loginsFile: keep ? folder.file('logins.json') : undefined },
    initial: initialState(),
    world,
    worldSettings,
    scheduled: { duplicates, onFailure: (job, why) => onNote(`${job} failed: ${why}`) },
  });
}

async function checkFree(folder: StateFolder): Promise<void> {
  const before = folder.readCloud();
  if (before === undefined || before.pid === process.pid || !(await serves(before.pid, before.frontUrl))) return;
  throw new Error(`Process ${before.pid} already runs the cloud in ${folder.path}. Stop it, or give another --state.`);
}

export async function startCloudHalf(folder: StateFolder, options: CloudHalfOptions): Promise<CloudHalf> {
  await checkFree(folder);
  const { onNote } = options;
  const tier = options.machines === 'embedded' ? embedded : options.machines;
  const closers = createClosers();
  try {
    const { emulators, adopted } = await startEmulators(folder, options, closers);
    const cloud = await startCloud(folder, options, adopted);
    closers.add(() => cloud.close());
    const served = await startServers(cloud, closers);
    await makeDeploymentSecrets(cloud);
    await makeBucket(cloud, local.uploadsBucket);
    await makeStandingZone(cloud);
    const machines = tier === 'none' ? undefined : await machinesOf(tier, cloud, folder, served.urls, onNote);
    closers.add(() => machines?.close());
    if (machines !== undefined) cloud.tunnel.leadTo(machines.connectFromIap);
    const release = machines === undefined ? undefined : await publishRelease(cloud);
    const triggers = triggersIn(folder);
    const pubsubHost = emulators.find(({ name }) => name === 'pubsub')?.host;
    const messages = await startMessages(cloud, pubsubHost, triggers, options);
    closers.add(() => messages.close());
    const lookForFunctions = createPointer(folder, cloud, triggers, messages);
    closers.add(keepDoing(lookForFunctions, onNote));
    const record = recordOf(options, served, machines, release, emulators);
    folder.writeCloud(record);
    return {
      record,
      cloud,
      forge1: served.forge1,
      forge1Registry: served.forge1Registry,
      machines,
      scheduledCalls: cloud.scheduledCalls,
      lookForFunctions,
      pending: messages.pending,
      close: closers.close,
    };
  } catch (error) {
    await closers.close();
    throw error;
  }
}
