/** The way to machines: many behind one jumpbox over one login, an HTTP CONNECT proxy, and connections that die without a word. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { createRemote } from '../../functions/remote/remote.js';
import { problemOf } from './problem-of.js';
import { freePort, type Sshd, startSshd } from './sshd.js';

interface Proxy {
  readonly url: string;
  /** What was asked for. */
  readonly asked: string[];
  /** From now on every byte is swallowed, and nobody is told. */
  swallow(): void;
  close(): void;
}

async function startProxy(status = 200): Promise<Proxy> {
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const server: Server = createServer();
  server.on('connect', ({ url = '' }, client: Socket) => {
    asked.push(url);
    const [host, port] = url.split(':');
    const far = connect(Number(port), host);
    for (const socket of [client, far]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        client.destroy();
        far.destroy();
      });
    }
    client.write(`HTTP/1.1 ${status} So\r\n\r\n`);
    if (status !== 200) return client.end();
    client.pipe(far);
    far.pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    swallow() {
      for (const socket of sockets) {
        socket.unpipe();
        socket.removeAllListeners('data');
        socket.resume();
      }
    },
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

describe('the way to machines', () => {
  let sshd: Sshd;
  before(async () => {
    sshd = await startSshd();
  });
  after(() => sshd?.stop());
  const request = (machine?: string) => ({
    bootstrapId: 'b1',
    jumpbox: sshd.machine,
    privateKey: sshd.privateKey,
    ...(machine === undefined ? {} : { machine: { ...sshd.machine, name: machine } }),
  });

  it('runs a hundred commands on fourteen machines over one login of the jumpbox', async () => {
    const proxy = await startProxy();
    const remote = createRemote({ sshProxy: proxy.url });
    const answers = await Promise.all(
      Array.from({ length: 100 }, async (_, n) => {
        const host = await remote.host(request(`k0s-${n % 14}`));
        const { stdout } = await host.exec(`echo ${n} $PPID`);
        return stdout.trim().split(' ');
      }),
    );
    expect(answers.map(([n]) => n)).to.deep.equal(answers.map((_, n) => String(n)));
    expect(new Set(answers.map(([, session]) => session)).size, 'logins of machines').to.equal(14);
    expect(proxy.asked, 'logins of the jumpbox').to.deep.equal([`127.0.0.1:${sshd.machine.port}`]);
    await remote.close();
    proxy.close();
  }).timeout(240_000);

  it('finds a connection that was dropped silently, says so, and makes another', async () => {
    const proxy = await startProxy();
    const remote = createRemote({ sshProxy: proxy.url }, { keepaliveSeconds: 0.3 });
    const [jumpbox, node] = [await remote.host(request()), await remote.host(request('k0s-1'))];
    const waiting = [jumpbox, node].map((host) => problemOf(host.exec('sleep 30')));
    await jumpbox.exec('true');
    proxy.swallow();
    for (const problem of await Promise.all(waiting)) {
      expect(problem.code).to.equal('host-unreachable');
      expect(problem.kind.retry).to.equal('transient');
    }
    expect((await node.exec('echo back')).stdout).to.equal('back\n');
    expect(proxy.asked.length).to.equal(2);
    await remote.close();
    proxy.close();
  });

  it('closes what is idle, and comes back when it is needed', async () => {
    const proxy = await startProxy();
    const remote = createRemote({ sshProxy: proxy.url }, { idleSeconds: 0.2 });
    const host = await remote.host(request('k0s-1'));
    await host.exec('sleep 0.5');
    await new Promise((resolve) => setTimeout(resolve, 900));
    expect((await host.exec('echo back')).stdout).to.equal('back\n');
    expect(proxy.asked.length).to.equal(2);
    await remote.close();
    proxy.close();
  });

  it('leaves no login behind when it is closed, also of a machine that is not there any more', async () => {
    const proxy = await startProxy();
    const remote = createRemote({ sshProxy: proxy.url });
    await Promise.all(['k0s-1', 'k0s-2'].map(async (name) => (await remote.host(request(name))).exec('true')));
    const before = sshd.logins();
    expect(before).to.be.at.least(3);
    await remote.close();
    for (let tries = 0; sshd.logins() > before - 3 && tries < 600; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(sshd.logins()).to.equal(before - 3);
    const other = createRemote({ sshProxy: proxy.url });
    await other.host(request());
    proxy.swallow();
    await other.close();
    proxy.close();
  });

  it('says who cannot be reached, and what the proxy answers', async () => {
    const closed = await freePort();
    const jumpbox = { ...sshd.machine, port: closed };
    const direct = await problemOf(createRemote({}).host({ ...request(), jumpbox }));
    expect(direct.detail).to.equal(`jumpbox (127.0.0.1, port ${closed}) cannot be reached: ECONNREFUSED.`);
    const proxy = await startProxy(403);
    const refused = await problemOf(createRemote({ sshProxy: proxy.url }).host(request()));
    expect(refused.detail).to.include('the proxy answers 403');
    proxy.close();
    const behind = { ...sshd.machine, name: 'k0s-1', port: closed };
    const remote = createRemote({});
    const far = await problemOf(remote.host({ ...request(), machine: behind }));
    expect(far.code).to.equal('host-unreachable');
    expect(far.detail).to.include('jumpbox cannot reach 127.0.0.1');
    await remote.close();
  });
});
