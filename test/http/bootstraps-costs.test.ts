/** What the estimate over HTTP says where prices are many, missing or old. */
import { expect } from 'chai';
import type { CostEstimate } from '../../shared/bootstrap/cost.js';
import type { GivenOptions } from '../../shared/bootstrap/options.js';
import type { PlanReply } from '../../shared/bootstrap/routes.js';
import { createBootstrapsServer, makeRequest } from './bootstraps-server.js';
import { createIssuer, type Issuer } from './issuer.js';

const day = (yearsAgo: number): string => {
  const date = new Date();
  date.setUTCFullYear(date.getUTCFullYear() - yearsAgo);
  return date.toISOString().slice(0, 10);
};
const asOf = { machines: day(0), spot: day(0), disks: day(0), addresses: day(0), nat: day(0) };
const all = {
  e2VcpuHour: 0.02,
  e2MemoryGbHour: 0.003,
  spotE2VcpuHour: 0.008,
  spotE2MemoryGbHour: 0.001,
  pdSsdGbMonth: 0.73,
  staticAddressHour: 0.01,
  externalAddressHour: 0.005,
  natVmHour: 0.001,
};

describe('the estimate of a plan', () => {
  let issuer: Issuer;
  before(async () => {
    issuer = await createIssuer();
  });
  after(() => issuer.close());

  /** Of a bootstrap in europe-west4, unless the options say otherwise. */
  async function planned(prices?: object, options: GivenOptions = {}): Promise<CostEstimate> {
    const env = prices === undefined ? {} : { PLINTH_PRICES: JSON.stringify(prices) };
    const server = await createBootstrapsServer(issuer, { env });
    try {
      const body = makeRequest('first one', options);
      return (await server.json<PlanReply>(200, 'POST', '/bootstraps?dryRun=true', { body })).cost;
    } finally {
      server.close();
    }
  }
  const table = (more: { readonly asOf?: unknown; readonly europe?: object } = {}) => ({
    asOf: more.asOf ?? asOf,
    source: 'made for this test',
    currency: 'EUR',
    regions: { 'europe-west4': more.europe ?? all },
  });

  for (const region of ['africa-south1', 'asia-east1', 'europe-west2', 'me-west1', 'southamerica-east1', 'us-east1']) {
    it(`is known in ${region}, standard and spot`, async () => {
      const [standard, spot] = await Promise.all([
        planned(undefined, { region, zone: `${region}-b` }),
        planned(undefined, { region, zone: `${region}-b`, spotVms: true }),
      ]);
      expect(standard.unknown).to.deep.equal([]);
      expect(spot.perHour)
        .to.be.greaterThan(0)
        .and.below(standard.perHour ?? 0);
    });
  }

  it('names the price that is missing, and tells no amount', async () => {
    const cost = await planned(undefined, { region: 'europe-north2', zone: 'europe-north2-b' });
    expect(cost).to.include({ currency: 'USD' }).and.not.have.property('perHour');
    expect(cost.unknown).to.deep.equal(['reserved addresses in europe-north2']);
    const { spotE2VcpuHour: _, pdSsdGbMonth: __, ...some } = all;
    const lacking = await planned(table({ europe: some }), { spotVms: true });
    expect(lacking.unknown).to.deep.equal(['spot machines in europe-west4', 'disks in europe-west4']);
  });

  it('needs no price of spot VMs for a standard VM', async () => {
    const { spotE2VcpuHour: _, spotE2MemoryGbHour: __, ...some } = all;
    expect((await planned(table({ europe: some }))).perHour).to.equal((await planned(table())).perHour);
  });

  it('counts Cloud NAT for the seven VMs without an address', async () => {
    const { natVmHour: _, ...some } = all;
    const [withNat, without] = [await planned(table()), await planned(table({ europe: some }))];
    expect((withNat.perHour ?? 0) - (without.perHour ?? 0)).to.be.closeTo(0.007, 1e-6);
    expect(withNat).not.to.have.property('notes');
    expect(without.notes).to.deep.equal(['without Cloud NAT, which has no price here']);
  });

  it('tells of prices more than two years old by their kind', async () => {
    const cost = await planned(table({ asOf: { ...asOf, disks: day(3) } }));
    expect(cost.pricesAsOf).to.equal(day(3));
    expect(cost.notes).to.deep.equal([`the prices of disks are of ${day(3)}, more than two years old`]);
    expect((await planned(table({ asOf: day(3) }))).notes).to.deep.equal([
      `the prices are of ${day(3)}, more than two years old`,
    ]);
  });
});
