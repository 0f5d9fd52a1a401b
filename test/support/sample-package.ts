/** The sample package in the bucket of a deployment, for tests that install it by its version. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type MadePackage, makePackage } from '../../local/packages/make-package.js';
import { publishPackage } from '../../local/stack/publish-package.js';
import type { Scene } from './scene.js';

export type SamplePackage = Pick<MadePackage, 'version' | 'hash'>;

export async function publishSample({ cloud }: Pick<Scene, 'cloud'>): Promise<SamplePackage> {
  const folder = mkdtempSync(join(tmpdir(), 'plinth-package-'));
  try {
    const made = await makePackage(folder);
    await publishPackage(cloud, made);
    return made;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
