/** Stopping: a cancelled bootstrap stops at its next border and goes on by the same command; a killed or detached caller changes nothing. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type Caller, historyOf, madeTwice, makeScene, outcomeOf, type Scene, succeeded } from '../support/scene.js';

describe('stopping a bootstrap', function () {
  this.timeout(240_000);
  let scene: Scene;
  let alice: Caller;
  let since: number;

  before(async () => {
    scene = await makeScene();
  });
  after(() => scene?.close());
  beforeEach(async () => {
    alice = await scene.caller();
    since = scene.cloud.calls.last();
  });
  afterEach(() => scene.cloud.faults.clear());

  /** Until the cloud was asked for this. */
  async function asked(method: string): Promise<void> {
    const patience = Date.now() + 200_000;
    while (scene.cloud.calls.list({ since, method }).length === 0) {
      if (Date.now() > patience) throw new Error(`nobody asked for ${method}`);
      await sleep(20);
    }
  }
  /** A bootstrap that is busy with its network until the faults are cleared. */
  async function underWay<T>(start: () => T): Promise<T> {
    scene.cloud.faults.add({ method: 'compute.subnetworks.insert', kind: 'slow', delaySeconds: 50, when: 'after' });
    const running = start();
    await asked('compute.networks.insert');
    return running;
  }

  it('cancel stops it before its VMs are made; the same command brings it to its end, with nothing made twice', async () => {
    const running = await underWay(() => alice.start('stopped'));
    const cancelled = await alice.plinth('cancel', 'stopped');
    expect(cancelled.exitCode, cancelled.stderr).to.equal(0);
    scene.cloud.faults.clear();
    const ended = outcomeOf(await running.ended);
    expect(ended.exitCode).to.equal(7);
    expect(ended.result.bootstrap?.state).to.equal('cancelled');
    await scene.stack.settle();
    expect(scene.cloud.calls.list({ since, method: 'compute.instances.insert' })).to.deep.equal([]);
    expect((await alice.plinth('status', 'stopped')).stdout).to.include('cancelled');
    await scene.expectAll(succeeded(await alice.bootstrap('stopped')));
    expect(madeTwice(historyOf(scene.cloud, since))).to.deep.equal([]);
  });

  it('cancelling what has ended changes nothing', async () => {
    const { id } = succeeded(await alice.bootstrap('ended'));
    const cancelled = await alice.plinth('cancel', 'ended');
    expect((await scene.view(id)).state).to.equal('succeeded');
    expect(cancelled.exitCode).to.be.oneOf([0, 5]);
  });

  it('Ctrl-C detaches, saying how to follow and how to cancel; the bootstrap goes on', async () => {
    const running = await underWay(() => alice.start('detached'));
    running.interrupt();
    const { exitCode, stdout, stderr } = await running.ended;
    expect(exitCode).to.equal(130);
    expect(`${stdout}${stderr}`).to.include('--follow').and.to.include('cancel');
    scene.cloud.faults.clear();
    const followed = await alice.plinth('status', 'detached', '--follow');
    expect(followed.exitCode, followed.stderr).to.equal(0);
    await scene.expectAll(succeeded(await alice.bootstrap('detached')));
  });

  it('a caller that is killed loses nothing: the same command follows on and writes the files', async () => {
    const running = await underWay(() => alice.spawn('orphaned'));
    running.child.kill('SIGKILL');
    await running.ended;
    scene.cloud.faults.clear();
    await scene.expectAll(succeeded(await alice.bootstrap('orphaned')));
    expect(alice.has('config.yaml') && alice.has('prod.vault.yaml')).to.equal(true);
    expect(madeTwice(historyOf(scene.cloud, since))).to.deep.equal([]);
  });
});
