/** Each world stands as it says, and every setting of it can be changed alone. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { settingsOf } from '../../local/cloud/worlds/settings.js';
import { worldNames } from '../../local/cloud/worlds/table.js';
import { readWorld } from '../../local/stack/world-option.js';
import { done, type OpenWorld, ofType, openWorld, passed, refused, spot, vmPath } from './open-world.js';

const asked = settingsOf('seasoned');

/** Another value that the setting may have. */
function other(key: string): number | string {
  if (key.startsWith('chance.')) return 0.5;
  if (key.startsWith('consumer.')) return 'caller';
  if (!key.startsWith('policy.')) return 7;
  return asked[key] === 'enforced' || /require|disable|skip/.test(key) ? 'off' : 'deny-all';
}

describe('the worlds of the simulated cloud', () => {
  let cloud: OpenWorld;
  afterEach(() => cloud?.close());

  it('seasoned is the default: roomy, with CPUS_ALL_REGIONS in the project alone', async () => {
    cloud = await openWorld();
    expect((await cloud.control('GET world')).body['world']).to.equal('seasoned');
    expect(await cloud.regionLimits()).to.include({ CPUS: 500, N2D_CPUS: 500, SSD_TOTAL_GB: 20_000 });
    expect(await cloud.regionLimits()).not.to.have.property('CPUS_ALL_REGIONS');
    expect(await cloud.projectLimits()).to.include({ CPUS_ALL_REGIONS: 5000, NETWORKS: 1000 });
    expect(await cloud.projectLimits()).not.to.have.property('CPUS');
  });

  describe('fresh', () => {
    const regions = ['europe-west4', 'europe-west1'];
    beforeEach(async () => {
      cloud = await openWorld({ world: 'fresh' });
    });

    it('has few of everything', async () => {
      expect(await cloud.regionLimits()).to.include({
        CPUS: 24,
        PREEMPTIBLE_CPUS: 0,
        SSD_TOTAL_GB: 500,
        IN_USE_ADDRESSES: 8,
        STATIC_ADDRESSES: 8,
      });
      expect(await cloud.projectLimits()).to.include({ CPUS_ALL_REGIONS: 32 });
    });

    it('refuses CPUs beyond those of a region, and of all regions', async () => {
      await cloud.makeNetwork(...regions);
      for (const name of ['a', 'b', 'c']) done(await cloud.insertVm(name, ofType('e2-standard-8')));
      const text = "Quota 'CPUS' exceeded.  Limit: 24.0 in region europe-west4.";
      refused(await cloud.insertVm('d', ofType('e2-standard-2')), 403, 'quotaExceeded', text);
      const there = 'europe-west1-b';
      done(await cloud.insertVm('e', ofType('e2-standard-8', there), there));
      refused(
        await cloud.insertVm('f', ofType('e2-standard-2', there), there),
        403,
        'quotaExceeded',
        "Quota 'CPUS_ALL_REGIONS' exceeded.  Limit: 32.0 globally.",
      );
    });

    it('counts spot VMs as CPUS while PREEMPTIBLE_CPUS is 0, and apart from them afterwards', async () => {
      await cloud.makeNetwork('europe-west4');
      done(await cloud.insertVm('a', { ...ofType('e2-standard-16'), ...spot }));
      const refusedAs = (metric: string, limit: string) =>
        `Quota '${metric}' exceeded.  Limit: ${limit} in region europe-west4.`;
      const next = () => cloud.insertVm('b', { ...ofType('e2-standard-16'), ...spot });
      refused(await next(), 403, 'quotaExceeded', refusedAs('CPUS', '24.0'));
      await cloud.control('PUT world', { settings: { 'quota.PREEMPTIBLE_CPUS': 20 } });
      refused(await next(), 403, 'quotaExceeded', refusedAs('PREEMPTIBLE_CPUS', '20.0'));
      const { body } = await cloud.call('compute', 'GET /compute/v1/projects/P/regions/europe-west4');
      const used = (body['quotas'] as { metric: string; usage: number }[]).filter(({ usage }) => usage === 16);
      expect(used.map(({ metric }) => metric)).to.deep.equal(['PREEMPTIBLE_CPUS']);
    });

    it('counts CPUs of a family that has a quota of its own there, and custom types too', async () => {
      await cloud.makeNetwork('europe-west4');
      done(await cloud.insertVm('a', ofType('n2d-standard-16')));
      refused(
        await cloud.insertVm('b', ofType('n2d-custom-12-16384')),
        403,
        'quotaExceeded',
        "Quota 'N2D_CPUS' exceeded.  Limit: 24.0 in region europe-west4.",
      );
      done(await cloud.insertVm('c', ofType('e2-standard-16')));
    });

    it('lists E2_CPUS, which no VM uses: E2 machines count as CPUS', async () => {
      await cloud.control('PUT world', { settings: { 'quota.E2_CPUS': 8 } });
      await cloud.makeNetwork('europe-west4');
      done(await cloud.insertVm('a', ofType('e2-standard-16')));
      const { body } = await cloud.call('compute', 'GET /compute/v1/projects/P/regions/europe-west4');
      const quotas = body['quotas'] as { metric: string; limit: number; usage: number }[];
      expect(quotas.filter(({ metric }) => /^(?:E2_)?CPUS$/.test(metric))).to.have.deep.members([
        { metric: 'CPUS', limit: 24, usage: 16 },
        { metric: 'E2_CPUS', limit: 8, usage: 0 },
      ]);
    });

    it('links five projects to a billing account, and lets an account make ten, deleted ones counting', async () => {
      const make = async (n: number) => {
        const projectId = `young-project-${n}`;
        const body = { projectId, displayName: projectId, parent: 'organizations/100' };
        return cloud.call('cloudresourcemanager', 'POST /v3/projects', body);
      };
      const linkTo = (n: number) =>
        cloud.call('cloudbilling', `PUT /v1/projects/young-project-${n}/billingInfo`, {
          billingAccountName: 'billingAccounts/000000-000000-000000',
        });
      for (let n = 1; n <= 10; n += 1) done(await make(n));
      for (let n = 1; n <= 3; n += 1) passed(await linkTo(n));
      const full = await linkTo(4);
      refused(full, 400, 'FAILED_PRECONDITION', 'Precondition check failed.');
      expect(JSON.stringify(full.body)).to.include('Cloud billing quota exceeded');
      passed(await cloud.call('cloudresourcemanager', 'DELETE /v3/projects/young-project-10'));
      const { body } = await make(11);
      expect(body['error']).to.include({
        code: 8,
        message: 'The project cannot be created because you have exceeded your allotted project quota.',
      });
    });
  });

  describe('quotas are asked too', () => {
    beforeEach(async () => {
      cloud = await openWorld({ worldSettings: { 'quota.IN_USE_ADDRESSES': 0, 'quota.CPUS': 2 } });
      await cloud.makeNetwork('europe-west4');
      done(await cloud.insertVm('vm'));
    });

    it('where a VM gets an address later', async () => {
      const line = `POST /compute/v1/${vmPath('vm')}/addAccessConfig?networkInterface=nic0`;
      const text = "Quota 'IN_USE_ADDRESSES' exceeded.  Limit: 0.0 in region europe-west4.";
      refused(await cloud.call('compute', line, { name: 'External NAT' }), 403, 'quotaExceeded', text);
    });

    it('where a suspended VM resumes', async () => {
      done(await cloud.call('compute', `POST /compute/v1/${vmPath('vm')}/suspend`));
      done(await cloud.insertVm('other'));
      const text = "Quota 'CPUS' exceeded.  Limit: 2.0 in region europe-west4.";
      refused(await cloud.call('compute', `POST /compute/v1/${vmPath('vm')}/resume`), 403, 'quotaExceeded', text);
    });
  });

  it('a running cloud becomes another world, with its policies, and goes back', async () => {
    cloud = await openWorld();
    await cloud.makeNetwork('europe-west4');
    const osLogin = async () => {
      const policy = 'organizations/100/policies/compute.requireOsLogin';
      return (await cloud.call('orgpolicy', `GET /v2/${policy}:getEffectivePolicy`)).body['spec'];
    };
    expect(await osLogin()).to.deep.equal({ rules: [{ enforce: false }] });
    expect((await cloud.control('PUT world', { world: 'hardened' })).status).to.equal(200);
    expect(await osLogin()).to.deep.equal({ rules: [{ enforce: true }] });
    expect((await cloud.insertVm('vm')).message).to.include('constraints/compute.requireShieldedVm');
    expect((await cloud.control('PUT world', { world: 'seasoned' })).status).to.equal(200);
    expect(await osLogin()).to.deep.equal({ rules: [{ enforce: false }] });
    done(await cloud.insertVm('vm'));
  });

  it('hardened has the policies of seasoned and more, and its quotas', () => {
    const [seasoned, hardened] = [settingsOf('seasoned'), settingsOf('hardened')];
    const changed = Object.keys(seasoned).filter((key) => seasoned[key] !== hardened[key]);
    expect(changed.every((key) => key.startsWith('policy.') && seasoned[key] === 'off')).to.equal(true);
    // Without accounts nodes have no identity. Without guest attributes, the serial console alone tells host keys.
    const mayBeOff = ['policy.iam.disableServiceAccountCreation', 'policy.compute.disableSerialPortAccess'];
    expect(mayBeOff).to.include.members(Object.keys(hardened).filter((key) => hardened[key] === 'off'));
  });

  for (const name of worldNames) {
    it(`${name}: every setting can be changed alone, at the start and while it runs`, async () => {
      const changed = Object.fromEntries(Object.keys(settingsOf(name)).map((key) => [key, other(key)]));
      cloud = await openWorld({ world: name, worldSettings: changed });
      expect((await cloud.control('GET world')).body).to.deep.equal({ world: name, settings: changed });
      for (const [key, value] of Object.entries(settingsOf(name))) {
        const { status, body } = await cloud.control('PUT world', { settings: { [key]: value } });
        expect(status, JSON.stringify(body)).to.equal(200);
        expect((body['settings'] as Record<string, unknown>)[key]).to.equal(value);
      }
      expect((await cloud.control('GET world')).body).to.deep.equal({ world: name, settings: settingsOf(name) });
    });
  }

  const mistakes: readonly (readonly [string, unknown, RegExp])[] = [
    ['a setting that no world has', { settings: { 'quota.CPU': 1 } }, /no world has a setting named quota\.CPU\b/],
    ['a policy that there is not', { settings: { 'policy.compute.no': 'off' } }, /named policy\.compute\.no/],
    ['a number that is none', { settings: { 'quota.CPUS': 'many' } }, /quota\.CPUS must be a whole number .* "many"/],
    ['a consumer that there is not', { settings: { 'consumer.iam': 7 } }, /consumer\.iam must be resource or caller/],
    ['a share above 1', { settings: { 'chance.stockout': 2 } }, /chance\.stockout must be a number from 0 to 1/],
    [
      'a rule of another kind',
      { settings: { 'policy.compute.requireOsLogin': 'deny-all' } },
      /must be off or enforced/,
    ],
    ['a world that there is not', { world: 'kind' }, /world/],
    ['a field that there is not', { wrold: 'fresh' }, /wrold/],
    ['what is no JSON', '{', /no JSON/],
  ];
  for (const [name, body, says] of mistakes) {
    it(`refuses ${name}, and changes nothing`, async () => {
      cloud = await openWorld();
      const before = (await cloud.control('GET world')).body;
      const reply = await cloud.control('PUT world', body);
      expect(reply.status).to.equal(400);
      expect(String(reply.body['error'])).to.match(says);
      expect((await cloud.control('GET world')).body).to.deep.equal(before);
    });
  }

  it('reads the same settings from --world and --world-set', () => {
    expect(readWorld(undefined)).to.deep.equal({});
    expect(readWorld('fresh', ['quota.CPUS=12', 'policy.gcp.resourceLocations=allow:in:eu-locations'])).to.deep.equal({
      world: 'fresh',
      worldSettings: { 'quota.CPUS': 12, 'policy.gcp.resourceLocations': 'allow:in:eu-locations' },
    });
    expect(() => readWorld('old')).to.throw('--world: the world must be seasoned, fresh, hardened, not "old".');
    expect(() => readWorld('fresh', ['quota.CPUS'])).to.throw('--world-set must be KEY=VALUE');
    expect(() => readWorld('fresh', ['quota.X=1'])).to.throw('no world has a setting named quota.X.');
  });

  it('keeps its world in the snapshot, and becomes another one only where it is told to', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'plinth-world-'));
    const snapshotFile = join(folder, 'cloud.json');
    try {
      cloud = await openWorld({ snapshotFile, world: 'fresh', worldSettings: { 'quota.CPUS': 12 } });
      await cloud.close();
      cloud = await openWorld({ snapshotFile });
      expect(await cloud.regionLimits()).to.include({ CPUS: 12, SSD_TOTAL_GB: 500 });
      await cloud.close();
      cloud = await openWorld({ snapshotFile, world: 'seasoned' });
      expect(await cloud.regionLimits()).to.include({ CPUS: 500 });
    } finally {
      await cloud.close();
      rmSync(folder, { recursive: true });
    }
  });

  describe('preemption', () => {
    const statusOf = async (name: string) =>
      (await cloud.call('compute', `GET /compute/v1/${vmPath(name)}`)).body['status'];

    it('of one VM, by HTTP: a spot VM goes, a standard one is refused', async () => {
      cloud = await openWorld();
      await cloud.makeNetwork('europe-west4');
      done(await cloud.insertVm('fleeting', spot));
      done(await cloud.insertVm('lasting'));
      expect((await cloud.control('POST preemptions', { instance: vmPath('fleeting') })).status).to.equal(200);
      expect(await statusOf('fleeting')).to.equal('TERMINATED');
      const refusals = [vmPath('lasting'), vmPath('nobody'), vmPath('fleeting')].map((instance) =>
        cloud.control('POST preemptions', { instance }),
      );
      expect((await Promise.all(refusals)).map(({ status }) => status)).to.deep.equal([400, 400, 400]);
    });

    it('by chance, as the seed draws: no standard VM goes', async () => {
      const gone = async (seed: number): Promise<string> => {
        cloud = await openWorld({ seed, worldSettings: { 'chance.preemption': 0.5 } });
        await cloud.makeNetwork('europe-west4');
        const names = ['a', 'b', 'c', 'd', 'e', 'f'];
        for (const name of names) done(await cloud.insertVm(name, spot));
        done(await cloud.insertVm('lasting'));
        const states = await Promise.all([...names, 'lasting'].map(statusOf));
        await cloud.close();
        expect(states.pop()).to.equal('RUNNING');
        return states.join();
      };
      const first = await gone(1);
      expect(first).to.include('TERMINATED').and.to.include('RUNNING');
      expect(await gone(1)).to.equal(first);
      expect(await gone(2)).not.to.equal(first);
    });
  });

  it('an API keeps the pace that is set, and another one while it runs', async () => {
    cloud = await openWorld({ timeFactor: 1, worldSettings: { 'pace.compute': 0 } });
    const states = async () => {
      const { items } = (await cloud.call('compute', 'GET /compute/v1/projects/P/global/operations')).body;
      return (items as { status: string }[]).map(({ status }) => status);
    };
    await cloud.makeNetwork('europe-west4');
    expect(await states()).to.deep.equal(['DONE']);
    expect((await cloud.control('PUT world', { settings: { 'pace.compute': 2 } })).status).to.equal(200);
    const rule = { name: 'web', network: 'global/networks/net', allowed: [{ IPProtocol: 'tcp' }] };
    passed(await cloud.call('compute', 'POST /compute/v1/projects/P/global/firewalls', rule));
    const [, later] = (await states()).sort();
    expect(later).to.be.oneOf(['PENDING', 'RUNNING']);
  });

  it('draws stockouts by the seed', async () => {
    cloud = await openWorld({ worldSettings: { 'chance.stockout': 1 } });
    await cloud.makeNetwork('europe-west4');
    const { body } = await cloud.insertVm('nowhere');
    expect(JSON.stringify(body['error'])).to.include('ZONE_RESOURCE_POOL_EXHAUSTED');
  });
});
