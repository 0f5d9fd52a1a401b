/** Bootstraps whose images come from forge1's registry to the jumpbox, or go to the project's repository: skopeo for real, on embedded machines. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { forge1Pat } from '../../local/forge1.js';
import { type MadePackage, makePackage } from '../../local/packages/make-package.js';
import { publishPackage } from '../../local/packages/publish.js';
import { startPlinth } from '../../local/plinth-process.js';
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

  it('are mirrored from forge1 to the jumpbox, which keeps no login of it', async () => {
    const flags = {
      'install-version': made.version,
      'install-skip-steps': ['postgres'],
      'registry-type': 'local-container',
      'forge1-pat': forge1Pat,
    } as const;
    succeeded(await alice.bootstrap('mirrored', flags));
    expect(await logOf('mirrored')).to.match(/2 of 2 images, \d+\.\d of \d+\.\d MB/);
    const find =
      'sudo grep -rl -e "$(printf somebody: | base64 | cut -c1-11)" /run/plinth /etc /var/lib /root /home; true';
    const args = ['beta', 'bootstrap-cloud', 'ssh', 'mirrored', 'jumpbox', '--', find];
    expect((await startPlinth(args, alice).ended).stdout).to.equal('');
    const said = JSON.stringify([
      scene.stack.logs,
      await scene.stack.functionsHalf?.store.query({ collection: 'logs' }),
    ]);
    expect(said).not.to.include(forge1Pat);
  });

  it('are pushed to the repository by the identity of the jumpbox', async () => {
    const flags = {
      'install-version': made.version,
      // On embedded machines a package's own programs reach nothing outside.
      'install-skip-steps': ['postgres', 'load-container-images'],
      'registry-type': 'artifact-registry',
    } as const;
    succeeded(await alice.bootstrap('pushed', flags));
    expect(await logOf('pushed')).to.match(/2 of 2 images/);
  });
});
