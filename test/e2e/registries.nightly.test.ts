/** A bootstrap whose images come from forge1's registry to the jumpbox, which is down at first: skopeo for real, on embedded machines. */
import { expect } from 'chai';
import { startPlinth } from '../../local/demo/plinth-process.js';
import { forge1Pat } from '../../local/forge1/forge1.js';
import { type Forge1Registry, startForge1Registry } from '../../local/forge1/registry.js';
import { local } from '../../local/stack/deployment.js';
import { publishSample, type SamplePackage } from '../support/sample-package.js';
import { type Caller, failedWith, makeScene, type Scene, succeeded } from '../support/scene.js';

describe('images of a bootstrap', function () {
  this.timeout(300_000);
  let scene: Scene;
  let alice: Caller;
  let made: SamplePackage;
  let registry: Forge1Registry | undefined;

  before(async () => {
    scene = await makeScene({ machines: 'embedded' });
    made = await publishSample(scene);
    alice = await scene.caller();
  });
  after(async () => {
    await scene?.close();
    await registry?.close();
  });

  const logOf = async (name: string): Promise<string> => {
    const ran = await startPlinth(['beta', 'bootstrap-cloud', 'logs', name, 'images'], alice).ended;
    expect(ran.exitCode, ran.stderr).to.equal(0);
    return ran.stdout;
  };

  const mirrored = () =>
    alice.bootstrap('mirrored', {
      'install-version': made.version,
      'registry-type': 'local-container',
      'forge1-pat': forge1Pat,
    });

  it('fail by name while the registry they come from is down; the same command goes on once it is there', async () => {
    const { forge1, forge1Registry: down } = scene.stack.cloudHalf ?? expect.fail('no cloud');
    await down.close();
    const outcome = await mirrored();
    failedWith(outcome, 'images', new URL(down.url).host, 'cannot be read', 'run the same command again');
    const [projectId, before] = [outcome.result.bootstrap?.projectId, scene.cloud.calls.last()];
    registry = await startForge1Registry(scene.cloud.world, forge1, local.packagesBucket);
    expect(registry.url).to.equal(down.url);
    expect(succeeded(await mirrored()).projectId).to.equal(projectId);
    expect(scene.cloud.calls.list({ since: before, method: 'compute.instances.insert' })).to.deep.equal([]);
  });

  it('are mirrored from forge1 to the jumpbox, which keeps no login of it', async () => {
    succeeded(await mirrored());
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
});
