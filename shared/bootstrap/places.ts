/** Region and zone follow from each other when only one of them is given. Pure; called by the rules. */

/** Regions whose first zone is not `a`. */
const firstZones: Readonly<Record<string, string>> = { 'europe-west1': 'b', 'us-east1': 'b' };

export const firstZoneOf = (region: string): string => `${region}-${firstZones[region] ?? 'a'}`;

/** `europe-west4-a` → `europe-west4`. */
export const regionOf = (zone: string): string => zone.replace(/-[^-]*$/, '');
