/** Keys for tests: made once a process, RSA 2048 in the place of 4096, so that tests don't wait for primes. */
import { createKeyMaker, type KeyKind, type KeyMaker, type KeyPair } from '../../functions/keys.js';

const real = createKeyMaker();
const size = 6;
const pool = new Map<KeyKind, Promise<KeyPair>[]>();
let turn = 0;

export const testKeys: KeyMaker = {
  make(kind) {
    const made = kind === 'rsa-4096' ? 'rsa-2048' : kind;
    const keys = pool.get(made) ?? Array.from({ length: size }, () => real.make(made));
    pool.set(made, keys);
    turn += 1;
    return keys[turn % size] as Promise<KeyPair>;
  },
};
