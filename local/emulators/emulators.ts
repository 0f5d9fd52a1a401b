/** Runs Google's Firestore and Pub/Sub emulators as child processes on loopback. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { timeLimit } from '../../shared/time-limit.js';

export type EmulatorName = 'firestore' | 'pubsub';

export interface EmulatorRecord {
  readonly name: EmulatorName;
  readonly pid: number;
  /** `127.0.0.1:<port>` */
  readonly host: string;
}

export interface Emulator extends EmulatorRecord {
  close(): Promise<void>;
}

const startSeconds = 60;

const onPath = (program: string): string | undefined =>
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, program))
    .find((file) => existsSync(file));

const platformFolders = (): string[] => {
  const gcloud = onPath('gcloud');
  const roots = [
    process.env['CLOUDSDK_ROOT_DIR'],
    gcloud === undefined ? undefined : dirname(dirname(realpathSync(gcloud))),
    '/usr/lib/google-cloud-sdk',
  ];
  return [...new Set(roots.filter((root) => root !== undefined))].map((root) => join(root, 'platform'));
};

const jarIn = (folder: string, pattern: RegExp): string | undefined => {
  if (!existsSync(folder)) return undefined;
  const name = readdirSync(folder).find((file) => pattern.test(file));
  return name === undefined ? undefined : join(folder, name);
};

/** Starts the JVM directly, without Google's wrapper scripts, so that the child is the only process to end. */
const programs: Record<EmulatorName, (platform: string, port: number) => string[] | undefined> = {
  firestore(platform, port) {
    const jar = jarIn(join(platform, 'cloud-firestore-emulator'), /^cloud-firestore-emulator.*\.jar$/);
    const main = 'com.google.cloud.datastore.emulator.firestore.CloudFirestore';
    return jar === undefined ? undefined : ['-cp', jar, main, '--host=127.0.0.1', `--port=${port}`];
  },
  pubsub(platform, port) {
    const jar = jarIn(join(platform, 'pubsub-emulator', 'lib'), /^cloud-pubsub-emulator.*\.jar$/);
    return jar === undefined ? undefined : ['-jar', jar, '--host=127.0.0.1', `--port=${port}`];
  },
};

/** A sentence about what this machine lacks to run this emulator. Undefined if nothing is missing. */
export function emulatorMissing(name: EmulatorName): string | undefined {
  if (onPath('java') === undefined) return `The ${name} emulator needs Java; there is no \`java\` on the PATH.`;
  if (platformFolders().some((platform) => programs[name](platform, 1) !== undefined)) return undefined;
  return `The ${name} emulator is not installed; \`gcloud components install ${
    name === 'firestore' ? 'cloud-firestore-emulator' : 'pubsub-emulator'
  }\` brings it.`;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export const answers = (host: string): Promise<boolean> =>
  new Promise((resolve) => {
    const [name = '', port] = host.split(':');
    const socket = connect(Number(port), name);
    const end = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
    socket.setTimeout(2000, () => end(false));
  });

/** Firestore's emulator accepts connections before it accepts calls. Both emulators answer plain HTTP once they are ready. */
async function isReady(host: string): Promise<boolean> {
  if (!(await answers(host))) return false;
  return fetch(`http://${host}/`, { signal: timeLimit(2000) }).then(
    async (reply) => {
      await reply.body?.cancel();
      return true;
    },
    () => false,
  );
}

export function isAlive(pid: number): boolean {
  // To kill(2), 0 means our own process group.
  if (pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

export async function endEmulator(pid: number): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (!isAlive(pid)) return;
    try {
      process.kill(pid, signal);
    } catch {
      return;
    }
    for (let waited = 0; waited < 5000 && isAlive(pid); waited += 20) await sleep(20);
  }
}

/** The system reuses process ids. If it tells what a process is, the process must be an emulator. */
export function isEmulator(pid: number): boolean {
  if (!isAlive(pid)) return false;
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('emulator');
  } catch {
    return process.platform !== 'linux';
  }
}

/**
 * Takes over an emulator that an earlier process left behind when it was killed, with all its data. Waits for one that is
 * still starting. Undefined if it has gone.
 */
export async function adoptEmulator({ name, pid, host }: EmulatorRecord): Promise<Emulator | undefined> {
  const patience = Date.now() + startSeconds * 1000;
  while (isEmulator(pid) && Date.now() < patience) {
    if (await isReady(host)) return { name, pid, host, close: () => endEmulator(pid) };
    await sleep(100);
  }
  if (isEmulator(pid)) await endEmulator(pid);
  return undefined;
}

const running = new Set<ChildProcess>();
// An orderly end of this process ends the emulators too. After kill -9 the next process adopts them.
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Throws if the emulator is not installed or does not start. `onSpawn` is called before it is ready. */
export async function startEmulator(
  name: EmulatorName,
  onSpawn: (record: EmulatorRecord) => void = () => undefined,
): Promise<Emulator> {
  const missing = emulatorMissing(name);
  if (missing !== undefined) throw new Error(missing);
  for (let left = 3; ; left -= 1) {
    try {
      return await startOn(await freePort(), name, onSpawn);
    } catch (error) {
      // Java takes a second to start, and another program may take the free port meanwhile.
      if (left === 0 || !(error instanceof Error) || !error.message.includes('Address already in use')) throw error;
    }
  }
}

async function startOn(port: number, name: EmulatorName, onSpawn: (record: EmulatorRecord) => void): Promise<Emulator> {
  const args = platformFolders().flatMap((platform) => programs[name](platform, port) ?? []);
  // By default the heap may grow to a quarter of the machine's memory.
  const child = spawn('java', ['-Xmx512m', '-Duser.language=en', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // A process group of its own: Ctrl-C in a terminal reaches only us, and we end the emulator in its turn.
    detached: true,
  });
  running.add(child);
  let last = '';
  const keep = (chunk: Buffer) => {
    last = `${last}${chunk}`.slice(-2000);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  let ended = false;
  const exit = new Promise<void>((resolve) => {
    child.once('error', (error) => keep(Buffer.from(error.message)));
    child.once('close', () => {
      ended = true;
      running.delete(child);
      resolve();
    });
  });
  const host = `127.0.0.1:${port}`;
  if (child.pid !== undefined) onSpawn({ name, pid: child.pid, host });
  const patience = Date.now() + startSeconds * 1000;
  while (!(await isReady(host))) {
    if (ended || Date.now() > patience) {
      child.kill('SIGKILL');
      throw new Error(`The ${name} emulator did not come up: ${last.trim() || 'it said nothing'}`);
    }
    await sleep(100);
  }
  child.unref();
  return {
    name,
    pid: child.pid as number,
    host,
    async close() {
      await endEmulator(child.pid as number);
      if (child.exitCode === null && child.signalCode === null) await exit;
    },
  };
}
