/**
 * What libraries take from the process itself, past any context: WebCrypto, which works on other threads, and its chance. While a
 * world runs, the scheduler waits for the first, and the second comes from the seed.
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

export function createOutside(random: Random): Outside {
  let underWay = 0;
  return {
    hold() {
      const { subtle } = globalThis.crypto;
      const table = subtle as unknown as Record<string, Method>;
      for (const name of methods) {
        const real = table[name] as Method;
        Object.defineProperty(subtle, name, {
          configurable: true,
          value: async (...given: unknown[]) => {
            underWay += 1;
            try {
              return await real.apply(subtle, given);
            } finally {
              underWay -= 1;
            }
          },
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
      do await new Promise((resolve) => setImmediate(resolve));
      while (underWay > 0);
    },
  };
}
