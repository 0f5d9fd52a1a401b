/** Makes key pairs. It is a member of the context because RSA takes seconds: tests draw from a pool. */
import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import { createSlots } from './slots.js';
import { until } from './until.js';

/** PEM: the private key is PKCS#8, the public key SPKI. */
export interface KeyPair {
  readonly privateKey: string;
  readonly publicKey: string;
}

export type KeyKind = 'rsa-2048' | 'rsa-4096' | 'ec-p256' | 'ed25519';

export interface KeyMaker {
  /** Rejects with the reason of `signal` once it aborts, if the key is not begun yet. */
  make(kind: KeyKind, signal?: AbortSignal): Promise<KeyPair>;
}

/**
 * The same key maker, but nobody waits for it once `signal` aborts. OpenSSL cannot be interrupted, and RSA may take longer
 * than a shutdown allows.
 */
export const keysUntil = (signal: AbortSignal, { make }: KeyMaker): KeyMaker => ({
  make: (kind) => until(signal, () => make(kind, signal)),
});

const generate = promisify(generateKeyPair);
const publicKeyEncoding = { type: 'spki', format: 'pem' } as const;
const privateKeyEncoding = { type: 'pkcs8', format: 'pem' } as const;

function generateKey(kind: KeyKind): Promise<KeyPair> {
  switch (kind) {
    case 'rsa-2048':
      return generate('rsa', { modulusLength: 2048, publicKeyEncoding, privateKeyEncoding });
    case 'rsa-4096':
      return generate('rsa', { modulusLength: 4096, publicKeyEncoding, privateKeyEncoding });
    case 'ec-p256':
      return generate('ec', { namedCurve: 'P-256', publicKeyEncoding, privateKeyEncoding });
    case 'ed25519':
      return generate('ed25519', { publicKeyEncoding, privateKeyEncoding });
  }
}

/**
 * OpenSSL works on Node's four threads. Names are looked up and files are read on the same ones, so RSA may never have all of
 * them: requests would wait for it.
 */
const rsaAtOnce = 2;

/** Others wait in their order. `make`: what makes them, for tests of slow ones. */
export function createKeyMaker(make: (kind: KeyKind) => Promise<KeyPair> = generateKey): KeyMaker {
  const slots = createSlots(rsaAtOnce);
  return {
    async make(kind, signal) {
      if (!kind.startsWith('rsa-')) return make(kind);
      return slots.use(() => make(kind), signal);
    },
  };
}
