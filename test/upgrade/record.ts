/** `npm run record:upgrade`: writes what this release does with a few bootstraps, for later ones to be tested against. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import type { GivenOptions } from '../../shared/bootstrap/options.js';
import { version } from '../../shared/version.js';
import { createEngineLab } from '../laws/engine-lab.js';
import { chosenPackage, packageText, plinthOf, upgradeMachines } from './machines.js';
import { createRecorder } from './recorder.js';
import { ending, folder, machinesEnding, standInUrl, type WorldEntry } from './recording.js';

interface Recorded {
  readonly name: string;
  readonly options: Partial<GivenOptions>;
  readonly removed: boolean;
  readonly machines?: true;
}

const bootstraps: readonly Recorded[] = [
  { name: 'plain', options: {}, removed: false },
  { name: 'removal', options: {}, removed: true },
  {
    name: 'two-datacenters',
    options: { multiDc: true, registryType: 'artifact-registry', cloudAcmeIssuer: true },
    removed: false,
  },
  {
    name: 'install',
    options: {
      installVersion: '1.0.0',
      registryUser: 'alice',
      forge1Pat: 'planted-pat',
      clusterAdminEmail: 'admin@example.com',
      createTestUser: true,
    },
    removed: false,
    machines: true,
  },
];

const world: WorldEntry = { kind: 'world', plinth: plinthOf(version), package: packageText };

async function record({ name, options, removed, machines: hasMachines }: Recorded): Promise<void> {
  const recorder = createRecorder();
  const machines = hasMachines === undefined ? undefined : upgradeMachines(world, world.plinth);
  const lab = await createEngineLab({ tap: recorder.tap, ...(machines && { machines }) });
  try {
    const id = await lab.begin(name, options, machines && chosenPackage(world));
    await lab.drain();
    if (removed) {
      await lab.remove(id);
      await lab.drain();
    }
    const { state, problem } = await lab.record(id);
    if (state !== (removed ? 'removed' : 'succeeded')) throw new Error(`${name} ${state}: ${JSON.stringify(problem)}`);
    const entries = [...(machines === undefined ? [] : [world]), ...recorder.entries()];
    let text = entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
    for (const [what, url] of Object.entries(machines?.urls() ?? {})) text = text.replaceAll(url, standInUrl(what));
    const bytes = Buffer.from(text);
    const params = { [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
    const packed = brotliCompressSync(bytes, { params });
    writeFileSync(join(folder, version, `${name}${machines === undefined ? ending : machinesEnding}`), packed);
    process.stdout.write(`${name}: ${entries.length} entries, ${Math.ceil(packed.length / 1024)} KiB\n`);
  } finally {
    await lab.close();
    await machines?.close();
    await recorder.close();
  }
}

// Names choose some of them; the others stay as they are.
const wanted = process.argv.slice(2);
if (wanted.length === 0) rmSync(join(folder, version), { recursive: true, force: true });
mkdirSync(join(folder, version), { recursive: true });
for (const each of bootstraps) if (wanted.length === 0 || wanted.includes(each.name)) await record(each);
