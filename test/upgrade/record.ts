/** `npm run record:upgrade`: writes what this release does with a few bootstraps, for later ones to be tested against. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import type { GivenOptions } from '../../shared/bootstrap/options.js';
import { version } from '../../shared/version.js';
import { createEngineLab } from '../laws/engine-lab.js';
import { createRecorder } from './recorder.js';
import { ending, folder } from './recording.js';

interface Recorded {
  readonly name: string;
  readonly options: Partial<GivenOptions>;
  readonly removed: boolean;
}

const bootstraps: readonly Recorded[] = [
  { name: 'plain', options: {}, removed: false },
  { name: 'removal', options: {}, removed: true },
  {
    name: 'two-datacenters',
    options: { multiDc: true, registryType: 'artifact-registry', cloudAcmeIssuer: true },
    removed: false,
  },
];

async function record({ name, options, removed }: Recorded): Promise<void> {
  const recorder = createRecorder();
  const lab = await createEngineLab({ tap: recorder.tap });
  try {
    const id = await lab.begin(name, options);
    await lab.drain();
    if (removed) {
      await lab.remove(id);
      await lab.drain();
    }
    const { state, problem } = await lab.record(id);
    if (state !== (removed ? 'removed' : 'succeeded')) throw new Error(`${name} ${state}: ${JSON.stringify(problem)}`);
    const lines = recorder.entries().map((entry) => `${JSON.stringify(entry)}\n`);
    const text = Buffer.from(lines.join(''));
    const params = { [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_SIZE_HINT]: text.length };
    const bytes = brotliCompressSync(text, { params });
    writeFileSync(join(folder, version, `${name}${ending}`), bytes);
    process.stdout.write(`${name}: ${lines.length} entries, ${Math.ceil(bytes.length / 1024)} KiB\n`);
  } finally {
    await lab.close();
    await recorder.close();
  }
}

rmSync(join(folder, version), { recursive: true, force: true });
mkdirSync(join(folder, version), { recursive: true });
for (const each of bootstraps) await record(each);
