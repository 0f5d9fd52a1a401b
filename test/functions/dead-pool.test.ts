/** A process whose pool of connections no longer works ends, so that the platform starts another. No other process does. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const portOf = (server: TcpServer): number => (server.address() as AddressInfo).port;

interface Started {
  readonly child: ChildProcess;
  readonly output: () => string;
  /** What the process answers. */
  ask(path: '/call' | '/dead'): Promise<string>;
  /** Resolves once the output has the words. */
  says(words: string): Promise<void>;
}

interface Limits {
  readonly youngSeconds?: number;
  readonly answerSeconds?: number;
  /** For a call, while the pool works. */
  readonly callSeconds?: number;
}

async function start(
  origin: string,
  { youngSeconds = 0, answerSeconds = 2, callSeconds = 20 }: Limits = {},
): Promise<Started> {
  const program = fileURLToPath(new URL('dead-pool-process.js', import.meta.url));
  const child = spawn(process.execPath, [program, origin, ...[youngSeconds, answerSeconds, callSeconds].map(String)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += String(data)));
  const says = async (words: string): Promise<void> => {
    while (!output.includes(words)) {
      if (child.exitCode !== null) throw new Error(`It ended without "${words}": ${output}`);
      await Promise.race([once(child.stdout, 'data'), once(child.stderr, 'data'), once(child, 'exit')]);
    }
  };
  await says('port ');
  const base = `http://127.0.0.1:${/port (\d+)/.exec(output)?.[1]}`;
  const ask = async (path: string) => (await fetch(base + path, { headers: { connection: 'close' } })).text();
  return { child, output: () => output, ask, says };
}

describe('a process whose pool of connections is dead', function () {
  this.timeout(60_000);
  let origin: Server;
  /** Takes connections, and never says a word. */
  let silent: TcpServer;
  let asked = 0;
  const children: ChildProcess[] = [];
  const started = async (...of: Parameters<typeof start>): Promise<Started> => {
    const each = await start(...of);
    children.push(each.child);
    return each;
  };

  before(async () => {
    origin = createServer((_, reply) => {
      asked += 1;
      reply.statusCode = 200;
      reply.end('answered');
    }).listen(0, '127.0.0.1');
    silent = createTcpServer((socket) => socket.on('error', () => undefined).resume()).listen(0, '127.0.0.1');
    await Promise.all([once(origin, 'listening'), once(silent, 'listening')]);
  });
  after(() => {
    for (const child of children) child.kill('SIGKILL');
    origin.closeAllConnections();
    origin.close();
    silent.close();
  });

  it('ends by itself after three time-outs in a row, once another connection is answered', async () => {
    const { child, ask, output } = await started(`http://127.0.0.1:${portOf(origin)}`);
    expect(await ask('/call')).to.equal('answered');
    await ask('/dead');
    const ended = once(child, 'exit');
    const before = asked;
    for (let call = 0; call < 3; call += 1) expect(await ask('/call')).to.equal('no answer');
    expect(await ended).to.deep.equal([0, null]);
    expect(asked, 'the fresh connection alone').to.equal(before + 1);
    expect(output()).to.match(/"severity":"ERROR"[^\n]*connections to http:\/\/127\.0\.0\.1:\d+ are dead/);
    expect(output()).to.include('The instance ends; nothing was under way any more');
  });

  it('goes on where nobody gets an answer, not even on a fresh connection', async () => {
    const { child, ask, says } = await started(`http://127.0.0.1:${portOf(silent)}`, {
      answerSeconds: 0.3,
      callSeconds: 0.1,
    });
    for (let call = 0; call < 3; call += 1) expect(await ask('/call')).to.equal('no answer');
    await says('nor on a fresh connection');
    expect(await ask('/call')).to.equal('no answer');
    expect(child.exitCode).to.equal(null);
  });

  it('goes on while it is young, so that no fault restarts it again and again', async () => {
    const { child, ask } = await started(`http://127.0.0.1:${portOf(origin)}`, { youngSeconds: 3600 });
    await ask('/call');
    await ask('/dead');
    const before = asked;
    for (let call = 0; call < 4; call += 1) expect(await ask('/call')).to.equal('no answer');
    expect(asked, 'no fresh connection either').to.equal(before);
    expect(child.exitCode).to.equal(null);
  });
});
