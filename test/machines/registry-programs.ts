/** skopeo, docker-registry and htpasswd for tests: the distribution's, or what stands for them in simulated machines. A registry is started as the step `registry` sets it up. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { registryConfig, registryPaths } from '../../functions/steps/registry/registry-files.js';
import { makeCertificate } from '../cli/certificate.js';
import { freePort } from '../package/postgres-server.js';
import { type AccessLog, accessLogOf } from '../support/access-log.js';

export type Program = readonly string[];

const standIn = (name: string): Program => [
  process.execPath,
  fileURLToPath(new URL(`../../local/machines/guest/${name}.js`, import.meta.url)),
];

export const standIns = {
  skopeo: standIn('skopeo'),
  dockerRegistry: standIn('docker-registry'),
  htpasswd: standIn('htpasswd'),
};
export const distribution: typeof standIns = {
  skopeo: ['skopeo'],
  dockerRegistry: ['docker-registry'],
  htpasswd: ['htpasswd'],
};

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export async function run(
  [program = '', ...first]: Program,
  args: readonly string[],
  { input = '', env = {} }: { readonly input?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<Ran> {
  const child = spawn(program, [...first, ...args], {
    env: { PATH: process.env['PATH'], HOME: '/nonexistent', ...env },
  });
  child.stdin.end(input);
  const ended = new Promise<number | null>((resolve, reject) =>
    child.once('error', reject).once('close', (code) => resolve(code)),
  );
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, stdout, stderr };
}

/** Another name of 127.0.0.1, for which programs ask their proxy. */
export const registryName = 'jumpbox.localhost';
export const user = 'platform';
export const password = 'correct horse: battery';

export interface Lab {
  readonly folder: string;
  /** Has the certificate of the authority of all its registries, `ca.crt`, and nothing else. */
  readonly certificates: string;
  /** A file of logins at each server, by the password, or another one. */
  logins(servers: readonly string[], others?: Readonly<Record<string, string>>): string;
  registry(programs: Pick<typeof standIns, 'dockerRegistry' | 'htpasswd'>, folder?: string): Promise<RunningRegistry>;
  /** Ends what runs, too. */
  remove(): Promise<void>;
}

export interface RunningRegistry extends Pick<AccessLog, 'writes'> {
  /** `127.0.0.1:<port>` */
  readonly server: string;
  /** What it holds, config and all. */
  readonly folder: string;
  /** At once. */
  kill(): Promise<void>;
}

export async function makeLab(): Promise<Lab> {
  const folder = mkdtempSync(join(tmpdir(), 'plinth-registry-'));
  const certificates = join(folder, 'certificates');
  mkdirSync(certificates);
  const { key, cert, file } = await makeCertificate(folder, registryName);
  const running: RunningRegistry[] = [];
  let files = 0;
  writeFileSync(join(certificates, 'ca.crt'), readFileSync(file));
  return {
    folder,
    certificates,
    logins(servers, others = {}) {
      const path = join(folder, `auth-${++files}.json`);
      const authAt = (server: string) => Buffer.from(`${user}:${others[server] ?? password}`).toString('base64');
      const auths = Object.fromEntries(servers.map((server) => [server, { auth: authAt(server) }]));
      writeFileSync(path, JSON.stringify({ auths }), { mode: 0o600 });
      return path;
    },
    async registry({ dockerRegistry, htpasswd }, at = join(folder, `registry-${++files}`)) {
      mkdirSync(join(at, 'data'), { recursive: true });
      const hashed = await run(htpasswd, ['-niB', user], { input: password });
      writeFileSync(join(at, 'htpasswd'), hashed.stdout);
      writeFileSync(join(at, 'tls.key'), key);
      writeFileSync(join(at, 'tls.crt'), cert);
      const server = `127.0.0.1:${await freePort()}`;
      const config = (await registryConfig(server))
        .replaceAll(dirname(registryPaths.config), at)
        .replaceAll(registryPaths.data, join(at, 'data'));
      writeFileSync(join(at, 'config.yml'), config);
      const started = await startRegistry(dockerRegistry, server, at);
      running.push(started);
      return started;
    },
    async remove() {
      for (const each of running) await each.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** With the config in the folder. */
export async function startRegistry(
  [program = '', ...first]: Program,
  server: string,
  folder: string,
): Promise<RunningRegistry> {
  const child: ChildProcess = spawn(program, [...first, 'serve', join(folder, 'config.yml')]);
  const log = accessLogOf(
    child,
    (path) =>
      new Promise((resolve, reject) => {
        const asked = get(`https://${server}${path}`, { rejectUnauthorized: false }, (response) => {
          response.resume().on('close', resolve);
        });
        asked.on('error', reject);
      }),
  );
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  await log.saying('listening on');
  return {
    server,
    folder,
    writes: log.writes,
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
