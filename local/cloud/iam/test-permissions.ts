/** testIamPermissions, the same in every API: returns those of the given permissions that the caller has. */
import type { CloudCall, JsonObject, World } from '../kernel/api.js';
import { textsOf } from '../kernel/json-fields.js';

export function testPermissions(call: CloudCall, world: World, resource: string): JsonObject {
  const held = textsOf(call.body['permissions']).filter((permission) =>
    world.policies.allows(call.caller, permission, resource),
  );
  return held.length === 0 ? {} : { permissions: held };
}
