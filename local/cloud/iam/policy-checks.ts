/** Checks what an IAM policy may bind: roles that the resource supports, members that exist. */
import type { JsonObject, World } from '../kernel/api.js';
import { badRequest, notSimulated } from '../kernel/errors.js';
import { objectOf, textOf, textsOf } from '../kernel/json-fields.js';
import { checkCondition } from './conditions.js';
import { customRoles } from './custom-roles.js';
import { lineage } from './lineage.js';
import { roleIsKnown } from './predefined-roles.js';
import { serviceAccounts } from './service-accounts.js';

/** Roles whose permissions have no meaning on a project. */
const aboveProjects =
  /^roles\/(resourcemanager\.(projectCreator|organization\w+|folder\w+)|billing\.(user|admin|viewer))$/;

/** Collections under a project, and accounts, take the roles of their own service and the general ones. */
const serviceOf: readonly (readonly [RegExp, string])[] = [
  [/^billingAccounts\//, 'billing'],
  [/\/managedZones\/[^/]+$/, 'dns'],
  [/\/repositories\/[^/]+$/, 'artifactregistry'],
  [/\/secrets\/[^/]+$/, 'secretmanager'],
  [/\/(topics|subscriptions|snapshots)\/[^/]+$/, 'pubsub'],
  [/\/serviceAccounts\/[^/]+$/, 'iam'],
];

const general = /^roles\/(owner|editor|viewer|iam\.\w+)$/;

/** Whether the resource supports the role. */
function mayBeBound(role: string, resource: string): boolean {
  if (!role.startsWith('roles/')) return true;
  if (/^projects\/[^/]+$/.test(resource)) return !aboveProjects.test(role);
  const service = serviceOf.find(([form]) => form.test(resource))?.[1];
  return service === undefined || general.test(role) || role.startsWith(`roles/${service}.`);
}

/** A custom role holds in the project or organization where it was made, and beneath that. */
const isWithin = (resource: string, role: string, world: World): boolean =>
  lineage(world, resource).includes(role.split('/').slice(0, 2).join('/'));

const isCustom = (role: string): boolean => /^(projects|organizations)\/[^/]+\/roles\/[^/]+$/.test(role);

const memberForm =
  /^(allUsers|allAuthenticatedUsers|(user|serviceAccount|group|domain|principal|principalSet|deleted|projectOwner|projectEditor|projectViewer):\S+)$/;

/** Returns the binding as it is stored, or throws Google's refusal. */
export function checkBinding(world: World, resource: string, binding: JsonObject): JsonObject {
  const role = textOf(binding['role']) ?? '';
  if (isCustom(role)) {
    if (customRoles(world)[role] === undefined || !isWithin(resource, role, world)) {
      throw badRequest(`Role (${role}) does not exist in the resource's hierarchy.`, 'policy.bindings.role');
    }
  } else {
    const known = roleIsKnown(role);
    if (known === 'missing' || !mayBeBound(role, resource)) {
      throw badRequest(`Role ${role} is not supported for this resource.`, 'policy.bindings.role');
    }
    if (known === 'unknown') throw notSimulated(`the role ${role}`);
  }
  for (const member of textsOf(binding['members'])) checkMember(world, resource, member);
  const condition = objectOf(binding['condition']);
  if (condition !== undefined) checkCondition(condition);
  return {
    role,
    members: textsOf(binding['members']).map((member) => normalised(member)),
    ...(condition === undefined ? {} : { condition }),
  };
}

const normalised = (member: string): string => {
  const at = member.indexOf(':');
  return at === -1 ? member : `${member.slice(0, at)}:${member.slice(at + 1).toLowerCase()}`;
};

function checkMember(world: World, resource: string, member: string): void {
  if (!memberForm.test(member)) {
    throw badRequest(
      `Invalid member "${member}": the member type or its name is not known.`,
      'policy.bindings.members',
    );
  }
  const [kind, name = ''] = [member.slice(0, member.indexOf(':')), member.slice(member.indexOf(':') + 1).toLowerCase()];
  const isProject = /^(projects|folders|organizations)\/[^/]+$/.test(resource);
  if ((member === 'allUsers' || member === 'allAuthenticatedUsers') && isProject) {
    throw badRequest(
      `Policy members must be of the form "<type>:<value>": ${member} is not allowed here.`,
      'policy.bindings.members',
    );
  }
  if (kind === 'serviceAccount' && !serviceAccountExists(world, name)) {
    throw badRequest(`Service account ${name} does not exist.`, 'policy.bindings.members');
  }
  if (
    kind === 'user' &&
    (name.endsWith('.gserviceaccount.com') || !/^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(name) || name.endsWith('.invalid'))
  ) {
    throw badRequest(`User ${name} does not exist.`, 'policy.bindings.members');
  }
}

/** A new account cannot be bound for some seconds. Google's own agents always can. */
function serviceAccountExists(world: World, email: string): boolean {
  if (!email.endsWith('.iam.gserviceaccount.com')) return email.endsWith('.gserviceaccount.com');
  if (/@gcp-sa-[a-z-]+\.iam\.gserviceaccount\.com$/.test(email)) return true;
  const account = serviceAccounts(world)[email];
  return account !== undefined && account.usableAt <= world.now();
}
