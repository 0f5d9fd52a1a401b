/** A function as it is deployed, in the memory that it has there, and a thousand hostile requests. */
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { functionNames } from '../../shared/names.js';
import { bundleFunction } from '../../tools/bundle/function-bundle.js';
import { type Framework, startFramework } from '../support/framework.js';
import { makeMemoryGroup } from '../support/memory-group.js';
import { createIssuer, type Issuer } from './issuer.js';

const mebibyte = 1024 * 1024;
/** Of `bootstraps` in terraform/function-table.tf. */
const memoryBytes = 512 * mebibyte;
const concurrency = 80;

const wide = (bytes: number): Buffer => Buffer.from(`[${'[],'.repeat(Math.floor(bytes / 3) - 1)}[]]`);
const bodies = {
  event: wide(16 * mebibyte),
  wide: wide(2 * mebibyte - 16),
  deep: Buffer.alloc(2 * mebibyte - 16, '['),
  long: Buffer.from(JSON.stringify({ options: { projectName: 'x'.repeat(2 * mebibyte - 100) } })),
  keys: Buffer.from(`{${Array.from({ length: 100_000 }, (_, i) => `"${i}":0`).join()}}`),
  bomb: gzipSync(Buffer.alloc(64 * mebibyte)),
};

describe('a function in its 512 MiB', function () {
  this.timeout(300_000);
  let issuer: Issuer;
  let token: string;
  let framework: Framework;
  mkdirSync('dist', { recursive: true });
  // Within the project, where the framework is found.
  const folder = mkdtempSync(join('dist', 'held-memory-'));
  const group = makeMemoryGroup(memoryBytes);
  const sockets = new Set<Socket>();

  before(async () => {
    issuer = await createIssuer();
    token = await issuer.token('mallory@example.com');
    const bundle = await bundleFunction('bootstraps', functionNames.bootstraps, { into: folder });
    const settings = {
      PLINTH_PROJECT: 'plinth-test',
      PLINTH_DEPLOYMENT: 'test',
      PLINTH_MACHINE_ACCESS: 'direct',
      PLINTH_SSH_SOURCE_RANGES: '127.0.0.0/8',
      PLINTH_ISSUER: issuer.url,
      PLINTH_ENDPOINTS: `issuer-keys=${issuer.jwksUrl}`,
      PLINTH_AUDIENCES: issuer.audience,
    };
    framework = await startFramework(settings, functionNames.bootstraps, bundle.folder, group?.prefix);
    // The first call loads the function, and the first token the keys of the issuer.
    const authorization = `Bearer ${token}`;
    await fetch(`${framework.url}/bootstraps`, { method: 'POST', headers: { authorization } });
  });
  const isAlive = (): boolean => framework.process.exitCode === null && framework.process.signalCode === null;
  after(async () => {
    for (const socket of sockets) socket.destroy();
    if (isAlive()) {
      const ended = once(framework.process, 'exit');
      framework.process.kill('SIGKILL');
      await ended;
    }
    issuer.close();
    group?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Sends bytes, and waits for the first of the answer. `open`: for nothing, and keeps the connection. */
  async function send(pieces: readonly (string | Buffer)[], open = false): Promise<void> {
    const socket = connect(Number(new URL(framework.url).port), '127.0.0.1');
    sockets.add(socket);
    socket.on('error', () => undefined);
    for (const piece of pieces) socket.write(piece);
    if (open) return void socket.pause();
    await Promise.race([once(socket, 'data'), once(socket, 'close')]);
    socket.destroy();
    sockets.delete(socket);
  }
  const head = (headers: readonly string[], bytes: number): string =>
    ['POST /bootstraps HTTP/1.1', 'host: x', 'content-type: application/json', ...headers, `content-length: ${bytes}`]
      .join('\r\n')
      .concat('\r\n\r\n');
  const bearer = (): string => `authorization: Bearer ${token}`;
  const whole = (body: Buffer, ...headers: string[]) => send([head(headers, body.length), body]);

  const kinds: readonly (() => Promise<void>)[] = [
    () => whole(bodies.event, 'ce-id: 1'),
    () => send([head([], mebibyte), '{"options":'], true),
    () => send([head([bearer()], mebibyte), '{"options":'], true),
    () => whole(bodies.wide, bearer()),
    () => whole(bodies.deep, bearer()),
    () => whole(bodies.long, bearer()),
    () => whole(bodies.keys, bearer()),
    () => whole(bodies.bomb, bearer(), 'content-encoding: gzip'),
    () => send(['POST /bootstraps HTTP/1.1\r\nhost: x\r\nauthoriz'], true),
    () => send(['GET /openapi.json HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(2)], true),
  ];

  /** How long the function has waited for a processor, which other programs had (proc_pid_schedstat). */
  const waitedMs = (): number =>
    Number(readFileSync(`/proc/${framework.process.pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6;

  /** Answers that take the function more than two seconds, or are not those of a function that is well. */
  async function watch(until: AbortSignal): Promise<string[]> {
    const wrong: string[] = [];
    const authorization = `Bearer ${await issuer.token('alice@example.com')}`;
    const headers = { authorization, 'content-type': 'application/json' };
    while (!until.aborted && isAlive()) {
      for (const [path, init, status] of [
        ['/health', {}, 200],
        // She may not bootstrap here, which is said of a whole body alone.
        ['/bootstraps', { method: 'POST', headers, body: '{}' }, 403],
      ] as const) {
        const start = performance.now() - waitedMs();
        const got = await fetch(framework.url + path, { ...init, signal: AbortSignal.timeout(60_000) }).then(
          async (reply) => (await reply.text()) && reply.status,
          String,
        );
        const took = Math.round(performance.now() - waitedMs() - start);
        if (got !== status || took > 2000) wrong.push(`${path}: ${got} after ${took} ms`);
      }
      await sleep(50);
    }
    return wrong;
  }

  it('ends connections that say nothing, or only half of their headers', async () => {
    const closed = ['', 'GET /health HTTP/1.1\r\nhost'].map(async (text) => {
      const socket = connect(Number(new URL(framework.url).port), '127.0.0.1').resume();
      socket.write(text);
      await once(socket, 'close');
    });
    await Promise.all(closed);
  });

  it('answers others within two seconds while it gets a thousand hostile requests, and lives on', async () => {
    const over = new AbortController();
    const watching = watch(over.signal);
    let next = 0;
    const hostile = async (): Promise<void> => {
      while (next < 1000 && isAlive()) {
        const kind = kinds[next % kinds.length];
        next += 1;
        await kind?.();
      }
    };
    await Promise.all(Array.from({ length: concurrency }, hostile));
    over.abort();
    expect(await watching).to.deep.equal([]);
    expect(isAlive()).to.equal(true);
    const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${framework.process.pid}/status`, 'utf8'))?.[1];
    expect(Number(peak) * 1024).to.be.lessThan(memoryBytes);
  });
});
