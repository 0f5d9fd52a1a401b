/**
 * Google's predefined roles, from `google-roles.json`. The file is read on first use. `tools/roles/distil.ts` writes it, and
 * tells where the facts come from.
 */
import { readFileSync } from 'node:fs';
import * as z from 'zod';

const Data = z.object({
  /** The services whose permissions are known. */
  services: z.array(z.string()),
  /** The last parts by the first: `compute.disks` → `create delete`. */
  permissions: z.record(z.string(), z.string()),
  /** Title, and the numbers of permissions: `0-4 9`. */
  roles: z.record(z.string(), z.tuple([z.string(), z.string()])),
  /** Roles whose permissions are not known. They can be bound, and hold nothing. */
  knownByName: z.array(z.string()),
});

interface Known {
  readonly permissions: readonly string[];
  readonly permissionSet: ReadonlySet<string>;
  readonly services: ReadonlySet<string>;
  readonly roles: Readonly<Record<string, [string, string]>>;
  readonly knownByName: ReadonlySet<string>;
}

/** `missing` is what Google does not have. */
type Knowledge = 'known' | 'unknown' | 'missing';

/** The build compiles only sources. The file stays in the checkout. */
const file = new URL('../../../../local/cloud/iam/google-roles.json', import.meta.url);

let loaded: Known | undefined;

function known(): Known {
  if (loaded !== undefined) return loaded;
  const data = Data.parse(JSON.parse(readFileSync(file, 'utf8')));
  const permissions = joined(data.permissions);
  loaded = {
    permissions,
    permissionSet: new Set(permissions),
    services: new Set(data.services),
    roles: data.roles,
    knownByName: new Set(data.knownByName),
  };
  return loaded;
}

const joined = (groups: Readonly<Record<string, string>>): string[] =>
  Object.entries(groups).flatMap(([stem, lasts]) => lasts.split(' ').map((last) => `${stem}.${last}`));

/** Whether Google has the role. `unknown` for services that the data leaves out. */
export function roleIsKnown(role: string): Knowledge {
  const { roles, services, knownByName } = known();
  if (Object.hasOwn(roles, role) || knownByName.has(role)) return 'known';
  const service = /^roles\/([a-z]+)\./.exec(role)?.[1];
  return service === undefined || services.has(service) ? 'missing' : 'unknown';
}

/** The roles whose permissions are known. */
export const predefinedRoles = (): string[] => Object.keys(known().roles);

/** Undefined where the permissions are not known. */
export const titleOfPredefined = (role: string): string | undefined => own(known().roles, role)?.[0];

const sets = new Map<string, ReadonlySet<string>>();

/** Undefined where the role's permissions are not known, or no such role exists. */
export function permissionsOfPredefined(role: string): ReadonlySet<string> | undefined {
  const made = sets.get(role);
  if (made !== undefined) return made;
  const numbers = own(known().roles, role)?.[1];
  if (numbers === undefined) return undefined;
  const set = new Set(numbers === '' ? [] : numbers.split(' ').flatMap(permissionsIn));
  sets.set(role, set);
  return set;
}

function permissionsIn(range: string): readonly string[] {
  const [first = 0, last = first] = range.split('-').map(Number);
  return known().permissions.slice(first, last + 1);
}

const own = <T>(table: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;

/** Every permission of Google's that the data knows. */
export const knownPermissions = (): readonly string[] => known().permissions;

/** The data lacks these in every role, though Google has them. */
const gap = /^datastore\.indexes\./;

/** Whether Google has the permission. `unknown` for services that the data leaves out. */
export function permissionIsKnown(permission: string): Knowledge {
  const { permissionSet, services } = known();
  if (permissionSet.has(permission)) return 'known';
  return services.has(permission.slice(0, permission.indexOf('.'))) && !gap.test(permission) ? 'missing' : 'unknown';
}
