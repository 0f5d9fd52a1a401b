/** Cloud Quotas over HTTP: what a project may use, and requests for more, granted in full, by half or not at all. */

import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { WorldSettings } from '../../local/cloud/worlds/settings.js';
import { project, stranger } from '../local-cloud/ready-cloud.js';
import { type OpenWorld, openWorld, passed, refused } from './open-world.js';

const root = `/v1/projects/${project}/locations/global`;
const service = 'compute.googleapis.com';

interface Preference {
  name: string;
  etag: string;
  reconciling?: boolean;
  quotaConfig: { preferredValue: string; grantedValue: string; stateDetail: string };
}

describe('simulated Cloud Quotas', () => {
  let cloud: OpenWorld;
  const call = (line: string, body?: unknown, as?: string) =>
    cloud.call('cloudquotas', line, body, as === undefined ? {} : { as });
  const wish = (preferredValue: number, more: object = {}) => ({
    service,
    quotaId: 'CPUS-per-project-region',
    dimensions: { region: 'europe-west4' },
    quotaConfig: { preferredValue: String(preferredValue) },
    contactEmail: 'alice@example.com',
    justification: 'A platform for a day',
    ...more,
  });
  const ask = (preferredValue: number, more: object = {}) =>
    call(`POST ${root}/quotaPreferences?quotaPreferenceId=more-cpus`, wish(preferredValue, more));
  const get = async () => (await call(`GET ${root}/quotaPreferences/more-cpus`)).body as unknown as Preference;
  const open = async (worldSettings: WorldSettings, timeFactor = 0): Promise<void> => {
    cloud = await openWorld({ world: 'fresh', worldSettings, timeFactor });
  };
  afterEach(() => cloud.close());

  it('tells the limits, those of the regions and the global ones', async () => {
    await open({});
    const { body } = await call(`GET ${root}/services/${service}/quotaInfos/CPUS-per-project-region`);
    expect(body).to.include({ service, containerType: 'PROJECT', metric: `${service}/cpus` });
    expect(body['dimensions']).to.deep.equal(['region']);
    expect(body['dimensionsInfos']).to.deep.include({
      dimensions: { region: 'europe-west4' },
      details: { value: '24' },
      applicableLocations: ['europe-west4'],
    });
    const all = await call(`GET ${root}/services/${service}/quotaInfos/CPUS-ALL-REGIONS-per-project`);
    expect(all.body['dimensionsInfos']).to.deep.equal([{ details: { value: '32' }, applicableLocations: ['global'] }]);
  });

  it('names metrics as Google does, which is not always as Compute Engine does', async () => {
    await open({});
    for (const [quotaId, metric] of [
      ['CPUS', 'cpus'],
      ['SSD-TOTAL-GB', 'ssd_total_storage'],
      ['DISKS-TOTAL-GB', 'disks_total_storage'],
      ['IN-USE-ADDRESSES', 'regional_in_use_addresses'],
      ['STATIC-ADDRESSES', 'regional_static_addresses'],
    ]) {
      const { body } = await call(`GET ${root}/services/${service}/quotaInfos/${quotaId}-per-project-region`);
      expect(body['metric']).to.equal(`${service}/${metric}`);
    }
  });

  it('reviews a request for a while, then grants it: to this project, in this region', async () => {
    await open({ 'chance.quotaGranted': 1, 'delay.quotaDecision': 300 }, 0.001);
    const { body } = await ask(64);
    expect(body).to.include({
      reconciling: true,
      quotaId: 'CPUS-per-project-region',
      contactEmail: 'alice@example.com',
    });
    expect(body['quotaConfig']).to.include({ preferredValue: '64', grantedValue: '24' });
    expect(await cloud.regionLimits()).to.include({ CPUS: 24 });
    await sleep(500);
    const granted = await get();
    expect(granted.reconciling).not.to.equal(true);
    expect(granted.quotaConfig).to.include({ grantedValue: '64', stateDetail: 'The request was approved.' });
    expect(await cloud.regionLimits()).to.include({ CPUS: 64 });
    expect(await cloud.regionLimits('europe-west1')).to.include({ CPUS: 24 });
  });

  it('grants half, or nothing, as the world draws', async () => {
    await open({ 'chance.quotaGranted': 0, 'chance.quotaPartly': 1 });
    await ask(64);
    expect((await get()).quotaConfig).to.include({ preferredValue: '64', grantedValue: '44' });
    expect(await cloud.regionLimits()).to.include({ CPUS: 44 });
    await cloud.control('PUT world', { settings: { 'chance.quotaPartly': 0 } });
    passed(await call(`PATCH ${root}/quotaPreferences/more-cpus`, wish(80, { etag: (await get()).etag })));
    const { quotaConfig } = await get();
    expect(quotaConfig).to.include({ preferredValue: '80', grantedValue: '44' });
    expect(quotaConfig.stateDetail).to.include('wait 48h or until your billing account has additional history');
  });

  it('raises a global quota', async () => {
    await open({ 'chance.quotaGranted': 1 });
    passed(
      await call(
        `POST ${root}/quotaPreferences`,
        wish(100, { quotaId: 'CPUS-ALL-REGIONS-per-project', dimensions: {} }),
      ),
    );
    expect(await cloud.projectLimits()).to.include({ CPUS_ALL_REGIONS: 100 });
    const { body } = await call(`GET ${root}/quotaPreferences`);
    expect(body['quotaPreferences']).to.have.lengthOf(1);
  });

  it('lowers nothing by more than a tenth, unless it is told to', async () => {
    await open({});
    expect((await ask(12)).status).to.equal(400);
    const ignoring = '&ignoreSafetyChecks=QUOTA_DECREASE_PERCENTAGE_TOO_HIGH';
    passed(await call(`POST ${root}/quotaPreferences?quotaPreferenceId=more-cpus${ignoring}`, wish(12)));
    expect(await cloud.regionLimits()).to.include({ CPUS: 12 });
  });

  it('refuses what it cannot read, what stands already, and who may not ask', async () => {
    await open({});
    for (const more of [
      { quotaId: 'CPUS' },
      { service: 'x.googleapis.com' },
      { dimensions: { region: 'nowhere-1' } },
      { dimensions: { zone: 'europe-west4-a' } },
      { contactEmail: '' },
    ]) {
      refused(await ask(64, more), 400, 'INVALID_ARGUMENT', 'Request contains an invalid argument.');
    }
    passed(await ask(64));
    refused(await ask(64), 409, 'ALREADY_EXISTS', 'Requested entity already exists');
    expect((await call(`PATCH ${root}/quotaPreferences/more-cpus`, wish(80, { etag: 'stale' }))).status).to.equal(409);
    expect((await call(`GET ${root}/quotaPreferences/other`)).status).to.equal(404);
    expect((await call(`GET ${root}/quotaPreferences`, undefined, stranger)).status).to.equal(403);
    expect((await call(`GET ${root}/services/dns.googleapis.com/quotaInfos/any`)).status).to.equal(501);
    expect((await call(`GET ${root}/quotaPreferences?filter=reconciling=true`)).status).to.equal(501);
  });
});
