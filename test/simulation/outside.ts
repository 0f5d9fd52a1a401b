/**
 * What libraries take from the process itself, past any context: WebCrypto, which works on other threads, and its chance. While a
 * world runs, the scheduler waits for the first, and hands out its results one by one, in the order in which they were asked for.
 * The second comes from the seed.
 */
import type { Random } from '../../functions/host/random.js';

export interface Outside {
  /** Until the returned function is called. */
  hold(): () => void;
  /** All have gone on who can without being let. */
  settled(): Promise<void>;
}

type Method = (...given: unknown[]) => Promise<unknown>;
const methods = [
  'encrypt',
  'decrypt',
  'sign',
  'verify',
  'digest',
  'generateKey',
  'deriveKey',
  'deriveBits',
  'importKey',
  'exportKey',
];

/** Whoever can go on without being let has gone on. */
const allWaitAgain = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export function createOutside(random: Random): Outside {
  /** In the order in which they were asked for. Each resolves, whatever became of it. */
  const underWay: { readonly ended: Promise<unknown>; hand(): void }[] = [];
  return {
    hold() {
      const { subtle } = globalThis.crypto;
      const table = subtle as unknown as Record<string, Method>;
      for (const name of methods) {
        const real = table[name] as Method;
        Object.defineProperty(subtle, name, {
          configurable: true,
          value: (...given: unknown[]) =>
            new Promise((resolve) => {
              const result = real.apply(subtle, given);
              underWay.push({ ended: result.catch(() => undefined), hand: () => resolve(result) });
            }),
        });
      }
      Object.defineProperty(globalThis.crypto, 'getRandomValues', {
        configurable: true,
        value: <T extends Uint8Array>(into: T): T => {
          into.set(random.bytes(into.length));
          return into;
        },
      });
      return () => {
        // The prototypes have the real ones.
        for (const name of methods) delete table[name];
        delete (globalThis.crypto as unknown as Record<string, unknown>)['getRandomValues'];
      };
    },
    async settled() {
      await allWaitAgain();
      for (let next = underWay.shift(); next !== undefined; next = underWay.shift()) {
        await next.ended;
        next.hand();
        await allWaitAgain();
      }
    },
  };
}
