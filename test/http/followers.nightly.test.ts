/** Thousands of followers, one after another: nothing of them is left in the memory of the function. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { realClock } from '../../functions/host/clock.js';
import { type EventSource, streamEvents } from '../../functions/http/bootstraps/event-stream.js';
import { type BootstrapsServer, createBootstrapsServer, makeRequest } from './bootstraps-server.js';
import { createIssuer, type Issuer } from './issuer.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const rest = (ms = 0) => new Promise((resolve) => setTimeout(resolve, ms));

async function heapBytes(): Promise<number> {
  for (let i = 0; i < 5; i += 1) {
    await rest(20);
    collect();
  }
  return process.memoryUsage().heapUsed;
}

/** Bytes that each of the followers leaves, once what is made on first use is there. */
async function leftByEach(follow: () => Promise<unknown>, followers: number): Promise<number> {
  for (let i = 0; i < followers / 2; i += 1) await follow();
  const before = await heapBytes();
  for (let i = 0; i < followers; i += 1) await follow();
  return ((await heapBytes()) - before) / followers;
}

describe('followers', function () {
  this.timeout(900_000);
  let issuer: Issuer;
  let server: BootstrapsServer;
  before(async () => {
    issuer = await createIssuer();
    server = await createBootstrapsServer(issuer, { times: { streamSeconds: 0.02, progressSeconds: 0.001 } });
  });
  after(() => {
    server.world.closed = false;
    server.close();
    issuer.close();
  });

  it('leave nothing with a function, however many come', async () => {
    server.world.closed = true;
    const { bootstrap } = await server.json<{ bootstrap: { id: string } }>(201, 'POST', '/bootstraps', {
      body: makeRequest('followed'),
    });
    const follow = () =>
      Promise.all(
        Array.from({ length: 10 }, async () =>
          (await server.fetch('GET', `/bootstraps/${bootstrap.id}/events`)).text(),
        ),
      );
    const left = await leftByEach(follow, 300);
    expect(left / 10, 'bytes of each').to.be.lessThan(300);
    expect(server.watched()).to.equal(0);
  });

  it('leave nothing with the signal of a process that runs for long', async () => {
    const { signal: shutdown } = new AbortController();
    const source: EventSource = {
      readEvents: async () => ({ events: [], ended: true, more: false, generation: 1 }),
      readProgress: async () => [],
      readLogs: async () => [],
      readForecast: async () => undefined,
      readState: async () => 'succeeded',
      watch: (onChange) => {
        onChange();
        return () => undefined;
      },
    };
    const follow = async () => {
      const client = new AbortController();
      for await (const _ of streamEvents({ clock: realClock, shutdown }, source, {
        cursor: undefined,
        gone: client.signal,
      }));
      client.abort();
    };
    expect(await leftByEach(follow, 40_000), 'bytes of each').to.be.lessThan(20);
  });
});
