/** testIamPermissions, the same in every API: which of the asked permissions the caller has. The kernel says who may what. */
import type { CloudCall, JsonObject, World } from './api.js';

export function testPermissions(call: CloudCall, world: World, resource: string): JsonObject {
  void call;
  void world;
  void resource;
  return {};
}
