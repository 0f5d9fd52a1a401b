/** A new account whose quota Google raises: from nothing to an installed platform, on embedded machines. */
import { expect } from 'chai';
import { publishSample, type SamplePackage } from '../support/sample-package.js';
import { makeScene, type Scene, succeeded } from '../support/scene.js';

describe('an install in a new account', function () {
  this.timeout(240_000);
  let scene: Scene;
  let made: SamplePackage;

  before(async () => {
    scene = await makeScene({
      world: 'fresh',
      worldSettings: { 'chance.quotaGranted': 1 },
      settings: { PLINTH_QUOTA_CONTACT: 'quota@example.com' },
      machines: 'embedded',
    });
    made = await publishSample(scene);
  });
  after(() => scene?.close());

  it('ends with 0 once the quota is granted', async () => {
    const alice = await scene.caller();
    const view = succeeded(await alice.bootstrap('new-account', { 'install-version': made.version }));
    const states = Object.fromEntries(view.instances.map(({ id, state }) => [id, state]));
    expect(states).to.include({ quota: 'done', 'install:dc1': 'done', 'load-balancers:dc1': 'done' });
    const requests = scene.cloud.calls.list({ method: 'cloudquotas.projects.locations.quotaPreferences.create' });
    expect(requests).to.have.lengthOf(3);
  });
});
