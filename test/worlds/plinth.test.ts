/** What plinth itself cannot do in the worlds yet: today's refusals by name. Whoever mends one turns its test around. */
import { expect } from 'chai';
import type { WorldSettings } from '../../local/cloud/worlds/settings.js';
import { lifeOf } from '../support/life.js';
import { type Caller, type Flags, makeScene, type Outcome, type Scene, succeeded } from '../support/scene.js';
import { makeFresh } from './open-world.js';

/** `vm:jumpbox: why` for each instance that failed. */
const failuresOf = ({ result }: Outcome): string[] =>
  (result.bootstrap?.instances ?? []).flatMap(({ id, state, problem }) =>
    state === 'failed' ? [`${id}: ${problem?.detail}`] : [],
  );

describe('plinth in the worlds', function () {
  this.timeout(240_000);

  describe('fresh', () => {
    const room = { 'quota.CPUS': 72, 'quota.SSD_TOTAL_GB': 2000, 'quota.CPUS_ALL_REGIONS': 72 };
    let scene: Scene;
    let alice: Caller;
    before(async () => {
      scene = await makeScene({ world: 'fresh', settings: { PLINTH_QUOTA_CONTACT: 'quota@example.com' } });
      alice = await scene.caller();
    });
    after(() => scene?.close());
    const bootstrapWith = (name: string, settings: WorldSettings, flags?: Flags): Promise<Outcome> => {
      makeFresh(scene.cloud, { 'chance.quotaGranted': 0, 'chance.quotaPartly': 0, ...settings });
      return alice.bootstrap(name, flags);
    };

    it('fails at its check of quotas for what counts in all regions together, too', async () => {
      const failures = failuresOf(await bootstrapWith('all-regions', { ...room, 'quota.CPUS_ALL_REGIONS': 32 }));
      expect(failures.join()).to.match(/^quota: .*europe-west4\. CPUS_ALL_REGIONS: limit 32, needed 52, asked[^;]*$/);
    });

    it('with --spot-vms, fails there for what spot VMs use', async () => {
      const settings = { ...room, 'quota.PREEMPTIBLE_CPUS': 24 };
      const failures = failuresOf(await bootstrapWith('spot', settings, { 'spot-vms': true }));
      expect(failures.join()).to.match(/^quota: .*\. PREEMPTIBLE_CPUS: limit 24, needed 52[^;]*$/);
    });

    it('fails at billing once the account has its five links', async () => {
      // The projects of the stack itself have three of them.
      const failures = failuresOf(await bootstrapWith('links', { ...room, 'quota.billing-projects': 3 })).join();
      expect(failures).to.match(/^billing: .*as many projects linked as its quota allows/);
    });

    it('with room for it, bootstraps, and asks Google for nothing that no VM uses', async () => {
      const since = scene.cloud.calls.last();
      succeeded(await bootstrapWith('with-room', { ...room, 'quota.E2_CPUS': 8 }));
      const asked = scene.cloud.calls.list({ since, method: 'cloudquotas.projects.locations.quotaPreferences.create' });
      expect(asked).to.deep.equal([]);
    });
  });

  it('hardened: bootstraps as far as the cloud goes, gives no VM a public address, and says what OS Login means', async () => {
    const scene = await makeScene({ world: 'hardened' });
    try {
      const { warnings, machineAccess, result } = succeeded(await (await scene.caller()).bootstrap('in-a-world'));
      expect(warnings).to.have.lengthOf(1);
      expect(warnings[0]).to.match(/requires OS Login/);
      expect(machineAccess).to.equal('iap');
      expect(result.vms.filter(({ externalIp }) => externalIp !== undefined)).to.deep.equal([]);
    } finally {
      await scene.close();
    }
  });

  it('bootstraps and deletes also where IAM must be on in the project of the caller, and not of the resource', async () => {
    const scene = await makeScene({ worldSettings: { 'consumer.iam': 'caller' } });
    try {
      const { id } = succeeded(await (await scene.caller()).bootstrap('by-caller'));
      const life = lifeOf(scene);
      await life.expire(id);
      await life.cleaned();
      expect((await life.record(id))?.state).to.equal('removed');
    } finally {
      await scene.close();
    }
  });
});
