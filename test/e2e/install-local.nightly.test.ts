/** An install from a package on the caller's machine: what `npm run make-package` makes, a changed one, and one whose upload was cut. */
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { runPlinth } from '../../local/demo/plinth-process.js';
import { makePackage } from '../../local/packages/make-package.js';
import { makeShellPackage } from '../package/jumpbox.js';
import { needMachines } from '../support/machines.js';
import { type Caller, makeScene, type Scene, succeeded } from '../support/scene.js';

const name = 'by-hand';

describe('an install with --install-local', function () {
  this.timeout(240_000);
  let scene: Scene;
  let alice: Caller;

  before(async () => {
    needMachines();
    scene = await makeScene({ machines: 'embedded' });
    alice = await scene.caller();
  });
  after(() => scene?.close());

  const onJumpbox = async (...command: string[]) =>
    (await runPlinth(['beta', 'bootstrap-cloud', 'ssh', name, 'jumpbox', '--', ...command], alice)).stdout.trim();
  const health = async () =>
    JSON.parse(await onJumpbox('curl', '--silent', 'http://127.0.0.1:8080/healthz')) as Record<string, unknown>;
  const uploadsIn = (events: readonly Readonly<Record<string, unknown>>[]) =>
    events.filter(({ type }) => type === 'upload');
  /** Of two versions in folders of their own: the file is called the same. */
  const packed = async (version: string) => {
    const folder = join(alice.folder, version);
    mkdirSync(folder);
    return { ...(await makePackage(folder, version)), folder };
  };
  const bring = (file: string) => alice.bootstrap(name, { 'install-local': file, 'install-skip-steps': ['postgres'] });

  it('brings the package, and the platform runs', async () => {
    const made = await packed('1.0.0');
    const outcome = await bring(made.lite.path);
    succeeded(outcome);
    expect(uploadsIn(outcome.events).at(-1)).to.include({ name: 'installer-lite.tar.gz', state: 'sent' });
    expect(await health()).to.deep.equal({ status: 'ok', version: '1.0.0', hash: made.hash });
  });

  it('is brought again where the file has changed, and only then', async () => {
    const changed = await packed('1.0.1');
    const outcome = await bring(changed.lite.path);
    succeeded(outcome);
    expect(uploadsIn(outcome.events).at(-1)).to.include({ state: 'sent' });
    expect(await health()).to.deep.equal({ status: 'ok', version: '1.0.1', hash: changed.hash });

    const again = await bring(changed.lite.path);
    succeeded(again);
    expect(uploadsIn(again.events)).to.deep.equal([]);
  });

  it('goes on from where an upload was cut', async () => {
    const file = join(alice.folder, 'large.tar.gz');
    // A shell reads no further than to the end that it is told.
    const ballast = randomBytes(60_000_000).toString('base64');
    await makeShellPackage(file, { only: `cat > /dev/null; touch /var/tmp/large; exit 0\n${ballast}` });

    const first = alice.start(name, { 'install-local': file });
    const sending = new Promise<void>((resolve) => {
      first.onText(() => {
        if (/"state":"sending","bytes":[1-9]/.test(first.stdout())) resolve();
      });
    });
    await Promise.race([sending, first.ended]);
    first.interrupt();
    expect((await first.ended).exitCode, first.stdout().slice(-2000)).to.equal(130);
    expect((await alice.plinth('status', name)).stdout).to.include('the package of --install-local');

    const second = await alice.bootstrap(name, { 'install-local': file });
    succeeded(second);
    expect(uploadsIn(second.events)[0]?.['bytes']).to.be.greaterThan(0);
    expect(await onJumpbox('ls', '/var/tmp/large')).to.equal('/var/tmp/large');
  });
});
