/**
 * The default prices for estimates, used unless the setting PLINTH_PRICES gives others. List prices in USD, without taxes,
 * discounts and credits.
 *
 * - Machines, standard and spot: skypilot-org/skypilot-catalog, catalogs/v9/gcp/vms.csv at commit 2c3d7ea, of 2026-06-03 at the
 *   earliest. Cores and memory are solved from e2-standard-16 and e2-highmem-16, to 0.05 %. Spot prices change up to once a month.
 * - Disks, addresses and Cloud NAT: Cyclenerd/google-cloud-pricing-cost-calculator, pricing.yml at commit 0166a59, of 2025-03-06.
 */

/** Core and GB of memory by the hour, the same of spot VMs, GB of SSD by the month, reserved address by the hour. */
type Row = readonly [string, number, number, number, number, number, number?];

const rows: readonly Row[] = [
  ['africa-south1', 0.0239931, 0.00321609, 0.00709, 0.00095, 0.22236, 0.01308],
  ['asia-east1', 0.0252562, 0.003385, 0.01389, 0.00186203, 0.17, 0.01],
  ['asia-east2', 0.0305194, 0.00409031, 0.00602, 0.000807031, 0.187, 0.01],
  ['asia-northeast1', 0.0280269, 0.00373906, 0.01619, 0.00216, 0.221, 0.015],
  ['asia-northeast2', 0.0280269, 0.00373906, 0.00773, 0.00103203, 0.221, 0.015],
  ['asia-northeast3', 0.0280269, 0.00373906, 0.01055, 0.00140797, 0.221, 0.015],
  ['asia-south1', 0.0261988, 0.00351078, 0.01513, 0.00202703, 0.204, 0.012],
  ['asia-south2', 0.0261988, 0.00351078, 0.0118294, 0.00158609, 0.204, 0.012],
  ['asia-southeast1', 0.0269094, 0.00360594, 0.01479, 0.00198203, 0.187, 0.011],
  ['asia-southeast2', 0.0293312, 0.00393047, 0.00588, 0.000787969, 0.221, 0.011],
  ['australia-southeast1', 0.0309512, 0.0041475, 0.01518, 0.002035, 0.23, 0.014],
  ['australia-southeast2', 0.0263081, 0.003525, 0.01254, 0.00168, 0.23, 0.014],
  ['europe-central2', 0.0263925, 0.00353734, 0.00797, 0.00106797, 0.204, 0.012],
  ['europe-north1', 0.0240162, 0.00321813, 0.00608, 0.000815, 0.187, 0.011],
  ['europe-north2', 0.0229025, 0.00306969, 0.00536, 0.000717969, 0.17],
  ['europe-southwest1', 0.0257381, 0.00345, 0.0141494, 0.00189609, 0.2006, 0.012],
  ['europe-west1', 0.0239931, 0.00321609, 0.0110706, 0.00148391, 0.17, 0.01],
  ['europe-west10', 0.028105, 0.00376609, 0.00476, 0.000637031, 0.2618, 0.0154],
  ['europe-west12', 0.0281375, 0.00377125, 0.00644063, 0.000863906, 0.204, 0.012],
  ['europe-west2', 0.0281031, 0.00376609, 0.00849, 0.00113703, 0.204, 0.012],
  ['europe-west3', 0.0281031, 0.00376609, 0.013, 0.00174203, 0.204, 0.012],
  ['europe-west4', 0.0240138, 0.00321812, 0.01093, 0.001465, 0.187, 0.011],
  ['europe-west6', 0.0285719, 0.00382984, 0.01021, 0.00136797, 0.221, 0.01],
  ['europe-west8', 0.0253025, 0.00339094, 0.0120994, 0.00162109, 0.1972, 0.0117],
  ['europe-west9', 0.0253025, 0.00339094, 0.0119, 0.001595, 0.1972, 0.0117],
  ['me-central1', 0.0265012, 0.00355203, 0.0105, 0.00140797, 0.20655, 0.0123],
  ['me-central2', 0.0348988, 0.00467766, 0.0172794, 0.00231609, 0.272, 0.016],
  ['me-west1', 0.0239925, 0.00321594, 0.01129, 0.00151297, 0.187, 0.011],
  ['northamerica-northeast1', 0.0240138, 0.00321812, 0.00679937, 0.000911094, 0.187, 0.011],
  ['northamerica-northeast2', 0.0240138, 0.00321812, 0.00484, 0.000647969, 0.187, 0.011],
  ['northamerica-south1', 0.0237744, 0.00318672, 0.00858937, 0.00115109, 0.1853, 0.0109],
  ['southamerica-east1', 0.0346238, 0.00464031, 0.00602, 0.000807969, 0.255, 0.015],
  ['southamerica-west1', 0.0311906, 0.00418063, 0.01028, 0.00137797, 0.2431, 0.015],
  ['us-central1', 0.0218112, 0.00292359, 0.01259, 0.00168703, 0.17, 0.01],
  ['us-east1', 0.0218112, 0.00292359, 0.01259, 0.00168703, 0.17, 0.01],
  ['us-east4', 0.0245681, 0.00329187, 0.0128306, 0.00171891, 0.187, 0.011],
  ['us-east5', 0.0218112, 0.00292359, 0.00688, 0.000922031, 0.17, 0.01],
  ['us-south1', 0.0257381, 0.00344969, 0.00873, 0.00117, 0.2006, 0.0118],
  ['us-west1', 0.0218112, 0.00292359, 0.01259, 0.00168703, 0.17, 0.01],
  ['us-west2', 0.0261994, 0.00351141, 0.00851, 0.00114, 0.204, 0.012],
  ['us-west3', 0.0261994, 0.00351141, 0.00726, 0.000972969, 0.204, 0.012],
  ['us-west4', 0.0245681, 0.00329187, 0.00311, 0.000417031, 0.187, 0.011],
];

export const defaultPrices = {
  asOf: {
    machines: '2026-06-03',
    spot: '2026-06-03',
    disks: '2025-03-06',
    addresses: '2025-03-06',
    nat: '2025-03-06',
  },
  source: 'price lists of Google Cloud, as public catalogs hold them',
  currency: 'USD',
  regions: Object.fromEntries(
    rows.map(([region, core, memory, spotCore, spotMemory, ssd, address]) => [
      region,
      {
        e2VcpuHour: core,
        e2MemoryGbHour: memory,
        spotE2VcpuHour: spotCore,
        spotE2MemoryGbHour: spotMemory,
        pdSsdGbMonth: ssd,
        ...(address === undefined ? {} : { staticAddressHour: address }),
        externalAddressHour: 0.005,
        natVmHour: 0.0014,
      },
    ]),
  ),
};
