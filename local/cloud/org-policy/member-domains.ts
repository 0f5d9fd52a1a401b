/** Domain restricted sharing: the members of a policy that belong to no permitted customer. */
import { lineage } from '../iam/lineage.js';
import { checkBinding } from '../iam/policy-checks.js';
import type { CloudCall, World } from '../kernel/api.js';
import { objectOf, objectsOf, textsOf } from '../kernel/json-fields.js';
import type { ContainerRecord } from '../kernel/projects.js';
import { lookUpProject } from '../kernel/projects.js';
import { bucketPath } from '../storage/objects.js';
import { allows, customerOf, type Effective } from './policies.js';

const membersIn = (policy: CloudCall['body'] | undefined): string[] =>
  objectsOf(policy?.['bindings']).flatMap(({ members }) => textsOf(members));

/** The organization above a project. */
function organizationOf(world: World, project: string): string | undefined {
  const found = lookUpProject(world, project);
  if (found === undefined) return undefined;
  return lineage(world, `projects/${found.projectId}`).find((name) => name.startsWith('organizations/'));
}

/** An organization's display name is its domain. */
const organizationOfDomain = (world: World, domain: string): string | undefined =>
  Object.values(world.table<ContainerRecord>('containers')).find(
    ({ name, displayName }) => name.startsWith('organizations/') && displayName.toLowerCase() === domain,
  )?.name;

/** A service account belongs to its project: by id, or by number for those that Google makes. */
function organizationOfAccount(world: World, email: string): string | undefined {
  const byId = /^[^@]+@([a-z0-9-]+)\.iam\.gserviceaccount\.com$/.exec(email)?.[1];
  const byNumber = /^(?:service-)?(\d+)(?:-compute)?@/.exec(email)?.[1];
  for (const project of [byId, byNumber]) {
    const found = project === undefined ? undefined : organizationOf(world, project);
    if (found !== undefined) return found;
  }
  return undefined;
}

function organizationOfMember(world: World, member: string): string | undefined {
  const at = member.indexOf(':');
  const [kind, name] = [member.slice(0, at), member.slice(at + 1).toLowerCase()];
  if (kind === 'serviceAccount') return organizationOfAccount(world, name);
  return organizationOfDomain(world, kind === 'domain' ? name : name.slice(name.lastIndexOf('@') + 1));
}

/** Names of pools and of roles on a project carry no domain. Deleted members were checked before. */
const withoutDomain = /^(principal|principalSet|projectOwner|projectEditor|projectViewer|deleted):/;

/** Whether a member belongs to a customer that the policy permits. */
function isPermitted(world: World, member: string, policy: Effective): boolean {
  if (withoutDomain.test(member)) return true;
  const organization = member.includes(':') ? organizationOfMember(world, member) : undefined;
  if (organization === undefined) return false;
  const names = [customerOf(organization), `principalSet://cloudresourcemanager.googleapis.com/${organization}`];
  return allows(policy, (pattern) => names.includes(pattern.replace(/^is:/, '')));
}

/** The members that a new policy adds and that are no permitted customer's. Throws first if the policy itself is wrong. */
export function strangersIn(call: CloudCall, world: World, policy: Effective): string[] {
  const { bucket } = call.params;
  const resource = bucket === undefined ? call.resource : bucketPath(world, bucket);
  const given = objectOf(call.body['policy']) ?? call.body;
  const held = new Set(membersIn(world.policies.get(resource, 3)));
  const strangers = membersIn(given).filter((member) => !held.has(member) && !isPermitted(world, member, policy));
  if (strangers.length > 0) for (const binding of objectsOf(given['bindings'])) checkBinding(world, resource, binding);
  return strangers;
}
