/** Where an organization requires OS Login: a bootstrap with an install, from its beginning to its removal. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { runPlinth } from '../../local/demo/plinth-process.js';
import { type MadePackage, makePackage } from '../../local/packages/make-package.js';
import { publishPackage } from '../../local/packages/publish.js';
import { functionAccount } from '../../local/stack/deployment.js';
import { functionNames } from '../../shared/names.js';
import { type Caller, makeScene, type Scene, succeeded } from '../support/scene.js';

const hostAccount = functionAccount(functionNames.runHostStep);

describe('where OS Login is required', function () {
  this.timeout(300_000);
  let scene: Scene;
  let alice: Caller;
  let folder: string;
  let made: MadePackage;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'plinth-package-'));
    made = await makePackage(folder);
    scene = await makeScene({
      machines: 'embedded',
      worldSettings: { 'policy.compute.requireOsLogin': 'enforced' },
    });
    await publishPackage(scene.cloud, made);
    alice = await scene.caller();
  });
  after(async () => {
    await scene?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const keysOf = () =>
    Object.values(
      scene.cloud.world.table<{ keys: Record<string, { expirationTimeUsec?: string }> }>('oslogin.profiles')[
        hostAccount
      ]?.keys ?? {},
    );

  it('installs, is resumed and removed, by one key that ends within the hour', async () => {
    const wanted = { 'install-version': made.version };
    const view = succeeded(await alice.bootstrap('by-login', wanted));
    expect(view.result.machineLogin).to.equal('os-login');
    expect(view.warnings.join(' ')).to.contain('requires OS Login').and.contain('--ssh-public-key-path');
    const [key, ...others] = keysOf();
    expect(others).to.deep.equal([]);
    expect(Number(key?.expirationTimeUsec) / 1000 - Date.now()).to.be.within(0, 3_600_000);

    succeeded(await alice.bootstrap('by-login', wanted));
    expect(keysOf()).to.have.length(1);

    const removal = await runPlinth(['beta', 'bootstrap-cloud', 'cleanup', 'by-login', '--yes'], alice);
    expect(removal.exitCode, removal.stderr).to.equal(0);
    const { functionsHalf } = scene.stack;
    await functionsHalf?.contextOf(functionNames.runHostStep).osLogin.close();
    expect(keysOf()).to.deep.equal([]);
  });
});
