/** The distribution's docker-registry on a loopback port, with one user, for tests: a registry that none of us wrote. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../package/postgres-server.js';

export interface DockerRegistry {
  /** `127.0.0.1:<port>` */
  readonly server: string;
  readonly user: string;
  readonly password: string;
  /** Requests so far that wrote something, such as `PUT /v2/a/manifests/1`. */
  writes(): readonly string[];
  close(): Promise<void>;
}

export async function startDockerRegistry(user: string, password: string): Promise<DockerRegistry> {
  const folder = mkdtempSync(join(tmpdir(), 'plinth-registry-'));
  mkdirSync(join(folder, 'data'));
  const htpasswd = execFileSync('htpasswd', ['-niB', user], { input: password });
  writeFileSync(join(folder, 'htpasswd'), htpasswd);
  const server = `127.0.0.1:${await freePort()}`;
  const config = {
    version: '0.1',
    log: { level: 'error' },
    storage: { filesystem: { rootdirectory: join(folder, 'data') } },
    http: { addr: server },
    auth: { htpasswd: { realm: 'test', path: join(folder, 'htpasswd') } },
  };
  // Its YAML takes JSON.
  writeFileSync(join(folder, 'config.yml'), JSON.stringify(config));
  const child = spawn('docker-registry', ['serve', join(folder, 'config.yml')], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  const listen = (data: Buffer): void => {
    said += data.toString();
  };
  child.stdout.on('data', listen);
  child.stderr.on('data', listen);
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  for (;;) {
    if (child.exitCode !== null) throw new Error(`docker-registry ended: ${said}`);
    const answer = await fetch(`http://${server}/v2/`).catch(() => undefined);
    if (answer?.status === 401) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    server,
    user,
    password,
    writes: () => [...said.matchAll(/"((?:PUT|POST|PATCH|DELETE) \S+) HTTP/g)].map(([, request = '']) => request),
    async close() {
      child.kill();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
