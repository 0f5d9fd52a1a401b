/** A bootstrap that goes on to the machines: set up over SSH by the bootstrap's own key, with what an install needs in place. */
import { expect } from 'chai';
import { type Caller, makeScene, type Scene, succeeded } from '../support/scene.js';

describe('a bootstrap with machines', function () {
  this.timeout(240_000);
  let scene: Scene;
  let alice: Caller;

  before(async () => {
    scene = await makeScene({ machines: 'embedded' });
    alice = await scene.caller();
  });
  after(() => scene?.close());

  it('sets up all of them, and puts config, secrets and plinth on the jumpbox', async () => {
    const view = succeeded(await alice.bootstrap('machines'));
    const states = Object.fromEntries(view.instances.map(({ id, state }) => [id, state]));
    for (const { name } of view.result.vms) expect(states[`host-setup:${name}`]).to.equal('done');
    expect(states).to.include({ 'node-key': 'done', 'node-login:k0s-1': 'done', 'plinth-binary': 'done' });
    expect(states['handover:dc1']).to.equal('done');
  });
});
