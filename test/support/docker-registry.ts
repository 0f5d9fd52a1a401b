/** The distribution's docker-registry on a loopback port, with one user, for tests: a registry that none of us wrote. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../package/postgres-server.js';
import { type AccessLog, accessLogOf } from './access-log.js';

export interface DockerRegistry extends Pick<AccessLog, 'writes'> {
  /** `127.0.0.1:<port>` */
  readonly server: string;
  readonly user: string;
  readonly password: string;
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
  const log = accessLogOf(child, (path) => fetch(`http://${server}${path}`));
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  for (;;) {
    if (child.exitCode !== null) throw new Error(`docker-registry ended: ${log.text()}`);
    const answer = await fetch(`http://${server}/v2/`).catch(() => undefined);
    if (answer?.status === 401) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    server,
    user,
    password,
    writes: log.writes,
    async close() {
      child.kill();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
