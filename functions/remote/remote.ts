/**
 * Lets steps and commands work on machines: run commands and jobs, and put files there. The SSH code loads on first use, so
 * that functions that reach no machine never pay for it.
 */
import type { Agent } from 'node:http';
import type { Connections, RemoteTimes } from './connections.js';

/** The VM behind a tunnel. */
interface TunnelPlace {
  readonly project: string;
  readonly zone: string;
  readonly instance: string;
}

export interface Machine {
  /** The name that people know: `jumpbox`, `k0s-1`. */
  readonly name: string;
  readonly address: string;
  /** Defaults to 22. */
  readonly port?: number;
  readonly user: string;
  /** Set if only IAP reaches it. Then the address is not dialed. Only the jumpbox may have it. */
  readonly tunnel?: TunnelPlace | undefined;
  /**
   * `<type> <base64>`, all the keys that the machine itself published. Without a key, plinth refuses the machine and never
   * trusts on first use.
   */
  readonly hostKeys: readonly string[];
}

/** A private key as PEM or in OpenSSH's form, or the socket of an agent that has one. */
export type Identity =
  | { readonly privateKey: string; readonly passphrase?: string | undefined }
  /** `publicKey` selects one of the agent's keys. Each other key that is tried counts as a failed login. */
  | { readonly agent: string; readonly publicKey?: string | undefined };

export type HostRequest = Identity & {
  readonly bootstrapId: string;
  readonly jumpbox: Machine;
  /** Reached through the jumpbox. Without it, the host is the jumpbox itself. */
  readonly machine?: Machine | undefined;
};

export interface Executed {
  /** As a shell reports it: above 128 if a signal ended the command. */
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ExecOptions {
  /** For example for what must not be on a command line. */
  readonly stdin?: string | Uint8Array | undefined;
  /** Defaults to 60. Anything longer is a job. */
  readonly timeoutSeconds?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface UploadOptions {
  /** As chmod takes it: `0o600`. */
  readonly mode: number;
  /** Hex. Computed from the content unless given. */
  readonly sha256?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface InstallOptions extends UploadOptions {
  readonly sha256: string;
}

/** A big file that can be read from any offset. */
export interface FileSource {
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
  read(offset: number): AsyncIterable<Uint8Array>;
}

export interface SendOptions {
  readonly mode: number;
  /** The bytes on the machine so far, including those of an earlier try. */
  readonly onProgress?: ((bytes: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * `lost` means that it began, but neither runs nor left an exit code. The machine was restarted, or something killed the job.
 */
export type JobState = 'running' | 'exited' | 'lost' | 'unknown';

export interface JobLook {
  readonly state: JobState;
  /** Only if `exited`. */
  readonly exitCode?: number | undefined;
  /** Bytes of its log so far. */
  readonly size: number;
  /** The log from the offset on, up to the limit asked for. */
  readonly bytes: Buffer;
}

interface PollOptions {
  /** Defaults to 128 KiB. */
  readonly maxBytes?: number | undefined;
  /** How long to wait for its end or new log lines, which come at most once a second. Doesn't wait by default. */
  readonly waitSeconds?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A command that outlives the connection and the function that started it. */
export interface Job {
  readonly id: string;
  /**
   * Starts a Bash script at most once, no matter how often it is called. Throws a Problem of code `conflict` for another
   * script under this id. The script stays on the machine, so it must hold no secrets.
   */
  start(script: string): Promise<void>;
  poll(offset: number, options?: PollOptions): Promise<JobLook>;
  /**
   * Claims the job and returns the token that holds it. The last claim of a running job holds it. An ended job keeps its
   * holder, or takes the first one if it has none.
   */
  claim(token: string): Promise<string>;
  /** Kills the job with all that it started. `poll` then shows its end. Succeeds if it has ended already. */
  kill(): Promise<void>;
}

export interface Host {
  readonly name: string;
  /** Throws a Problem if the machine is unreachable or the connection is lost. Any exit code is an answer. */
  exec(command: string, options?: ExecOptions): Promise<Executed>;
  /** Writes all or nothing. Nobody sees a partial file, and the machine checks the hash. Missing folders are made. */
  upload(path: string, content: string | Uint8Array, options: UploadOptions): Promise<void>;
  /** Like `upload`, for big files. It uses SFTP, and doesn't send again what an interrupted try brought. */
  send(path: string, source: FileSource, options: SendOptions): Promise<void>;
  /** Like `upload`, from a file on the machine. On the same disk, both become one file, with the new owner and mode. */
  install(from: string, path: string, options: InstallOptions): Promise<void>;
  /** Undefined if there is no such file. At most 16 MiB. */
  read(path: string, options?: { readonly signal?: AbortSignal | undefined }): Promise<Buffer | undefined>;
  job(id: string): Job;
  /** The same machine with sudo for everything. No sudo if the user is root. */
  asRoot(): Host;
}

export interface Remote {
  /** Connects, or uses the open connection. One login at a bootstrap's jumpbox serves all concurrent requests. */
  host(request: HostRequest, signal?: AbortSignal): Promise<Host>;
  /** Ends all connections. */
  close(): Promise<void>;
}

export interface RemoteSettings {
  /** `http://host:port` of an HTTP CONNECT proxy. */
  readonly sshProxy?: string | undefined;
  /** Needed for machines with `tunnel`. */
  readonly iap?:
    | {
        /** `wss://host/v4` */
        readonly url: string;
        /** An access token. With `fresh`, the former one was refused. */
        readonly token: (fresh: boolean) => Promise<string>;
        /** How to connect to the URL, if not directly. */
        readonly agent?: () => Promise<Agent | undefined>;
      }
    | undefined;
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
