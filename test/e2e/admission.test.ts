/** New bootstraps stopped and started by an operator at the command line, as an operator and a caller see it. */
import { expect } from 'chai';
import { people } from '../../local/stack/deployment.js';
import { lifeOf } from '../support/life.js';
import { runAt } from '../support/plinth-here.js';
import { type Caller, makeScene, type Scene, succeeded } from '../support/scene.js';

describe('new bootstraps, stopped by an operator', function () {
  this.timeout(240_000);
  let scene: Scene;
  let operator: Caller;
  let alice: Caller;
  before(async () => {
    scene = await makeScene();
    await lifeOf(scene).pause();
    operator = await scene.caller(people.admin);
    alice = await scene.caller();
  });
  after(() => scene?.close());
  const plinth = (caller: Caller, ...args: string[]) => runAt(['beta', 'bootstraps', ...args], caller);

  it('are refused with the reason, and taken again when they are started; what stands goes on while they are stopped', async () => {
    expect((await plinth(operator, 'status')).stdout).to.match(/New bootstraps +open/);
    const stop = () => plinth(operator, 'stop', '--reason', 'moving house');
    const stopped = await stop();
    expect(stopped.exitCode, stopped.stderr).to.equal(0);
    expect(stopped.stdout).to.contain('moving house').and.to.contain(people.admin);
    const refused = await alice.bootstrap('moved');
    expect(refused.exitCode).to.equal(5);
    expect(refused.result.problem).to.include({ code: 'stopped' });
    expect(refused.result.problem?.detail).to.contain('moving house');
    expect(refused.result.problem?.advice).to.contain('started them again');
    const json = await plinth(operator, 'status', '--json');
    expect(JSON.parse(json.stdout).admission).to.include({ state: 'stopped', reason: 'moving house' });
    expect((await plinth(operator, 'start')).stdout).to.match(/New bootstraps +open/);
    const made = succeeded(await alice.bootstrap('moved'));
    await stop();
    const again = await alice.bootstrap('moved');
    expect(again.result.created).to.equal(false);
    expect(succeeded(again).id).to.equal(made.id);
    await plinth(operator, 'start');
  });

  it('are nobody else’s to stop, and not without a reason', async () => {
    const other = await plinth(alice, 'stop', '--reason', 'mine');
    expect(other.exitCode).to.equal(3);
    expect(other.stderr).to.contain('for operators');
    const bare = await plinth(operator, 'stop');
    expect(bare.exitCode).to.equal(2);
    expect(bare.stderr).to.contain('--reason is needed');
    expect((await plinth(operator, 'status')).stdout).to.match(/open/);
  });
});
