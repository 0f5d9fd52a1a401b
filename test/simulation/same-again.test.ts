/** Whatever could make a seed play in another way the second time: other threads, and modules that are loaded on first use. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createRandom } from '../organizations/random.js';
import { createScheduler } from './scheduler.js';
import { loadedOnFirstUse } from './seed-keys.js';

describe('a seed that is played again', () => {
  it('meets what other threads end in the order in which it was begun, each before the next', async () => {
    const scheduler = createScheduler(createRandom(1), 0);
    const told: string[] = [];
    const ends = async (name: string, bytes: number): Promise<void> => {
      await globalThis.crypto.subtle.digest('SHA-256', new Uint8Array(bytes));
      told.push(`${name} has ended`);
      for (let i = 0; i < 20; i++) await Promise.resolve();
      told.push(`${name} has gone on`);
    };
    const living = scheduler.process('function');
    scheduler.start(living, async () => {
      await living.turn();
      await Promise.all([ends('first', 64_000_000), ends('second', 1), ends('third', 1)]);
    });
    await scheduler.run();
    const all = ['first', 'second', 'third'].flatMap((name) => [`${name} has ended`, `${name} has gone on`]);
    expect(told).to.deep.equal(all);
  });

  it('waits for no module: what steps load on first use is loaded before', () => {
    const lazy = ['functions/steps', 'shared/install-config']
      .flatMap((root) => readdirSync(root, { recursive: true, encoding: 'utf8' }).map((file) => join(root, file)))
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/\bimport\('([^']+)'\)(?!\.)/g)])
      .map(([, name = '']) => name.split('/').at(-1) ?? '');
    expect([...new Set(lazy)].sort()).to.deep.equal(loadedOnFirstUse.map((name) => name.split('/').at(-1)).sort());
  });
});
