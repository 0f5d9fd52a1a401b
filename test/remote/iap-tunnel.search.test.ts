/** The tunnel through IAP loses no byte and brings none twice, whatever happens to its WebSockets. */
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { createRandom, startRoughRelay } from '../support/rough-relay.js';
import { bySeed, searchFor, searchMs } from '../support/search.js';
import { type IapWorld, iapWorld } from './iap-world.js';

function bytesOf(seed: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  const random = createRandom(seed);
  for (let at = 0; at < length; at++) bytes[at] = random() * 256;
  return bytes;
}

/** No case takes that long. */
const slowestMs = 60_000;

/** Writes in pieces of any size, from memory that it uses again. */
async function feed(stream: Duplex, bytes: Buffer, seed: number): Promise<void> {
  const random = createRandom(seed);
  for (let at = 0; at < bytes.length; ) {
    const piece = Buffer.from(bytes.subarray(at, at + 1 + Math.floor(random() ** 3 * 100_000)));
    at += piece.length;
    const isTaken = new Promise<void>((resolve) => void stream.write(piece, () => resolve()));
    // What was handed over belongs to the stream until it says so, and to the writer from then on.
    await isTaken;
    piece.fill(0);
  }
}

/** Reads so many bytes, and sometimes dawdles. */
async function drain(stream: Duplex, length: number, seed: number): Promise<Buffer> {
  const random = createRandom(seed);
  const parts: Buffer[] = [];
  for (let got = 0; got < length; ) {
    const part = stream.read() as Buffer | null;
    if (part === null) {
      if (stream.destroyed) throw stream.errored ?? new Error('the stream ended early');
      const done = new AbortController();
      const { signal } = done;
      await Promise.race([once(stream, 'readable', { signal }), once(stream, 'close', { signal })]).finally(() =>
        done.abort(),
      );
      continue;
    }
    parts.push(part);
    got += part.length;
    if (random() < 0.02) await sleep(random() * 10);
  }
  return Buffer.concat(parts);
}

const cases = fc.record({
  seed: fc.nat(),
  sent: fc.integer({ min: 200_000, max: 3_000_000 }),
  answered: fc.integer({ min: 200_000, max: 3_000_000 }),
  cutWithin: fc.constantFrom(100_000, 300_000, 1_000_000),
  mostCuts: fc.integer({ min: 3, max: 10 }),
  largestPiece: fc.constantFrom(3_000, 20_000, 100_000),
  delayed: fc.constantFrom(0, 0.01, 0.2),
});

/** Bytes that stand still are lost, too. */
async function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  const done = new AbortController();
  const late = sleep(milliseconds, undefined, { signal: done.signal }).then(() => {
    throw new Error(`not through after ${milliseconds} ms`);
  });
  return Promise.race([work, late]).finally(() => done.abort());
}

describe(`a tunnel through IAP ${bySeed}`, function () {
  this.timeout(searchMs + 120_000);
  let world: IapWorld;
  before(async () => {
    world = await iapWorld();
  });
  after(() => world?.close());

  it('brings megabytes both ways, byte for byte, through a relay that cuts, delays and splits', async () => {
    let cuts = 0;
    const property = fc.asyncProperty(cases, async ({ seed, sent, answered, ...rough }) => {
      const relay = await startRoughRelay(world.cloud.tunnel.port, { seed, ...rough });
      const stream = await world.open({ through: relay.port });
      const vm = world.vmEnds.at(-1) as Duplex;
      try {
        const [there, back] = [bytesOf(seed, sent), bytesOf(seed + 1, answered)];
        const moved = Promise.all([
          drain(vm, sent, seed + 2),
          drain(stream, answered, seed + 3),
          feed(stream, there, seed + 4),
          feed(vm, back, seed + 5),
        ]);
        const [arrived, answer] = await within(slowestMs, moved);
        expect(arrived.equals(there), 'what the VM got').to.equal(true);
        expect(answer.equals(back), 'what the client got').to.equal(true);
        // Nothing follows, and both ends come to theirs.
        stream.end();
        stream.resume();
        vm.resume();
        const over = [stream.closed || once(stream, 'close'), vm.readableEnded || once(vm, 'end')];
        await within(slowestMs, Promise.all(over));
        cuts += relay.cuts();
      } finally {
        stream.destroy();
        vm.destroy();
        await relay.close();
      }
    });
    await searchFor(property);
    // So that the test can't pass by a relay that lets everything through.
    expect(cuts).to.be.above(0);
  });

  it('ends with the bytes that the VM sent last, although the connection was cut before them', async () => {
    const relay = await startRoughRelay(world.cloud.tunnel.port);
    const stream = await world.open({ through: relay.port });
    const vm = world.vmEnds.at(-1) as Duplex;
    world.cloud.tunnel.cut();
    const last = bytesOf(1, 50_000);
    vm.end(last);
    const parts: Buffer[] = [];
    for await (const part of stream as AsyncIterable<Buffer>) parts.push(part);
    expect(Buffer.concat(parts).equals(last)).to.equal(true);
    await relay.close();
  });
});
