/**
 * Machines as steps and the command line see them: a host, what runs on it, what is put there. `context.remote` is made here;
 * what speaks SSH is loaded on first use, so that functions that reach no machine never pay for it.
 */
import type { Connections, RemoteTimes } from './connections.js';

export interface Machine {
  /** As people know it: `jumpbox`, `k0s-1`. */
  readonly name: string;
  readonly address: string;
  /** 22 unless given. */
  readonly port?: number;
  readonly user: string;
  /** `<type> <base64>`, all that the machine itself published. None: it is refused, never trusted on first use. */
  readonly hostKeys: readonly string[];
}

/** A private key as PEM or in OpenSSH's form, or the socket of an agent that has one. */
export type Identity =
  | { readonly privateKey: string; readonly passphrase?: string | undefined }
  /** `publicKey`: the one that is meant of those that it has; each other one that is tried counts as a failed login. */
  | { readonly agent: string; readonly publicKey?: string | undefined };

export type HostRequest = Identity & {
  readonly bootstrapId: string;
  readonly jumpbox: Machine;
  /** Reached through the jumpbox; without it the jumpbox itself is meant. */
  readonly machine?: Machine | undefined;
};

export interface Executed {
  /** As a shell would say it: 128 and more for the end by a signal. */
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ExecOptions {
  /** What must not stand on a command line, for one. */
  readonly stdin?: string | Uint8Array | undefined;
  /** 60 unless given. What takes longer is a job. */
  readonly timeoutSeconds?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface UploadOptions {
  /** As chmod takes it: `0o600`. */
  readonly mode: number;
  /** Hex; counted of the content unless given. */
  readonly sha256?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface InstallOptions extends UploadOptions {
  readonly sha256: string;
}

/** A big content that can be read from anywhere on. */
export interface FileSource {
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
  read(offset: number): AsyncIterable<Uint8Array>;
}

export interface SendOptions {
  readonly mode: number;
  /** Bytes that are there so far, from what an earlier try brought on. */
  readonly onProgress?: ((bytes: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** `lost`: it began, and neither runs nor left an exit code: the machine was started anew, or the job was killed from outside. */
export type JobState = 'running' | 'exited' | 'lost' | 'unknown';

export interface JobLook {
  readonly state: JobState;
  /** Of `exited`. */
  readonly exitCode?: number | undefined;
  /** Bytes of its log so far. */
  readonly size: number;
  /** The log from the offset on, as much as was asked for. */
  readonly bytes: Buffer;
}

interface PollOptions {
  /** 128 KiB unless given. */
  readonly maxBytes?: number | undefined;
  /** Waits so long for an end, or for news of its log, which come at most once a second. At once unless given. */
  readonly waitSeconds?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A command that outlives the connection and the function that started it. */
export interface Job {
  readonly id: string;
  /** Bash. Begins at most once, whoever asks how often; a Problem of code `conflict` for another script under this id. No secrets in it: it stays on the machine. */
  start(script: string): Promise<void>;
  poll(offset: number, options?: PollOptions): Promise<JobLook>;
  /** The token that has the job: of one that runs whose it was claimed with last, of one that has ended whose it was then. */
  claim(token: string): Promise<string>;
  /** With all that it started; its end is then to be seen by `poll`. Fine if it has ended. */
  kill(): Promise<void>;
}

export interface Host {
  readonly name: string;
  /** Fails with a Problem when the machine cannot be reached or the connection is lost; an exit code is an answer, whatever it is. */
  exec(command: string, options?: ExecOptions): Promise<Executed>;
  /** As a whole or not at all: never seen half done, its hash is checked on the machine. Folders on the way are made. */
  upload(path: string, content: string | Uint8Array, options: UploadOptions): Promise<void>;
  /** As `upload`, for what is big: by SFTP, and what an interrupted try brought is not sent again. */
  send(path: string, source: FileSource, options: SendOptions): Promise<void>;
  /** As `upload`, of what lies on the machine already. On the same disk both are one file then, with owner and mode of the new. */
  install(from: string, path: string, options: InstallOptions): Promise<void>;
  /** Undefined if it is not there. At most 16 MiB. */
  read(path: string, options?: { readonly signal?: AbortSignal | undefined }): Promise<Buffer | undefined>;
  job(id: string): Job;
  /** The same machine, all of it by sudo; itself where the user is root. */
  asRoot(): Host;
}

export interface Remote {
  /** Connects, or takes the connection that is there: one login of the jumpbox a bootstrap serves all that ask at once. */
  host(request: HostRequest, signal?: AbortSignal): Promise<Host>;
  /** Ends all connections. */
  close(): Promise<void>;
}

export interface RemoteSettings {
  /** `http://host:port` of an HTTP CONNECT proxy. */
  readonly sshProxy?: string | undefined;
}

export function createRemote(settings: RemoteSettings, times: Partial<RemoteTimes> = {}): Remote {
  let connections: Promise<Connections> | undefined;
  const loaded = (): Promise<Connections> => {
    connections ??= import('./connections.js').then(({ createConnections }) => createConnections(settings, times));
    return connections;
  };
  return {
    async host(request, signal) {
      const [known, { createHost }] = await Promise.all([loaded(), import('./host.js')]);
      const connection = (asked?: AbortSignal) => known.get(request, asked);
      await connection(signal);
      return createHost(request.machine ?? request.jumpbox, connection, signal);
    },
    close: async () => (await connections)?.close(),
  };
}
