/**
 * Keys for tests and benches. RSA takes seconds, so a few keys are made once on a machine and handed out in turn. They protect
 * nothing. `npm run local` and the demo make real ones.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createKeyMaker, type KeyKind, type KeyMaker, type KeyPair } from '../../functions/host/keys.js';

type Pool = Record<SlowKind, KeyPair[]>;
type SlowKind = Extract<KeyKind, 'rsa-2048' | 'rsa-4096'>;

/** Enough that the keys of one bootstrap differ from each other. */
const sizes: Record<SlowKind, number> = { 'rsa-2048': 6, 'rsa-4096': 3 };
const isSlow = (kind: KeyKind): kind is SlowKind => kind in sizes;

/** Tools keep here what they can make again. `npm ci` empties it. */
const cacheFile = fileURLToPath(new URL('../../../node_modules/.cache/plinth/test-only-keys.json', import.meta.url));

async function makePool(): Promise<Pool> {
  const { make } = createKeyMaker();
  const all = (kind: SlowKind) => Promise.all(Array.from({ length: sizes[kind] }, () => make(kind)));
  const pool = { 'rsa-2048': await all('rsa-2048'), 'rsa-4096': await all('rsa-4096') };
  await mkdir(dirname(cacheFile), { recursive: true });
  // Several test processes may get here at once. Each leaves a whole file.
  const draft = `${cacheFile}.${randomUUID()}`;
  await writeFile(draft, JSON.stringify(pool), { mode: 0o600 });
  await rename(draft, cacheFile);
  return pool;
}

async function readPool(): Promise<Pool> {
  try {
    return JSON.parse(await readFile(cacheFile, 'utf8')) as Pool;
  } catch {
    return makePool();
  }
}

let pool: Promise<Pool> | undefined;
/** How many keys of each kind were handed out. Keys that are made in a row differ. */
const given: Record<SlowKind, number> = { 'rsa-2048': 0, 'rsa-4096': 0 };

/** Makes a new key each time for kinds that are quick. */
export function createTestKeys(): KeyMaker {
  const real = createKeyMaker();
  return {
    async make(kind) {
      if (!isSlow(kind)) return real.make(kind);
      pool ??= readPool();
      const keys = (await pool)[kind];
      given[kind] += 1;
      return keys[given[kind] % keys.length] as KeyPair;
    },
  };
}
