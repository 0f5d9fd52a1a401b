/** The part of Google's regions and zones that is needed here: the regions, the zones of each, and its default subnet. */
import { zoneLetters } from '../../../shared/bootstrap/places.js';

export const regions: readonly string[] = Object.keys(zoneLetters);

export const zonesOf = (region: string): string[] =>
  [...(zoneLetters[region] ?? '')].map((letter) => `${region}-${letter}`);

export const zones: readonly string[] = regions.flatMap(zonesOf);

export const regionOf = (zone: string): string => zone.slice(0, zone.lastIndexOf('-'));

/**
 * The second byte of each region's range in an auto-mode network, 10.<byte>.0.0/20. Google gives new regions the next free one:
 * https://cloud.google.com/vpc/docs/subnets#ip-ranges
 */
const autoRanges: Readonly<Record<string, number>> = {
  'africa-south1': 218,
  'asia-east1': 140,
  'asia-east2': 170,
  'asia-northeast1': 146,
  'asia-northeast2': 174,
  'asia-northeast3': 178,
  'asia-south1': 160,
  'asia-south2': 190,
  'asia-southeast1': 148,
  'asia-southeast2': 184,
  'australia-southeast1': 152,
  'australia-southeast2': 192,
  'europe-central2': 186,
  'europe-north1': 166,
  'europe-north2': 226,
  'europe-southwest1': 204,
  'europe-west1': 132,
  'europe-west10': 214,
  'europe-west12': 210,
  'europe-west2': 154,
  'europe-west3': 156,
  'europe-west4': 164,
  'europe-west6': 172,
  'europe-west8': 198,
  'europe-west9': 200,
  'me-central1': 212,
  'me-central2': 216,
  'me-west1': 208,
  'northamerica-northeast1': 162,
  'northamerica-northeast2': 188,
  'northamerica-south1': 224,
  'southamerica-east1': 158,
  'southamerica-west1': 194,
  'us-central1': 128,
  'us-east1': 142,
  'us-east4': 150,
  'us-east5': 202,
  'us-south1': 206,
  'us-west1': 138,
  'us-west2': 168,
  'us-west3': 180,
  'us-west4': 182,
};

/** Of a region that is not in the table: 10.230.0.0/20, which no known region has. */
export const autoRange = (region: string): string => `10.${autoRanges[region] ?? 230}.0.0/20`;
