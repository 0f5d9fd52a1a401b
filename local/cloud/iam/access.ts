/** Decides which permission a call needs and on which resource, and checks that its caller has it. */
import type { Access, ApiDefinition, CloudCall, World } from '../kernel/api.js';
import { permissionDenied } from '../kernel/errors.js';
import { permissionOf } from '../kernel/permission-names.js';
import { withProjectId } from '../kernel/projects.js';
import { permissionIsKnown } from './predefined-roles.js';

/** The default is the permission of the method's own name on the resource in the path. testIamPermissions needs none. */
export function accessOf(definition: ApiDefinition, call: CloudCall, world: World): readonly Access[] {
  const own = definition.access?.[call.method];
  if (own !== undefined) return own(call, world);
  if (call.resource === '' || call.method.endsWith('.testIamPermissions')) return [];
  return [{ permission: permissionOf(call.method), resource: call.resource }];
}

/**
 * Throws the API's own 403 for the first permission that the caller lacks. A permission that Google lacks is a fault here. What
 * is not simulated asks for none, because nobody knows its permissions.
 */
export function checkAccess(definition: ApiDefinition, call: CloudCall, world: World): void {
  if (definition.handlers[call.method] === undefined) return;
  for (const { permission, resource } of accessOf(definition, call, world)) {
    const name = withProjectId(world, resource);
    if (permissionIsKnown(permission) === 'missing') throw new Error(`Google has no permission ${permission}`);
    if (!world.policies.allows(call.caller, permission, name)) {
      throw (definition.denied ?? permissionDenied)({ permission, resource });
    }
  }
}
