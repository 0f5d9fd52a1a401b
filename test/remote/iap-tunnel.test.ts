/** The client of IAP's tunnel: which words it has for a refusal, when it tries again, and what it leaves behind. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { WebSocketServer } from 'ws';
import { openTunnel } from '../../functions/remote/iap/tunnel.js';
import { Problem } from '../../shared/problems.js';
import { owner, project, stranger } from '../local-cloud/ready-cloud.js';
import { startRoughRelay } from '../support/rough-relay.js';
import { type IapWorld, iapWorld } from './iap-world.js';
import { problemOf } from './problem-of.js';

describe('the client of a tunnel through IAP', () => {
  let world: IapWorld;
  before(async () => {
    world = await iapWorld();
  });
  afterEach(() => world.cloud.tunnel.forget());
  after(() => world?.close());

  const vm = (): Duplex => world.vmEnds.at(-1) as Duplex;
  const until = async (isSo: () => boolean): Promise<void> => {
    for (let tries = 0; tries < 300 && !isSo(); tries++) await sleep(10);
    expect(isSo(), String(isSo)).to.equal(true);
  };
  const failure = async (stream: Duplex): Promise<unknown> => (await once(stream, 'error'))[0];

  it('carries what both sides say, and ends with the other side', async () => {
    const stream = await world.open();
    stream.write('hello');
    expect(String((await once(vm(), 'data'))[0])).to.equal('hello');
    vm().end('bye');
    expect(await text(stream)).to.equal('bye');
    if (!stream.closed) await once(stream, 'close');
    await until(() => world.cloud.tunnel.list().length === 0);
  });

  it('ends behind what was written', async () => {
    const stream = await world.open();
    stream.end(Buffer.alloc(300_000, 'x'));
    expect((await text(vm())).length).to.equal(300_000);
    stream.resume();
    if (!stream.closed) await once(stream, 'close');
  });

  it('says that the caller may not, and what would help', async () => {
    const token = async () => world.cloud.identity.accessToken(stranger);
    const problem = await problemOf(world.open({ token }));
    expect(problem.code).to.equal('cloud-permission');
    expect(problem.detail).to.equal(
      `IAP does not let the caller connect to jumpbox (port 22 of jumpbox in europe-west4-a of ${project}).`,
    );
    expect(problem.advice).to.contain('roles/iap.tunnelResourceAccessor').and.contain('iap.googleapis.com');
  });

  it('says that no VM of the name runs', async () => {
    const problem = await problemOf(world.open({ instance: 'k0s-9' }));
    expect(problem.code).to.equal('host-unreachable');
    expect(problem.detail).to.match(/^IAP finds no running VM for jumpbox /);
  });

  it('says where nothing answers at a port, and names the range of the firewall rule', async () => {
    const target = { project, zone: 'europe-west4-a', instance: 'jumpbox', port: 23 };
    const problem = await problemOf(
      openTunnel(target, {
        name: 'jumpbox',
        url: world.cloud.tunnel.url,
        token: async () => world.cloud.identity.accessToken(owner),
        timeoutSeconds: 5,
      }),
    );
    expect(problem.code).to.equal('host-unreachable');
    expect(problem.detail).to.contain('port 23').and.contain('35.235.240.0/20');
  });

  it('gets a new token where the former one is refused, once', async () => {
    const asked: boolean[] = [];
    const token = async (fresh: boolean): Promise<string> => {
      asked.push(fresh);
      return world.cloud.identity.accessToken(owner, fresh ? 3600 : -1);
    };
    const stream = await world.open({ token });
    expect(asked).to.deep.equal([false, true]);
    stream.destroy();
    const problem = await problemOf(world.open({ token: async () => 'ya29.none' }));
    expect(problem.code).to.equal('cloud-permission');
    expect(problem.detail).to.contain('HTTP 401');
  });

  it('gets a new token where IAP asks for a new login, and goes on', async () => {
    const asked: boolean[] = [];
    const token = async (fresh: boolean): Promise<string> => {
      asked.push(fresh);
      return world.cloud.identity.accessToken(owner);
    };
    const stream = await world.open({ token });
    world.cloud.tunnel.cut('reauthenticate');
    await until(() => asked.length === 2);
    expect(asked).to.deep.equal([false, true]);
    stream.write('still here');
    expect(String((await once(vm(), 'data'))[0])).to.equal('still here');
    stream.destroy();
  });

  it('goes on although tokens can not be had for a moment', async () => {
    let calls = 0;
    const token = async (): Promise<string> => {
      calls += 1;
      if (calls === 2) throw new Error('the metadata server is away');
      return world.cloud.identity.accessToken(owner);
    };
    const stream = await world.open({ token });
    world.cloud.tunnel.cut();
    await until(() => calls === 3);
    stream.write('still here');
    expect(String((await once(vm(), 'data'))[0])).to.equal('still here');
    stream.destroy();
  });

  it('fails in plain words where IAP has given the tunnel up', async () => {
    const stream = await world.open();
    const failed = failure(stream);
    world.cloud.tunnel.forget();
    const problem = (await failed) as Problem;
    expect(problem).to.be.instanceOf(Problem);
    expect(problem.code).to.equal('host-unreachable');
    expect(problem.detail).to.contain('lost for too long');
  });

  it('fails where the connection between IAP and the VM breaks', async () => {
    const stream = await world.open();
    const failed = failure(stream);
    world.nearEnds.at(-1)?.destroy(new Error('the VM lost power'));
    expect(((await failed) as Problem).detail).to.match(/^The connection between IAP and jumpbox .* broke\.$/);
  });

  it('gives up when IAP stays away for longer than it may', async () => {
    const relay = await startRoughRelay(world.cloud.tunnel.port);
    const stream = await world.open({ through: relay.port, reconnectSeconds: 0.3 });
    const failed = failure(stream);
    await relay.close();
    const problem = (await failed) as Problem;
    expect(problem.code).to.equal('host-unreachable');
    expect(problem.detail).to.match(/^IAP cannot be reached for jumpbox .*: ECONNREFUSED\.$/);
  });

  it('notices a connection that died silently, and goes on by another one', async () => {
    const dead = await startRoughRelay(world.cloud.tunnel.port);
    const alive = await startRoughRelay(world.cloud.tunnel.port);
    // What stands between the two decides by the connection, as a network does.
    let through = dead;
    const { connect, createServer } = await import('node:net');
    const switching = createServer((near) => {
      const far = connect(through.port, '127.0.0.1');
      near.pipe(far).pipe(near);
      for (const each of [near, far]) each.on('error', () => [near, far].map((one) => one.destroy()));
      near.once('close', () => far.destroy());
    });
    await once(switching.listen(0, '127.0.0.1'), 'listening');
    const stream = await world.open({ through: (switching.address() as AddressInfo).port, pingSeconds: 0.1 });
    await sleep(250);
    dead.freeze();
    through = alive;
    stream.write('still here');
    // IAP's side of the dead connection has to go, too, as it would at Google.
    await sleep(300);
    world.cloud.tunnel.cut();
    expect(String((await once(vm(), 'data'))[0])).to.equal('still here');
    stream.destroy();
    await Promise.all([dead.close(), alive.close()]);
    switching.close();
  });

  it('gives up an IAP that answers nothing, within its time', async () => {
    const server = createServer();
    const sockets = new WebSocketServer({ server, handleProtocols: () => 'relay.tunnel.cloudproxy.app' });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const problem = await problemOf(world.open({ through: port, timeoutSeconds: 0.2 }));
    expect(problem.detail).to.contain('no answer within 0.2 seconds');
    for (const each of sockets.clients) each.terminate();
    server.close();
  });

  it('stops with its signal: before the tunnel stands, and after', async () => {
    const reason = new Error('enough');
    expect(await world.open({ signal: AbortSignal.abort(reason) }).catch((error) => error)).to.equal(reason);
    const early = new AbortController();
    const opening = world.open({ signal: early.signal }).catch((error) => error);
    early.abort(reason);
    expect(await opening).to.equal(reason);
    const late = new AbortController();
    const stream = await world.open({ signal: late.signal });
    late.abort(reason);
    expect(await failure(stream)).to.equal(reason);
    await until(() => world.cloud.tunnel.list().length === 0);
  });

  it('holds a writer back when the VM does not read', async () => {
    const stream = await world.open();
    let written = 0;
    const fill = async (): Promise<void> => {
      for (; written < 400 && !stream.destroyed; written++) {
        if (!stream.write(Buffer.alloc(65_536))) await once(stream, 'drain').catch(() => undefined);
      }
    };
    void fill();
    await sleep(500);
    expect(written * 65_536).to.be.below(8 * 1024 * 1024);
    const before = written;
    vm().resume();
    await sleep(300);
    expect(written).to.be.above(before);
    stream.destroy();
  });

  it('leaves no timer and no connection behind', async function () {
    // The runner's own timer begins anew, and counts from the first wait on.
    this.timeout(0);
    await sleep(1);
    const left = (kind: string): number => process.getActiveResourcesInfo().filter((one) => one === kind).length;
    const before = left('TCPSocketWrap');
    // Another file of the same process may have left some.
    const timersBefore = left('Timeout');
    for (const end of ['end', 'destroy'] as const) {
      const stream = await world.open();
      stream.resume();
      stream[end]();
      if (!stream.closed) await once(stream, 'close');
    }
    // Destroyed while it looks for IAP.
    const relay = await startRoughRelay(world.cloud.tunnel.port);
    const lost = await world.open({ through: relay.port });
    await relay.close();
    await sleep(50);
    lost.destroy();
    await until(() => left('TCPSocketWrap') <= before);
    // A WebSocket that is closing has one until its connection is gone. A tunnel that went on looking for IAP would have one
    // for a minute.
    await until(() => left('Timeout') <= timersBefore);
    expect(world.cloud.tunnel.list().filter(({ isCarried }) => isCarried)).to.deep.equal([]);
  });
});
