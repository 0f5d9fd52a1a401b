/** Prices by which a test counts what is spent: every VM costs what its cores cost. */
const none = 0.000_000_001;

/** 51 cores of a bootstrap of one datacenter at 2 cents are 1.02 USD an hour, and all else next to nothing. */
export const oneDollarAnHour = {
  asOf: '2026-11-01',
  source: 'made for this test',
  currency: 'USD',
  regions: {
    'europe-west4': {
      e2VcpuHour: 0.02,
      e2MemoryGbHour: none,
      spotE2VcpuHour: 0.01,
      spotE2MemoryGbHour: none,
      pdSsdGbMonth: none,
      staticAddressHour: none,
      externalAddressHour: none,
    },
  },
};
