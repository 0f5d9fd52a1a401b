/** `--kube-distro-version` with a version that k0s never released, on embedded machines. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { makePackage } from '../../local/packages/make-package.js';
import { publishPackage } from '../../local/stack/publish-package.js';
import { needMachines } from '../support/machines.js';
import { makeScene, refusedWith, type Scene, succeeded } from '../support/scene.js';

describe('a version of k0s', function () {
  this.timeout(400_000);
  let scene: Scene;
  let folder: string;

  before(async () => {
    needMachines();
    folder = mkdtempSync(join(tmpdir(), 'plinth-package-'));
    scene = await makeScene({ machines: 'embedded' });
    await publishPackage(scene.cloud, await makePackage(folder));
  });
  after(async () => {
    await scene?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is refused by its flag where there is no such release; the same command goes on with one that there is', async () => {
    const alice = await scene.caller();
    const flags = { 'install-version': '1.0.0', 'install-skip-steps': ['postgres'] };
    const wrong = await alice.bootstrap('versions', { ...flags, 'kube-distro-version': 'v1.99.0+k0s.0' });
    refusedWith(wrong, 'bad-input', '--kube-distro-version', 'v1.99.0+k0s.0', 'no release');
    expect(wrong.stderr).not.to.include('heal it');
    succeeded(await alice.bootstrap('versions', { ...flags, 'kube-distro-version': 'v1.31.9+k0s.0' }));
  });
});
