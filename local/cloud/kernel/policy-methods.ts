/** getIamPolicy, setIamPolicy and testIamPermissions, the same for the resources of most APIs. */
import type { CloudCall, JsonObject, World } from './api.js';
import { badRequest } from './errors.js';
import { numberOf, objectOf, textOf, textsOf } from './json-fields.js';

export const readPolicy = (call: CloudCall, world: World, resource: string): JsonObject =>
  world.policies.get(
    resource,
    numberOf(
      objectOf(call.body['options'])?.['requestedPolicyVersion'] ?? call.params['options.requestedPolicyVersion'],
    ) ?? 1,
  );

export function writePolicy(call: CloudCall, world: World, resource: string): JsonObject {
  const policy = objectOf(call.body['policy']);
  if (policy === undefined)
    throw badRequest('Request contains an invalid argument.', 'policy', 'Required field is missing.');
  const version = numberOf(policy['version']) ?? 0;
  if (![0, 1, 3].includes(version)) {
    throw badRequest(`Invalid policy version ${version}.`, 'policy.version', 'Valid values are 0, 1, and 3.');
  }
  return world.policies.set(resource, policy, fieldsIn(call));
}

/** The fields that a call of setIamPolicy names. Undefined where it has no mask. */
function fieldsIn({ body }: CloudCall): readonly string[] | undefined {
  const mask = textOf(body['updateMask']) ?? '';
  if (mask === '') return undefined;
  const fields = mask.split(',').map((path) => (path.trim() === 'audit_configs' ? 'auditConfigs' : path.trim()));
  const strange = fields.find((path) => !['version', 'bindings', 'etag', 'auditConfigs'].includes(path));
  if (strange !== undefined) {
    throw badRequest('Request contains an invalid argument.', 'update_mask', `A policy has no field ${strange}.`);
  }
  return fields;
}

/** Returns those of the given permissions that the caller has. */
export function testPermissions(call: CloudCall, world: World, resource: string): JsonObject {
  const held = textsOf(call.body['permissions']).filter((permission) =>
    world.policies.allows(call.caller, permission, resource),
  );
  return held.length === 0 ? {} : { permissions: held };
}
