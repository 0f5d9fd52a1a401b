/** What plinth itself cannot do in the worlds yet: today's refusals by name. Whoever mends one turns its test around. */
import { expect } from 'chai';
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
        'quota: The quotas of this project are too low for a bootstrap in europe-west4. CPUS: limit 24, needed 52; CPUS_ALL_REGIONS: limit 32, needed 52; SSD_TOTAL_GB: limit 500, needed 730.',
      ]);
    });

    it('fails there, too, for what counts in all regions together', async () => {
      const outcome = await bootstrapIn({ world: 'fresh', worldSettings: { ...room, 'quota.CPUS_ALL_REGIONS': 32 } });
      expect(failuresOf(outcome)).to.deep.equal([
        'quota: The quotas of this project are too low for a bootstrap in europe-west4. CPUS_ALL_REGIONS: limit 32, needed 52.',
      ]);
    });

    it('with --spot-vms, fails there for what spot VMs use', async () => {
      const worldSettings = { ...room, 'quota.PREEMPTIBLE_CPUS': 24 };
      const failures = failuresOf(await bootstrapIn({ world: 'fresh', worldSettings }, { 'spot-vms': true }));
      expect(failures.join()).to.match(/^quota: .*\. PREEMPTIBLE_CPUS: limit 24, needed 52\.$/);
    });

    it('with --spot-vms, has no need of CPUS that spot VMs do not use', async () => {
      const worldSettings = { ...room, 'quota.CPUS': 24, 'quota.PREEMPTIBLE_CPUS': 72 };
      succeeded(await bootstrapIn({ world: 'fresh', worldSettings }, { 'spot-vms': true }));
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

  it('hardened: bootstraps as far as the cloud goes, gives no VM a public address, and says what OS Login means', async () => {
    const { warnings, machineAccess, result } = succeeded(await bootstrapIn({ world: 'hardened' }));
    expect(warnings).to.have.lengthOf(1);
    expect(warnings[0]).to.match(/requires OS Login/);
    expect(machineAccess).to.equal('iap');
    expect(result.vms.filter(({ externalIp }) => externalIp !== undefined)).to.deep.equal([]);
  });
});
