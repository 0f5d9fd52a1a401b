/** What a bootstrap costs, with amounts worked out by hand. */
import { expect } from 'chai';
import { readConfig } from '../../functions/config.js';
import { costOf, costOfPlan } from '../../functions/cost/of-bootstrap.js';
import type { PriceTable } from '../../functions/cost/prices.js';
import type { BootstrapOptions, GivenOptions } from '../../shared/bootstrap/options.js';
import { Problem } from '../../shared/problems.js';
import { acceptOptions } from '../support/accept-options.js';

/*
 * By the hour, a disk of 73 cents a GB and month costs a tenth of a cent a GB:
 *   e2-medium       1 core,  4 GB: standard 0.020 + 0.012 = 0.032, spot 0.008 + 0.004 = 0.012, saved 0.020
 *   e2-standard-2   2 cores, 8 GB: standard 0.040 + 0.024 = 0.064, spot 0.016 + 0.008 = 0.024, saved 0.040
 *   e2-standard-8   8 cores, 32 GB: standard 0.160 + 0.096 = 0.256, spot 0.064 + 0.032 = 0.096, saved 0.160
 *   50 GB of disk: 0.05
 */
const prices: PriceTable = {
  asOf: '2026-01-31',
  source: 'made for this test',
  currency: 'EUR',
  regions: {
    'europe-west4': {
      e2VcpuHour: 0.02,
      e2MemoryGbHour: 0.003,
      spotE2VcpuHour: 0.008,
      spotE2MemoryGbHour: 0.001,
      pdSsdGbMonth: 0.73,
      staticAddressHour: 0.01,
      externalAddressHour: 0.005,
      natVmHour: 0.002,
    },
  },
};

const optionsOf = (changes: GivenOptions = {}): BootstrapOptions =>
  acceptOptions({
    projectName: 'demo',
    billingAccount: '012345-6789AB-CDEF01',
    baseDomain: 'demo.example.com',
    forge1AppClientId: 'client',
    forge1AppClientSecret: 'app-secret',
    ...changes,
  }).options;

const day = (time: string) => `2026-02-01T${time}:00.000Z`;
const vm = (name: string, machineType: string, provisioning: string, createdAt?: string) => ({
  [`vm:${name}`]: {
    state: 'done' as const,
    attempt: 0,
    output: {
      name,
      zone: 'europe-west4-a',
      machineType,
      internalIp: '10.10.0.2',
      provisioning,
      ...(createdAt === undefined ? {} : { createdAt }),
    },
  },
});
const gateway = {
  'address:gateway': {
    state: 'done' as const,
    attempt: 0,
    output: { name: 'gateway', address: '203.0.113.8', createdAt: day('10:00') },
  },
};

const factsOf = (changes: Parameters<typeof optionsOf>[0]) =>
  ({ options: optionsOf(changes), machineAccess: 'direct' }) as const;

type Asked = Parameters<typeof costOf>[1];
const record = (changes: Partial<Asked> = {}): Asked => ({
  options: { ...optionsOf({ spotVms: true }) },
  state: 'succeeded',
  createdAt: day('09:50'),
  deadlineAt: day('14:00'),
  instances: {
    ...vm('jumpbox', 'e2-medium', 'spot', day('10:00')),
    ...vm('k0s-1', 'e2-standard-8', 'fallback', day('10:30')),
    ...gateway,
  },
  ...changes,
});
const at = (time: string) => new Date(day(time));
const dated = { currency: 'EUR', pricesAsOf: '2026-01-31', unknown: [] };

describe('what a bootstrap costs', () => {
  it('is counted from when each thing was made, what is spot as spot and what is a fallback as standard', () => {
    // jumpbox, spot: 0.012 + disk 0.05 + address 0.005 = 0.067 an hour, and 0.020 saved
    // k0s-1, for want of spot capacity a standard one: 0.256 + disk 0.05 + NAT 0.002 = 0.308 · gateway: 0.01
    expect(costOf(prices, record(), at('12:00'))).to.deep.equal({
      ...dated,
      perHour: 0.385,
      // 0.067 × 2 + 0.308 × 1.5 + 0.01 × 2
      soFar: 0.616,
      // 0.067 × 4 + 0.308 × 3.5 + 0.01 × 4
      untilExpiry: 1.386,
      savedBySpot: 0.04,
      savedBySpotUntilExpiry: 0.08,
    });
  });

  it('counts the disks alone of a VM that found no room and left them', () => {
    const unfinished = { machineType: 'e2-standard-8', provisioning: 'spot', createdAt: day('10:30'), diskGb: 100 };
    const instances = { 'vm:k0s-1': { state: 'cancelled' as const, attempt: 0, unfinished } };
    // 100 GB at 0.05 an hour for 50 GB
    expect(costOf(prices, record({ state: 'cancelled', instances }), at('12:30'))).to.deep.include({
      perHour: 0.1,
      soFar: 0.2,
      savedBySpot: 0,
    });
  });

  it('goes on to the end of a protection, and beyond a time that is over', () => {
    const protection = { until: day('15:00'), reason: 'a look', by: 'alice@example.com' };
    // One hour more: 1.386 + 0.385
    expect(costOf(prices, record({ protection }), at('12:00')).untilExpiry).to.equal(1.771);
    // An hour after its time: 0.067 × 5 + 0.308 × 4.5 + 0.01 × 5
    const late = costOf(prices, record(), at('15:00'));
    expect([late.soFar, late.untilExpiry]).to.deep.equal([1.771, 1.771]);
  });

  it('ends with the project', () => {
    const gone = record({
      state: 'removing',
      instances: { ...record().instances, project: { state: 'gone', attempt: 0, endedAt: day('12:00') } },
    });
    expect(costOf(prices, gone, at('20:00'))).to.deep.equal({
      ...dated,
      perHour: 0,
      soFar: 0.616,
      untilExpiry: 0.616,
      savedBySpot: 0.04,
      savedBySpotUntilExpiry: 0.04,
    });
    const removed = record({ state: 'removed', endedAt: day('12:00') });
    expect(costOf(prices, removed, at('20:00')).soFar).to.equal(0.616);
  });

  it('counts what an earlier release made from when the bootstrap began', () => {
    const old = record({ instances: vm('k0s-1', 'e2-standard-8', 'standard') });
    // 0.308 × 2 h 10 min
    expect(costOf(prices, old, at('12:00')).soFar).to.equal(0.6673);
  });

  it('expects all of it, from now on, while it is under way', () => {
    const begun = costOf(prices, record({ state: 'running', instances: {} }), at('12:00'));
    expect([begun.soFar, begun.savedBySpot]).to.deep.equal([0, 0]);
    expect(begun.perHour).to.equal(costOfPlan(prices, factsOf({ spotVms: true }), at('12:00')).perHour);
    const failed = costOf(prices, record({ state: 'failed', instances: {} }), at('12:00'));
    expect(failed).to.include({ perHour: 0, soFar: 0, untilExpiry: 0 });
  });

  it('is known before it begins, for its time to live', () => {
    // jumpbox 0.067, postgres 0.024 + 0.05, three of ceph with 160 GB 0.096 + 0.16, three of k0s 0.096 + 0.05, three addresses,
    // NAT for the seven without an address
    // 0.067 + 0.074 + 0.768 + 0.438 + 0.03 + 0.014 = 1.391 an hour; saved 0.02 + 0.04 + 6 × 0.16 = 1.02 an hour
    expect(costOfPlan(prices, factsOf({ spotVms: true, projectTtl: '2h' }), at('12:00'))).to.deep.equal({
      ...dated,
      perHour: 1.391,
      soFar: 0,
      untilExpiry: 2.782,
      savedBySpot: 0,
      savedBySpotUntilExpiry: 2.04,
    });
    // Addresses of the subnet cost nothing.
    const inside = costOfPlan(prices, factsOf({ spotVms: true, projectTtl: '2h' }), at('12:00'), undefined, 'internal');
    expect(inside.perHour).to.equal(1.361);
    const standard = costOfPlan(prices, factsOf({ projectTtl: '2h' }), at('12:00'));
    expect(standard).to.include({ untilExpiry: 4.822, savedBySpotUntilExpiry: 0 });
    const preemptible = costOfPlan(prices, factsOf({ preemptible: true, projectTtl: '2h' }), at('12:00'));
    expect(preemptible).to.include({ untilExpiry: 2.782, savedBySpotUntilExpiry: 2.04 });
  });

  it('has no public address by way of IAP, where the jumpbox pays for Cloud NAT, too', () => {
    const iap = { ...factsOf({ spotVms: true, projectTtl: '2h' }), machineAccess: 'iap' } as const;
    // 1.391 without the address of 0.005, and with NAT for 0.002
    expect(costOfPlan(prices, iap, at('12:00')).perHour).to.equal(1.388);
    expect(costOf(prices, record({ machineAccess: 'iap' }), at('12:00')).perHour).to.equal(0.382);
  });

  it('is never a 0 where there is no price', () => {
    const unknown = { currency: 'EUR', pricesAsOf: '2026-01-31' };
    expect(costOfPlan(prices, factsOf({ region: 'asia-east1' }), at('12:00'))).to.deep.equal({
      ...unknown,
      unknown: ['region asia-east1'],
    });
    const other = record({ instances: { ...record().instances, ...vm('k0s-2', 'n2-standard-8', 'standard') } });
    expect(costOf(prices, other, at('12:00'))).to.deep.equal({ ...unknown, unknown: ['machine type n2-standard-8'] });
    expect(costOf(prices, record({ orphan: true }), at('12:00'))).to.deep.equal({
      ...unknown,
      unknown: ['what it was made of'],
    });
  });
});

describe('the setting of prices', () => {
  const read = (PLINTH_PRICES?: string) =>
    readConfig({
      PLINTH_PROJECT: 'plinth-test',
      PLINTH_DEPLOYMENT: 'test',
      PLINTH_MACHINE_ACCESS: 'direct',
      PLINTH_SSH_SOURCE_RANGES: '127.0.0.0/8',
      ...(PLINTH_PRICES === undefined ? {} : { PLINTH_PRICES }),
    }).prices;

  it('has a dated default', () => {
    const table = read();
    expect(table.currency).to.equal('USD');
    expect(table.asOf).to.include({ machines: '2026-06-03', disks: '2025-03-06' });
    expect(Object.keys(table.regions)).to.have.length(42);
    // Eight of e2-standard-8, as the price list has it: 8 × 0.0240138 + 32 × 0.00321812 = 0.29509024 an hour.
    const { e2VcpuHour = 0, e2MemoryGbHour = 0 } = table.regions['europe-west4'] ?? {};
    expect(8 * e2VcpuHour + 32 * e2MemoryGbHour).to.be.closeTo(0.29509024, 1e-9);
  });

  it('replaces the default as a whole', () => {
    expect(read(JSON.stringify(prices))).to.deep.equal(prices);
  });

  it('tells all its faults at once, each with its place', () => {
    const faulty = {
      ...prices,
      asOf: 'yesterday',
      regions: { 'europe-west4': { ...prices.regions['europe-west4'], e2VcpuHour: -1, pdSsdGbMonth: 'much' } },
    };
    for (const [text, ...messages] of [
      ['{', 'must be JSON'],
      [
        JSON.stringify(faulty),
        'asOf must be a day such as 2026-01-31',
        'regions.europe-west4.e2VcpuHour must be above 0',
        'regions.europe-west4.pdSsdGbMonth must be a number',
      ],
    ] as const) {
      const refusal = (() => {
        try {
          return read(text);
        } catch (error) {
          return error;
        }
      })();
      expect(refusal).to.be.instanceOf(Problem);
      for (const message of ['PLINTH_PRICES', ...messages]) expect((refusal as Problem).detail).to.contain(message);
    }
  });
});
