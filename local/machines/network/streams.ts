/**
 * Makes the two ends of a connection, and joins two streams into one. Bytes of one go to the other, and when one ends, both
 * do.
 */
import { Duplex } from 'node:stream';

export interface Joint {
  /** With `silently`, the first of the two gets no notice, as when the machine behind the second loses power. */
  cut(silently: boolean): void;
}

export function join(a: Duplex, b: Duplex, onGone?: () => void): Joint {
  let isOver = false;
  const over = (): void => {
    if (isOver) return;
    isOver = true;
    a.destroy();
    b.destroy();
    onGone?.();
  };
  for (const one of [a, b]) {
    one.on('error', over);
    one.on('close', over);
  }
  a.pipe(b);
  b.pipe(a);
  return {
    cut(silently) {
      if (!silently) return over();
      isOver = true;
      a.unpipe(b);
      b.unpipe(a);
      // Nobody reads what still comes.
      a.on('data', () => undefined);
      a.on('end', () => a.destroy());
      b.destroy();
      onGone?.();
    },
  };
}

/**
 * Behaves like a socket and its other end: bytes are copied, and arrive after the call that sent them.
 *
 * ssh2 encrypts in place, in memory that all its connections share. Where one runs inside another (a jump), node:stream's own
 * pair corrupts packets.
 */
export function createPair(): [Duplex, Duplex] {
  const one = createEnd(() => two);
  const two: Duplex = createEnd(() => one);
  return [one, two];
}

const goOn = new WeakMap<Duplex, () => void>();

function createEnd(other: () => Duplex): Duplex {
  let hasEnded = false;
  const endOther = (): void => {
    if (hasEnded) return;
    hasEnded = true;
    process.nextTick(() => other().destroyed || other().push(null));
  };
  return new Duplex({
    read() {
      const go = goOn.get(this);
      goOn.delete(this);
      go?.();
    },
    write(chunk: Buffer, _encoding, done) {
      const copy = Buffer.from(chunk);
      process.nextTick(() => {
        if (other().destroyed || other().push(copy)) done();
        else goOn.set(other(), done);
      });
    },
    final(done) {
      endOther();
      done();
    },
    destroy(error, done) {
      goOn.get(this)?.();
      endOther();
      done(error);
    },
  });
}
