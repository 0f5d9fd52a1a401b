/** Keys for simulated worlds. RSA keys come in turn from the pool of test keys, so that a seed meets the same ones each time. */
import { createPrivateKey, createPublicKey } from 'node:crypto';
import type { KeyMaker, KeyPair } from '../../functions/host/keys.js';
import type { Random } from '../../functions/host/random.js';
import { createTestKeys } from '../../local/stack/test-keys.js';

/** What stands before the 32 bytes of an Ed25519 key in PKCS #8. */
const ed25519Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');

const pool = new Map<string, KeyPair[]>();
const poolSize = 6;

/** What steps load on first use. */
export const loadedOnFirstUse: readonly string[] = [
  'age-encryption',
  'node-forge',
  're2js',
  'yaml',
  '../../functions/steps/config/making.js',
];

/** Made once in this process. What steps load on first use is loaded with them, because loading takes real time. */
export async function fillKeyPool(): Promise<void> {
  await Promise.all(loadedOnFirstUse.map((name) => import(name)));
  const maker = createTestKeys();
  for (const kind of ['rsa-2048', 'rsa-4096', 'ec-p256'] as const) {
    if (pool.has(kind)) continue;
    const made: KeyPair[] = [];
    for (let i = 0; i < poolSize; i++) made.push(await maker.make(kind));
    pool.set(kind, made);
  }
}

export function createSeedKeys(random: Random): KeyMaker {
  return {
    async make(kind) {
      const made = pool.get(kind);
      if (made !== undefined) return made[random.whole(0, made.length)] as KeyPair;
      const key = createPrivateKey({
        key: Buffer.concat([ed25519Prefix, random.bytes(32)]),
        format: 'der',
        type: 'pkcs8',
      });
      return {
        privateKey: key.export({ type: 'pkcs8', format: 'pem' }).toString(),
        publicKey: createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString(),
      };
    },
  };
}
