/** Stopping: a cancelled bootstrap stops at its next border and goes on by the same command; a killed or detached caller changes nothing. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { until } from '../support/halves.js';
import { lifeOf } from '../support/life.js';
import { type Caller, historyOf, madeTwice, makeScene, outcomeOf, type Scene, succeeded } from '../support/scene.js';

describe('stopping a bootstrap', function () {
  this.timeout(240_000);
  let scene: Scene;
  let alice: Caller;
  let since: number;

  before(async () => {
    scene = await makeScene();
    await lifeOf(scene).pause();
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

  it('cancel stops it before its VMs are made; the same command brings it to its end, with nothing made twice, and cancel changes nothing more', async () => {
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
    const view = succeeded(await alice.bootstrap('stopped'));
    await scene.expectAll(view);
    expect(madeTwice(historyOf(scene.cloud, since))).to.deep.equal([]);
    const late = await alice.plinth('cancel', 'stopped');
    expect((await scene.view(view.id)).state).to.equal('succeeded');
    expect(late.exitCode).to.be.oneOf([0, 5]);
  });

  it('a kill of its caller loses nothing; nor does Ctrl-C, which says how to follow and how to cancel; the same command follows on and writes the files', async () => {
    const killed = await underWay(() => alice.spawn('detached'));
    killed.child.kill('SIGKILL');
    await killed.ended;
    const running = alice.start('detached');
    await until('the one to be interrupted follows', () => running.stdout() || undefined);
    running.interrupt();
    const { exitCode, stdout, stderr } = await running.ended;
    expect(exitCode).to.equal(130);
    expect(`${stdout}${stderr}`).to.include('--follow').and.to.include('cancel');
    scene.cloud.faults.clear();
    const followed = await alice.plinth('status', 'detached', '--follow');
    expect(followed.exitCode, followed.stderr).to.equal(0);
    await scene.expectAll(succeeded(await alice.bootstrap('detached')));
    expect(alice.has('config.yaml') && alice.has('prod.vault.yaml')).to.equal(true);
    expect(madeTwice(historyOf(scene.cloud, since))).to.deep.equal([]);
  });
});
