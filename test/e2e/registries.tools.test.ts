/** A bootstrap whose images go to the project's repository: skopeo for real, on embedded machines. */
import { expect } from 'chai';
import { startPlinth } from '../../local/demo/plinth-process.js';
import { publishSample, type SamplePackage } from '../support/sample-package.js';
import { type Caller, makeScene, type Scene, succeeded } from '../support/scene.js';

describe('images of a bootstrap', function () {
  this.timeout(300_000);
  let scene: Scene;
  let alice: Caller;
  let made: SamplePackage;

  before(async () => {
    scene = await makeScene({ machines: 'embedded' });
    made = await publishSample(scene);
    alice = await scene.caller();
  });
  after(() => scene?.close());

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
