/** `k0s status`, and the socket on which a running k0s answers it (pkg/component/status). */
import { mkdirSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { stringify } from 'yaml';
import { dataDir, place, runDir } from './place.js';

/** The field names are those of `k0s status --out json`. */
export interface Status {
  readonly Version: string;
  readonly Pid: number;
  readonly PPid: number;
  readonly Role: string;
  readonly SysInit: string;
  readonly StubFile: string;
  readonly Output: string;
  readonly Workloads: boolean;
  readonly SingleNode: boolean;
  readonly Args: readonly string[];
  readonly WorkerToAPIConnectionStatus: { readonly Message: string; readonly Success: boolean };
  readonly ClusterConfig: unknown;
  readonly K0sVars: Readonly<Record<string, string>>;
}

export const k0sVars = {
  AdminKubeConfigPath: place.adminConfig,
  CertRootDir: place.pki,
  DataDir: dataDir,
  KubeletAuthConfigPath: place.kubeletConfig,
  RunDir: runDir,
  RuntimeConfigPath: place.runtimeConfig,
  StatusSocketPath: place.statusSocket,
};

export async function serveStatus(status: () => Status): Promise<void> {
  mkdirSync(runDir, { recursive: true });
  rmSync(place.statusSocket, { force: true });
  const server = createServer((asked, response) => {
    if (asked.url !== '/status') return void response.writeHead(404).end();
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(status()));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(place.statusSocket, resolve);
  });
}

export const readStatus = (socketPath: string): Promise<Status> =>
  new Promise((resolve, reject) => {
    const asked = request({ socketPath, path: '/status' }, (response) => {
      text(response).then((said) => resolve(JSON.parse(said) as Status), reject);
    });
    asked.once('error', ({ code }: NodeJS.ErrnoException) => {
      const why = code === 'ENOENT' ? 'no such file or directory' : 'connection refused';
      const at = `Get "http://localhost/status": dial unix ${socketPath}: connect: ${why}`;
      reject(new Error(`status: can't get "status" via "${socketPath}": ${at}`));
    });
    asked.end();
  });

export function shown(status: Status, out: string | undefined): string {
  if (out === 'json') return `${JSON.stringify(status, undefined, 3)}\n`;
  if (out === 'yaml') return stringify(status);
  const { Success, Message } = status.WorkerToAPIConnectionStatus;
  const lines = [
    `Version: ${status.Version}`,
    `Process ID: ${status.Pid}`,
    `Role: ${status.Role}`,
    `Workloads: ${status.Workloads}`,
    `SingleNode: ${status.SingleNode}`,
    ...(status.Workloads
      ? [`Kube-api probing successful: ${Success}`, `Kube-api probing last error:  ${Message}`]
      : []),
    `Init System: ${status.SysInit}`,
    `Service file: ${status.StubFile}`,
  ];
  return `${lines.join('\n')}\n`;
}
