/** A PostgreSQL server of its own on loopback, with TLS, as a bootstrap's config describes one. For tests of installations. */
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface PostgresServer {
  readonly port: number;
  stop(): Promise<void>;
}

const versions = '/usr/lib/postgresql';

export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });

/** The server refuses to run as root: then it runs as the user that the Debian package made for it. */
export async function startPostgres({
  password,
  certPem,
  keyPem,
}: {
  readonly password: string;
  readonly certPem: string;
  readonly keyPem: string;
}): Promise<PostgresServer> {
  const version = existsSync(versions) ? readdirSync(versions).sort().at(-1) : undefined;
  if (version === undefined) throw new Error('PostgreSQL is needed: apt-get install postgresql');
  const bin = (name: string) => join(versions, version, 'bin', name);
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  const owner = process.getuid?.() === 0 ? { uid: id('-u'), gid: id('-g') } : {};
  const folder = mkdtempSync(join(tmpdir(), 'plinth-postgres-'));
  const data = join(folder, 'data');
  const put = (name: string, content: string): string => {
    const path = join(folder, name);
    writeFileSync(path, content, { mode: 0o600 });
    if (owner.uid !== undefined) chownSync(path, owner.uid, owner.gid);
    return path;
  };
  chmodSync(folder, 0o700);
  if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid);
  const passwordFile = put('password', password);
  const [cert, key] = [put('server.crt', certPem), put('server.key', keyPem)];
  execFileSync(bin('initdb'), ['-D', data, '-U', 'postgres', '-A', 'scram-sha-256', '--pwfile', passwordFile, '-N'], {
    ...owner,
    stdio: 'ignore',
    cwd: folder,
  });
  const port = await freePort();
  const settings = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: folder,
    ssl: 'on',
    ssl_cert_file: cert,
    ssl_key_file: key,
    fsync: 'off',
  };
  const child = spawn(
    bin('postgres'),
    ['-D', data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    { ...owner, stdio: ['ignore', 'ignore', 'pipe'], cwd: folder },
  );
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  let said = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.includes('ready to accept connections')) resolve();
    });
    void ended.then(() => reject(new Error(`PostgreSQL does not start: ${said}`)));
  });
  return {
    port,
    async stop() {
      child.kill('SIGINT');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
