/** What plinth itself cannot do in the worlds yet: today's refusals by name. Whoever mends one turns its test around. */
import { expect } from 'chai';
import type { JsonObject } from '../../local/cloud/kernel/api.js';
import type { ConstraintName } from '../../local/cloud/org-policy/constraints.js';
import { writePolicyRecord } from '../../local/cloud/org-policy/policies.js';
import { local } from '../../local/stack/deployment.js';
import type { WorldChoice } from '../../local/stack/world-option.js';
import { type Flags, makeScene, type Outcome, succeeded } from '../support/scene.js';

/** `vm:jumpbox: why` for each instance that failed. */
const failuresOf = ({ result }: Outcome): string[] =>
  (result.bootstrap?.instances ?? []).flatMap(({ id, state, problem }) =>
    state === 'failed' ? [`${id}: ${problem?.detail}`] : [],
  );

/** One bootstrap in a world of its own. */
async function bootstrapIn(world: WorldChoice, flags: Flags = {}): Promise<Outcome> {
  const scene = await makeScene(world);
  try {
    return await (await scene.caller()).bootstrap('in-a-world', flags);
  } finally {
    await scene.close();
  }
}

describe('plinth in the worlds', function () {
  this.timeout(240_000);

  it('seasoned: bootstraps, with all that was asked for', async () => {
    const scene = await makeScene();
    try {
      await scene.expectAll(succeeded(await (await scene.caller()).bootstrap('in-seasoned')));
    } finally {
      await scene.close();
    }
  });

  describe('fresh', () => {
    const room = { 'quota.CPUS': 72, 'quota.SSD_TOTAL_GB': 2000, 'quota.CPUS_ALL_REGIONS': 72 };

    it('fails at its check of quotas: CPUs and disks', async () => {
      const outcome = await bootstrapIn({ world: 'fresh' });
      expect(failuresOf(outcome)).to.deep.equal([
        'quota: The quotas of europe-west4 are too low for this bootstrap. CPUS: limit 24, needed 52; SSD_TOTAL_GB: limit 500, needed 730.',
      ]);
    });

    it('is not warned of CPUS_ALL_REGIONS: the last VMs fail', async () => {
      const outcome = await bootstrapIn({ world: 'fresh', worldSettings: { ...room, 'quota.CPUS_ALL_REGIONS': 32 } });
      const failures = failuresOf(outcome);
      expect(failures).not.to.deep.equal([]);
      for (const failure of failures) {
        expect(failure).to.match(/^vm:.*: the quota CPUS_ALL_REGIONS is exceeded; its limit is 32\.$/);
      }
    });

    it('is not warned of PREEMPTIBLE_CPUS with --spot-vms: the last VMs fail', async () => {
      const worldSettings = { ...room, 'quota.PREEMPTIBLE_CPUS': 24 };
      const failures = failuresOf(await bootstrapIn({ world: 'fresh', worldSettings }, { 'spot-vms': true }));
      expect(failures).not.to.deep.equal([]);
      for (const failure of failures) {
        expect(failure).to.match(
          /^vm:.*: the quota PREEMPTIBLE_CPUS is exceeded; its limit is 24 in region europe-west4\.$/,
        );
      }
    });

    it('with --spot-vms is refused for CPUS that spot VMs would not use', async () => {
      const worldSettings = { ...room, 'quota.CPUS': 24, 'quota.PREEMPTIBLE_CPUS': 72 };
      const outcome = await bootstrapIn({ world: 'fresh', worldSettings }, { 'spot-vms': true });
      expect(failuresOf(outcome).join()).to.match(/^quota: .* CPUS: limit 24, needed 52\.$/);
    });

    it('fails at billing once the account has its five links', async () => {
      // The projects of the stack itself have three of them.
      const worldSettings = { ...room, 'quota.billing-projects': 3 };
      const failures = failuresOf(await bootstrapIn({ world: 'fresh', worldSettings })).join();
      expect(failures).to.match(/^billing: .*as many projects linked as its quota allows/);
    });

    it('with room for it, bootstraps', async () => {
      succeeded(await bootstrapIn({ world: 'fresh', worldSettings: room }));
    });
  });

  describe('hardened', () => {
    const violated = (vm: string, constraint: string): RegExp =>
      new RegExp(
        // Constraints are taken for changes by somebody else, and tried again.
        `^vm:${vm}: Could not create the VM .*: somebody else changed it at the same time \\(Constraint constraints/${constraint} violated for project `,
      );
    let all: Outcome;
    let withAddress: Outcome;

    before(async () => {
      const scene = await makeScene({ world: 'hardened' });
      const relax = (place: string, constraint: ConstraintName, rule: JsonObject) =>
        writePolicyRecord(scene.cloud.world, place, constraint, { spec: { rules: [rule] } }, { atOnce: true });
      const bootstrap = async (name: string, flags: Flags = {}) => (await scene.caller()).bootstrap(name, flags);
      try {
        relax(local.otherFolder, 'compute.vmExternalIpAccess', { allowAll: true });
        const elsewhere = { 'folder-id': local.otherFolder.replace('folders/', '') };
        [all, withAddress] = await Promise.all([bootstrap('hard'), bootstrap('soft', elsewhere)]);
      } finally {
        await scene.close();
      }
    });

    it('fails at the jumpbox alone: it has a public address', () => {
      const failures = failuresOf(all);
      expect(failures).to.have.lengthOf(1);
      expect(failures[0]).to.match(violated('jumpbox', 'compute.vmExternalIpAccess'));
    });

    it('with public addresses allowed, bootstraps as far as the cloud goes', () => {
      succeeded(withAddress);
    });
  });
});
