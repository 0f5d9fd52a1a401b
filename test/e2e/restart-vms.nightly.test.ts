/** `plinth beta bootstrap-cloud restart-vms` where machines have no public addresses. */
import { expect } from 'chai';
import { needMachines } from '../support/machines.js';
import { runAt } from '../support/plinth-here.js';
import { makeScene, outcomeOf, type Scene, succeeded } from '../support/scene.js';

type Vms = readonly Readonly<Record<string, string>>[];

const withoutAddresses = [
  { title: 'with keys', options: { settings: { PLINTH_MACHINE_ACCESS: 'iap' } } },
  { title: 'with OS Login', options: { world: 'hardened', settings: { PLINTH_LOAD_BALANCERS: 'internal' } } },
] as const;

for (const { title, options } of withoutAddresses) {
  describe(`plinth beta bootstrap-cloud restart-vms, where only IAP leads to the jumpbox, ${title}`, function () {
    this.timeout(240_000);
    let scene: Scene;

    before(async () => {
      needMachines();
      scene = await makeScene({ machines: 'embedded', ...options });
    });
    after(() => scene?.close());

    it('starts jumpbox and node again, and the functions reach both by the tunnel', async () => {
      const alice = await scene.caller();
      const made = succeeded(await alice.bootstrap('hidden', { 'spot-vms': true }));
      expect(made.machineAccess).to.equal('iap');
      const machines = scene.stack.cloudHalf?.machines;
      for (const name of ['jumpbox', 'k0s-2']) {
        machines?.preempt(`projects/${made.projectId}/zones/${made.zone}/instances/${name}`);
      }
      await machines?.settle();
      const args = ['beta', 'bootstrap-cloud', 'restart-vms', 'hidden', '--json'];
      const outcome = outcomeOf(await runAt(args, alice));
      const view = succeeded(outcome);
      const vms = outcome.result['vms'] as Vms;
      expect(vms.filter(({ done }) => done === 'started again').map(({ name }) => name)).to.deep.equal([
        'jumpbox',
        'k0s-2',
      ]);
      expect(vms.every(({ health }) => health === 'answers')).to.equal(true);
      for (const { name, externalIp } of view.result.vms) expect(externalIp, name).to.equal(undefined);
    });
  });
}
