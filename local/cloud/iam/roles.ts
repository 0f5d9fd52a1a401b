/** What roles hold: Google's predefined ones, and those that were made in projects and organizations. */
import type { World } from '../kernel/api.js';
import { customRoles, isInForce } from './custom-roles.js';
import { permissionsOfPredefined } from './predefined-roles.js';

/** A role whose permissions are unknown holds nothing. */
export function roleHolds(role: string, permission: string, world: World): boolean {
  if (role.startsWith('roles/')) return permissionsOfPredefined(role)?.has(permission) === true;
  const custom = customRoles(world)[role];
  return custom !== undefined && isInForce(custom) && custom.permissions.includes(permission);
}
