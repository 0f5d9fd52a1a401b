/**
 * The simulated Google Cloud: every API that plinth calls, on loopback, with the delays, the randomness and the strictness of
 * the real one.
 */
import { createIdentity, type Identity, type IdentityKeys } from '../identity/identity.js';
import type { OAuthOptions } from '../identity/oauth.js';
import { listenNear } from '../loopback.js';
import { registryServer } from '../registry/server.js';
import { apis } from './apis.js';
import { imageGate, imagesOf } from './artifact-registry/images.js';
import { makeKernel, makeWorld } from './assemble.js';
import { controlPaths } from './control.js';
import { isBarred } from './iam/service-accounts.js';
import { startTunnel, type Tunnel } from './iap/tunnel.js';
import { applyInitial, type InitialState } from './initial.js';
import type { Caller, JsonObject, SimulatedApi, World } from './kernel/api.js';
import { type Calls, createCalls } from './kernel/calls.js';
import { createFaults, type Faults } from './kernel/faults.js';
import type { Kernel } from './kernel/kernel.js';
import { apiServer, frontServer, type Served } from './kernel/server.js';
import { createSnapshot, readSnapshot } from './kernel/snapshot.js';
import { type CloudState, emptyState, type RunningWorld } from './kernel/world.js';
import { metadataServer } from './metadata.js';
import { type NameServers, startNameServers } from './name-servers/name-servers.js';
import { createScheduledCalls, type ScheduledCalls, type ScheduledCallsOptions } from './scheduler/calls.js';
import { keepContents } from './storage/contents.js';
import { answerMedia } from './storage/media.js';
import { type PlacedFile, placeFile } from './storage/place.js';
import { either, worldPaths } from './world-control.js';
import type { WorldSettings } from './worlds/settings.js';
import { changeWorld } from './worlds/settings.js';
import type { WorldName } from './worlds/table.js';

export type { InitialState } from './initial.js';
export type { RecordedCall } from './kernel/calls.js';

export interface SimulatedCloudOptions {
  /** Seeds everything random: ids, waits, early returns. Default 1. */
  readonly seed?: number;
  /** 1 is realistic, 0 (default) means no delays. */
  readonly timeFactor?: number;
  /** The state is read from this file at the start and kept there. */
  readonly snapshotFile?: string | undefined;
  /** Options of the token issuer. Its file stores logins by the hashes of their tokens. */
  readonly logins?: OAuthOptions;
  /** Front port. 0 (default) means any free one, or the one in the snapshot. */
  readonly port?: number;
  /** Answer DNS too, on this port. 0 means any free one, or the one in the snapshot. Without it, nothing answers. */
  readonly dnsPort?: number | undefined;
  readonly initial?: InitialState;
  /** Default: the world in the snapshot, or `seasoned`. */
  readonly world?: WorldName | undefined;
  /** Settings of the world that differ, by key: `{ 'quota.CPUS': 24 }`. Unknown ones are refused. */
  readonly worldSettings?: WorldSettings | undefined;
  /** The project that the metadata server reports, and its default identity. */
  readonly metadata?: { readonly project: string; readonly serviceAccount: string };
  /** Options of the calls that Cloud Scheduler makes. */
  readonly scheduled?: Pick<ScheduledCallsOptions, 'duplicates' | 'onFailure'>;
}

export interface SimulatedCloud {
  /** Serves every API under `/<api host>/…`, the issuer and `/_local/…`. */
  readonly frontUrl: string;
  readonly endpoints: Readonly<Record<SimulatedApi, string>>;
  /** `host:port`, for GCE_METADATA_HOST. */
  readonly metadataHost: string;
  readonly issuerUrl: string;
  /** Address of Artifact Registry's Docker endpoint: `127.0.0.1:<port>`. */
  readonly imagesHost: string;
  /** IAP's TCP forwarding. */
  readonly tunnel: Tunnel;
  /** What answers DNS, if that was asked for. */
  readonly nameServers: NameServers | undefined;
  readonly world: World;
  readonly calls: Calls;
  readonly faults: Faults;
  readonly identity: Identity;
  /** Fires the jobs of Cloud Scheduler. */
  readonly scheduledCalls: ScheduledCalls;
  /** Puts a file into a bucket without reading it, unless it is there. */
  placeFile(file: PlacedFile): Promise<void>;
  /** All tables except the identity's keys, and the effects that are due. */
  state(): JsonObject;
  close(): Promise<void>;
}

const defaultMetadata = { project: 'plinth-local', serviceAccount: 'default@plinth-local.iam.gserviceaccount.com' };

/** Opens the world of the snapshot, or a new one. */
function openWorld(options: SimulatedCloudOptions) {
  const { seed = 1, timeFactor = 0, snapshotFile, initial = {} } = options;
  const state = readSnapshot(snapshotFile) ?? emptyState(seed);
  const world = makeWorld({
    state,
    timeFactor,
    onFault: (effect, error) =>
      process.stderr.write(
        `simulated cloud: effect ${effect}: ${error instanceof Error ? error.stack : String(error)}
`,
      ),
  });
  applyInitial(world, initial);
  changeWorld(world, options.world, options.worldSettings);
  const forgetContents = keepContents(world, snapshotFile && `${snapshotFile}.objects`);
  const snapshot = createSnapshot(snapshotFile, state);
  world.onChange(() => snapshot.touch());
  const close = (): void => {
    snapshot.touch();
    snapshot.flush();
    world.close();
    forgetContents();
  };
  const place = (file: PlacedFile): Promise<void> => {
    placeFile(world, file);
    return snapshot.written();
  };
  return { world, state, snapshot, place, close };
}

/** Artifact Registry's Docker endpoint. */
const startImages = (
  world: RunningWorld,
  callerOf: (token: string) => Caller | undefined,
  written: () => Promise<void>,
  port: number,
) =>
  listenNear(
    registryServer({
      gate: imageGate(world, callerOf),
      images: imagesOf(world),
      onPushed() {
        world.changed();
        return written();
      },
    }),
    port,
  );

/** Replies once the change is in the snapshot. */
const keeping =
  (answer: Kernel, written: () => Promise<void>): Kernel =>
  async (host, request) => {
    const reply = await answer(host, request);
    if (request.httpMethod !== 'GET') await written();
    return reply;
  };

/** Everything but the keys of the issuer. */
function stateIn({ tables: { identity: _keys, ...tables }, due }: CloudState): JsonObject {
  return structuredClone({ tables, due }) as unknown as JsonObject;
}

export async function createSimulatedCloud(options: SimulatedCloudOptions = {}): Promise<SimulatedCloud> {
  const { logins = {}, port = 0, metadata = defaultMetadata, scheduled = {} } = options;
  const { world, state: kept, snapshot, place, close: closeWorld } = openWorld(options);
  const calls = createCalls();
  const faults = createFaults(world);
  const state = () => stateIn(kept);

  let identity: Identity | undefined;
  const known = (): Identity => {
    if (identity === undefined) throw new Error('the issuer is not up yet');
    return identity;
  };
  const callerOf = (token: string): Caller | undefined => {
    const caller = known().callerOf(token);
    return caller !== undefined && isBarred(world, caller.email) ? undefined : caller;
  };
  const kernel = keeping(makeKernel({ world, calls, callerOf }), snapshot.written);
  const served: Served = {
    hosts: Object.keys(apis),
    kernel,
    media: (asked) => answerMedia({ kernel, world, callerOf }, asked),
  };

  // A restarted cloud takes its former ports again, so that its addresses stay valid.
  const ports = world.table<number>('ports');
  const nameServers = await startNames(world, ports, options.dnsPort);
  const control = either(
    worldPaths(world),
    controlPaths({ identity: known, calls, faults, state, logins, nameServers }),
  );
  const front = await frontServer(served, control, port || (ports['front'] ?? 0));
  identity = await createIdentity({ issuer: front.url, keys: world.table('identity') as IdentityKeys });
  const servers = await startApis(served, ports);
  const machine = await metadataServer(
    { world, identity, project: metadata.project, defaultServiceAccount: metadata.serviceAccount },
    ports['metadata'] ?? 0,
  );
  const images = await startImages(world, callerOf, snapshot.written, ports['images'] ?? 0);
  const tunnel = await startTunnel({ world, callerOf, port: ports['tunnel'] ?? 0 });
  Object.assign(ports, { front: front.port, metadata: machine.port, images: images.port, tunnel: tunnel.port });
  const scheduledCalls = createScheduledCalls({ world, identity, ...scheduled });
  snapshot.touch();

  return {
    frontUrl: front.url,
    endpoints: Object.fromEntries(servers.map(([host, server]) => [host, server.url])) as Record<SimulatedApi, string>,
    metadataHost: machine.url.slice('http://'.length),
    issuerUrl: front.url,
    imagesHost: images.url.slice('http://'.length),
    tunnel,
    nameServers,
    world,
    calls,
    faults,
    identity,
    scheduledCalls,
    state,
    placeFile: place,
    async close() {
      await scheduledCalls.close();
      closeWorld();
      const all = [front, machine, images, tunnel, ...servers.map(([, server]) => server)];
      await Promise.all([...all.map((server) => server.close()), nameServers?.close()]);
    },
  };
}

async function startNames(world: World, ports: Record<string, number>, port: number | undefined) {
  if (port === undefined) return undefined;
  const nameServers = await startNameServers(world, port || (ports['dns'] ?? 0));
  ports['dns'] = nameServers.port;
  return nameServers;
}

/** Starts each API on its own port, and remembers the port. */
async function startApis(served: Served, ports: Record<string, number>) {
  const servers = await Promise.all(
    served.hosts.map(async (host) => [host, await apiServer(served, host, ports[host] ?? 0)] as const),
  );
  for (const [host, { port }] of servers) ports[host] = port;
  return servers;
}
