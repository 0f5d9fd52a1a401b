/** Google's regions and zones, as far as they matter here: which exist, which zones a region has, and the default subnet of each. */

const letters: Readonly<Record<string, string>> = {
  'africa-south1': 'abc',
  'asia-east1': 'abc',
  'asia-east2': 'abc',
  'asia-northeast1': 'abc',
  'asia-northeast2': 'abc',
  'asia-northeast3': 'abc',
  'asia-south1': 'abc',
  'asia-south2': 'abc',
  'asia-southeast1': 'abc',
  'asia-southeast2': 'abc',
  'australia-southeast1': 'abc',
  'australia-southeast2': 'abc',
  'europe-central2': 'abc',
  'europe-north1': 'abc',
  'europe-north2': 'abc',
  'europe-southwest1': 'abc',
  'europe-west1': 'bcd',
  'europe-west10': 'abc',
  'europe-west12': 'abc',
  'europe-west2': 'abc',
  'europe-west3': 'abc',
  'europe-west4': 'abc',
  'europe-west6': 'abc',
  'europe-west8': 'abc',
  'europe-west9': 'abc',
  'me-central1': 'abc',
  'me-central2': 'abc',
  'me-west1': 'abc',
  'northamerica-northeast1': 'abc',
  'northamerica-northeast2': 'abc',
  'northamerica-south1': 'abc',
  'southamerica-east1': 'abc',
  'southamerica-west1': 'abc',
  'us-central1': 'abcf',
  'us-east1': 'bcd',
  'us-east4': 'abc',
  'us-east5': 'abc',
  'us-south1': 'abc',
  'us-west1': 'abc',
  'us-west2': 'abc',
  'us-west3': 'abc',
  'us-west4': 'abc',
};

export const regions: readonly string[] = Object.keys(letters);

export const zonesOf = (region: string): string[] =>
  [...(letters[region] ?? '')].map((letter) => `${region}-${letter}`);

export const zones: readonly string[] = regions.flatMap(zonesOf);

export const regionOf = (zone: string): string => zone.slice(0, zone.lastIndexOf('-'));

/** The range that an auto-mode network gives to a region: 10.128.0.0/20 and onwards. */
export function autoRange(region: string): string {
  const index = regions.indexOf(region);
  return `10.${128 + Math.floor(index / 8) * 2}.${(index % 8) * 32}.0/20`;
}
