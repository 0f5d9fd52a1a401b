/**
 * The default prices for estimates, used unless the setting PLINTH_PRICES gives others. List prices in USD, without taxes,
 * discounts and credits.
 *
 * - Cores and memory, standard and spot: Cloud Billing Catalog of 2025-03-06 (SKUs "E2 Instance Core/Ram" and "Spot
 * Preemptible E2 Instance Core/Ram"). Spot prices change up to once a month.
 * - Disks: https://cloud.google.com/compute/disks-image-pricing
 * - Addresses: https://cloud.google.com/vpc/network-pricing#ipaddress (reserved and not in use, and in use by a standard VM).
 */

const addresses = { staticAddressHour: 0.01, externalAddressHour: 0.005 };

export const defaultPrices = {
  asOf: '2025-03-06',
  source: 'Cloud Billing Catalog and price pages of Google Cloud, list prices',
  currency: 'USD',
  regions: {
    'europe-west1': {
      e2VcpuHour: 0.02399337,
      e2MemoryGbHour: 0.00321609,
      spotE2VcpuHour: 0.00909,
      spotE2MemoryGbHour: 0.001217,
      pdSsdGbMonth: 0.17,
      ...addresses,
    },
    'europe-west3': {
      e2VcpuHour: 0.0281037,
      e2MemoryGbHour: 0.00376602,
      spotE2VcpuHour: 0.00948,
      spotE2MemoryGbHour: 0.001269,
      pdSsdGbMonth: 0.204,
      ...addresses,
    },
    'europe-west4': {
      e2VcpuHour: 0.02401338,
      e2MemoryGbHour: 0.00321816,
      spotE2VcpuHour: 0.0096,
      spotE2MemoryGbHour: 0.001284,
      pdSsdGbMonth: 0.187,
      ...addresses,
    },
    'us-central1': {
      e2VcpuHour: 0.02181159,
      e2MemoryGbHour: 0.00292353,
      spotE2VcpuHour: 0.008724,
      spotE2MemoryGbHour: 0.001168,
      pdSsdGbMonth: 0.17,
      ...addresses,
    },
  },
} as const;
