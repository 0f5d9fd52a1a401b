/** Decides which permission a call needs and on which resource, and checks that its caller has it. */
import type { Access, ApiDefinition, CloudCall, World } from '../kernel/api.js';
import { permissionDenied } from '../kernel/errors.js';
import { withProjectId } from '../kernel/projects.js';
import { permissionIsKnown } from './predefined-roles.js';

/** Verbs of methods and of permissions, where they differ. */
const verbs: Readonly<Record<string, string>> = {
  insert: 'create',
  aggregatedList: 'list',
  batchEnable: 'enable',
  batchGet: 'get',
  patch: 'update',
  search: 'list',
  wait: 'get',
  pull: 'consume',
  acknowledge: 'consume',
  modifyAckDeadline: 'consume',
  modifyPushConfig: 'update',
};

/** Permissions whose noun and verb both differ from the method's. */
const renamed: Readonly<Record<string, string>> = {
  'secretmanager.secrets.addVersion': 'secretmanager.versions.add',
};

/**
 * `compute.instances.insert` → `compute.instances.create`. `secretmanager.projects.secrets.get` → `secretmanager.secrets.get`.
 */
export function permissionOf(method: string): string {
  const [service = '', ...rest] = method.split('.');
  const scopes =
    service === 'compute' || service === 'dns' || service === 'cloudresourcemanager' ? [] : ['projects', 'locations'];
  const nouns = rest.slice(0, -1).filter((noun, i) => i === rest.length - 2 || !scopes.includes(noun));
  const noun = nouns.at(-1) ?? '';
  const verb = rest.at(-1) ?? '';
  const family = service === 'cloudresourcemanager' ? 'resourcemanager' : service;
  const plain = `${family}.${noun}.${verb}`;
  return renamed[plain] ?? `${family}.${noun}.${verbs[verb] ?? verb}`;
}

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
