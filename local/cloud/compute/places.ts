/** The part of Google's regions and zones that is needed here: the regions, the zones of each, and its default subnet. */
import { zoneLetters } from '../../../shared/bootstrap/places.js';

export const regions: readonly string[] = Object.keys(zoneLetters);

export const zonesOf = (region: string): string[] =>
  [...(zoneLetters[region] ?? '')].map((letter) => `${region}-${letter}`);

export const zones: readonly string[] = regions.flatMap(zonesOf);

export const regionOf = (zone: string): string => zone.slice(0, zone.lastIndexOf('-'));

/** The range of a region in an auto-mode network: 10.128.0.0/20 and onwards. */
export function autoRange(region: string): string {
  const index = regions.indexOf(region);
  return `10.${128 + Math.floor(index / 8) * 2}.${(index % 8) * 32}.0/20`;
}
