/** A stack with embedded machines and a package in its store, for bootstraps that install it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makePackage } from '../local/packages/make-package.js';
import { publishPackage } from '../local/stack/publish-package.js';
import type { StackOptions } from '../local/stack/stack.js';
import type { GivenOptions } from '../shared/bootstrap/options.js';
import { type Bench, createBench } from './bootstrap.js';

export interface PackagedBench extends Bench {
  /** What a bootstrap is given to install the package. No PostgreSQL is on these machines: the service that needs it is left out. */
  readonly install: GivenOptions;
}

/** Throws where this computer holds no machines. */
export async function createPackagedBench(options: StackOptions): Promise<PackagedBench> {
  const bench = await createBench({ ...options, machines: 'embedded' });
  const folder = mkdtempSync(join(tmpdir(), 'plinth-bench-package-'));
  try {
    const { cloudHalf, record, notes } = bench.stack;
    const lacks = notes.find((note) => note.startsWith('No '));
    if (cloudHalf === undefined || record.sshProxyUrl === undefined || lacks !== undefined) {
      throw new Error(lacks ?? 'No simulated VM answers SSH here.');
    }
    const made = await makePackage(folder);
    await publishPackage(cloudHalf.cloud, made);
    return { ...bench, install: { installVersion: made.version, installSkipSteps: ['postgres', 'platform'] } };
  } catch (error) {
    await bench.close();
    throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
