/** A relay of TCP connections that splits, delays and cuts what it carries, by seed. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface RoughRelay {
  readonly port: number;
  /** Connections that were cut so far. */
  readonly cuts: () => number;
  /** From now on, nothing passes, and nobody is told. */
  freeze(): void;
  close(): Promise<void>;
}

export interface Roughness {
  readonly seed: number;
  /** Each connection is cut behind so many bytes at most, of both directions. The first one keeps its first 4,000. */
  readonly cutWithin: number;
  /** How many cuts there may be. */
  readonly mostCuts: number;
  readonly largestPiece: number;
  /** Share of pieces that wait some milliseconds. */
  readonly delayed: number;
}

/** Mulberry32: the same numbers by the same seed. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export async function startRoughRelay(to: number, rough: Partial<Roughness> = {}): Promise<RoughRelay> {
  const { seed = 1, cutWithin = 0, mostCuts = 0, largestPiece = 65_536, delayed = 0 } = rough;
  const random = createRandom(seed);
  const open = new Set<Socket>();
  let cuts = 0;
  let connections = 0;
  let isFrozen = false;

  const carry = (near: Socket): void => {
    const far = connect(to, '127.0.0.1');
    let left = Math.floor(random() * cutWithin) + (connections++ === 0 ? 4000 : 0);
    const isMortal = cuts < mostCuts;
    const drop = (): void => {
      for (const each of [near, far]) each.destroy();
    };
    const pump = async (from: Socket, into: Socket): Promise<void> => {
      for await (const chunk of from as AsyncIterable<Buffer>) {
        for (let at = 0; at < chunk.length; ) {
          const piece = chunk.subarray(at, at + 1 + Math.floor(random() * largestPiece));
          at += piece.length;
          if (random() < delayed) await sleep(random() * 3);
          if (isFrozen) continue;
          left -= piece.length;
          if (isMortal && left < 0) {
            if (!near.destroyed) cuts += 1;
            // What came before the cut may arrive, or not.
            if (random() < 0.5) into.write(piece.subarray(0, piece.length / 2));
            return drop();
          }
          if (!into.write(piece)) await once(into, 'drain');
        }
      }
      if (!isFrozen) into.end();
    };
    for (const each of [near, far]) {
      open.add(each);
      each.setNoDelay(true);
      each.once('close', () => open.delete(each));
    }
    for (const way of [pump(near, far), pump(far, near)]) way.catch(drop);
    // A wait for `drain` must end with the connection.
    near.once('close', drop);
    far.once('close', drop);
  };
  const server = createServer({ allowHalfOpen: true }, carry);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    cuts: () => cuts,
    freeze() {
      isFrozen = true;
    },
    async close() {
      for (const each of open) each.destroy();
      server.close();
    },
  };
}
