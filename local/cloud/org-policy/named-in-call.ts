/** What a call that makes something names: the resource itself, its location, the projects of its images. */
import type { CloudCall } from '../kernel/api.js';
import { objectOf, objectsOf, textOf } from '../kernel/json-fields.js';

const lastOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** The resource that an insert or create makes. */
export function resourceOf({ method, body, params, resource }: CloudCall): string {
  if (method.startsWith('storage.')) return `projects/_/buckets/${textOf(body['name']) ?? params['bucket'] ?? ''}`;
  const name = textOf(body['name']) ?? params['repositoryId'] ?? params['secretId'] ?? '';
  return name === '' ? resource : `${resource}/${lastOf(name)}`;
}

interface Location {
  readonly name: string;
  /** `ZONE:europe-west4-a` */
  readonly shown: string;
}

/** Where the resource would be. Undefined for a call that has no place. */
function locationOf({ method, body, params, resource }: CloudCall): Location | undefined {
  if (params['zone'] !== undefined) return { name: params['zone'], shown: `ZONE:${params['zone']}` };
  if (params['region'] !== undefined) return { name: params['region'], shown: `REGION:${params['region']}` };
  const location = /\/locations\/([^/]+)/.exec(resource)?.[1];
  if (location !== undefined) return { name: location, shown: location };
  if (method.startsWith('storage.')) {
    const name = (textOf(body['location']) ?? 'US').toLowerCase();
    return { name, shown: name };
  }
  const isReplicated = objectOf(objectOf(body['replication'])?.['automatic']) !== undefined;
  return isReplicated ? { name: 'global', shown: 'global' } : undefined;
}

/** All places that a call names: a secret may be kept in several regions. */
export function locationsOf(call: CloudCall): readonly Location[] {
  const { replicas } = objectOf(objectOf(call.body['replication'])?.['userManaged']) ?? {};
  const kept = objectsOf(replicas).flatMap(({ location }) => textOf(location) ?? []);
  const one = locationOf(call);
  return [...(one === undefined ? [] : [one]), ...kept.map((name) => ({ name, shown: name }))];
}

/** Groups that hold more than the regions of one continent's name. */
const groups: Readonly<Record<string, RegExp>> = {
  'eu-locations': /^(eu$|europe-(?!west2|west6))/,
  'europe-locations': /^(eu$|europe-)/,
  'us-locations': /^us($|-)/,
  'northamerica-locations': /^(us($|-)|northamerica-)/,
  'southamerica-locations': /^southamerica-/,
  'asia-locations': /^asia($|-)/,
  'australia-locations': /^australia-/,
};

const regionOf = (place: string): string => place.replace(/-[a-z]$/, '');

/** A place fits itself, its region, and the groups that hold it. */
export const locationFits =
  (place: string) =>
  (pattern: string): boolean => {
    const value = pattern.replace(/^(is|in):/, '');
    const group = groups[value];
    return (
      value === place ||
      value === regionOf(place) ||
      value === `${regionOf(place)}-locations` ||
      group?.test(place) === true
    );
  };

/** The projects of the images that new disks are made from. */
export function imageProjectsIn({ body, params }: CloudCall): string[] {
  const images = [
    params['sourceImage'],
    textOf(body['sourceImage']),
    ...objectsOf(body['disks']).map((disk) => textOf(objectOf(disk['initializeParams'])?.['sourceImage'])),
  ];
  return images.flatMap((image) => {
    const project = /(?:^|\/)projects\/([^/]+)\/global\/images\//.exec(image ?? '')?.[1];
    return project === undefined || project === params['project'] ? [] : [project];
  });
}
