/** A bootstrap with an install on real hosts: nodes join through rules that nft enforces, and the platform runs under systemd. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { makeBase } from '../../local/machines/real/base.js';
import { type MadePackage, makePackage } from '../../local/packages/make-package.js';
import { publishPackage } from '../../local/packages/publish.js';
import { needMachines } from '../support/machines.js';
import { makeScene, type Scene, succeeded } from '../support/scene.js';

describe('an install on real hosts', function () {
  this.timeout(600_000);
  let scene: Scene;
  let folder: string;
  let made: MadePackage;

  before(async function () {
    needMachines(this, 'real');
    await makeBase((note) => void process.stderr.write(`${note}\n`));
    folder = mkdtempSync(join(tmpdir(), 'plinth-package-'));
    made = await makePackage(folder);
    scene = await makeScene({ machines: 'real' });
    await publishPackage(scene.cloud, made);
  });
  after(async () => {
    await scene?.close();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });

  it('comes to its end, and the same command finds all as it is', async () => {
    const alice = await scene.caller();
    // No step makes a PostgreSQL server yet: the sample then keeps its tables in a file.
    const flags = { 'install-version': made.version, 'install-skip-steps': ['postgres'] };
    const view = succeeded(await alice.bootstrap('real-install', flags));
    const states = Object.fromEntries(view.instances.map(({ id, state }) => [id, state]));
    expect(states).to.include({ package: 'done', 'k0s-ready:dc1': 'done', 'install:dc1': 'done' });
    const again = succeeded(await alice.bootstrap('real-install', flags));
    expect(again.projectId).to.equal(view.projectId);
  });
});
