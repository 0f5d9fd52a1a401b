/** A bootstrap whose images go to the project's repository: skopeo for real, on embedded machines. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { startPlinth } from '../../local/demo/plinth-process.js';
import { type MadePackage, makePackage } from '../../local/packages/make-package.js';
import { publishPackage } from '../../local/packages/publish.js';
import { type Caller, makeScene, type Scene, succeeded } from '../support/scene.js';

describe('images of a bootstrap', function () {
  this.timeout(300_000);
  let scene: Scene;
  let alice: Caller;
  let folder: string;
  let made: MadePackage;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'plinth-package-'));
    made = await makePackage(folder);
    scene = await makeScene({ machines: 'embedded' });
    await publishPackage(scene.cloud, made);
    alice = await scene.caller();
  });
  after(async () => {
    await scene?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const logOf = async (name: string): Promise<string> => {
    const ran = await startPlinth(['beta', 'bootstrap-cloud', 'logs', name, 'images'], alice).ended;
    expect(ran.exitCode, ran.stderr).to.equal(0);
    return ran.stdout;
  };

  it('are pushed to the repository by the identity of the jumpbox', async () => {
    const flags = {
      'install-version': made.version,
      'registry-type': 'artifact-registry',
    } as const;
    succeeded(await alice.bootstrap('pushed', flags));
    expect(await logOf('pushed')).to.match(/2 of 2 images/);
  });
});
