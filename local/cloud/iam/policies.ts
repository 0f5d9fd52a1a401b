/**
 * IAM policies of all resources of all services, with etags and the propagation time of grants. APIs read and write them
 * through `world.policies`.
 */
import { type Caller, GoogleError, type Json, type JsonObject, type Policies, type World } from '../kernel/api.js';
import { badRequest } from '../kernel/errors.js';
import { objectOf, objectsOf, textOf, textsOf } from '../kernel/json-fields.js';
import { lookUpProject, withProjectId } from '../kernel/projects.js';
import { delayOf } from '../worlds/settings.js';
import { conditionHolds } from './conditions.js';
import { freshEtag, isSameEtag } from './etags.js';
import { lineage } from './lineage.js';
import { checkBinding } from './policy-checks.js';
import { roleHolds } from './roles.js';

interface Grant {
  readonly members: readonly string[];
  readonly role: string;
  readonly condition?: JsonObject;
}

interface PolicyRecord {
  policy: JsonObject;
  /** The grants in force now, and those that take effect at `at`. */
  inForce: Grant[];
  coming: { at: number; grants: Grant[] }[];
}

/** What Google changes where a call has no mask. */
const defaultFields = ['bindings', 'etag'];

const records = (world: World): Record<string, PolicyRecord> => world.table<PolicyRecord>('iam.policies');

export function createPolicies(world: World): Policies {
  const policies: Policies = {
    get(resource, requestedVersion = 1) {
      const record = records(world)[withProjectId(world, resource)];
      const policy = structuredClone(record?.policy ?? { version: 1, etag: 'ACAB' });
      const conditional = objectsOf(policy['bindings']).some(({ condition }) => condition !== undefined);
      if (!conditional || requestedVersion >= 3) return policy;
      return { ...policy, version: 1, bindings: objectsOf(policy['bindings']).map(withoutCondition) };
    },
    set(resource, given, fields = defaultFields) {
      const name = withProjectId(world, resource);
      const current = policies.get(name, 3);
      const etag = textOf(given['etag']);
      if (etag !== undefined && etag !== '' && !isSameEtag(etag, String(current['etag']))) {
        throw staleEtag(etag, String(current['etag']));
      }
      const bindings = fields.includes('bindings')
        ? mergeBindings(objectsOf(given['bindings']).map((binding) => checkBinding(world, name, binding)))
        : objectsOf(current['bindings']);
      const conditional = bindings.some(({ condition }) => condition !== undefined);
      if (conditional && fields.includes('bindings') && given['version'] !== 3) {
        throw badRequest('Must set policy version to 3 when using conditions.', 'policy.version');
      }
      const auditConfigs = objectsOf((fields.includes('auditConfigs') ? given : current)['auditConfigs']);
      const policy: JsonObject = {
        version: conditional ? 3 : 1,
        etag: freshEtag(world),
        ...(bindings.length === 0 ? {} : { bindings }),
        ...(auditConfigs.length === 0 ? {} : { auditConfigs }),
      };
      const record = records(world)[name] ?? { policy, inForce: [], coming: [] };
      records(world)[name] = record;
      record.policy = policy;
      const spread = 0.7 + 0.6 * world.random();
      record.coming.push({
        at: world.now() + world.scaled(delayOf(world, 'iamPolicy')) * spread,
        grants: bindings.map(grantOf),
      });
      return structuredClone(policy);
    },
    remove(resource) {
      const name = withProjectId(world, resource);
      for (const key of Object.keys(records(world))) {
        if (key === name || key.startsWith(`${name}/`)) delete records(world)[key];
      }
    },
    allows(caller, permission, resource) {
      const member = memberOf(caller);
      return lineage(world, resource).some((name) =>
        inForce(world, name).some(
          ({ members, role, condition }) =>
            members.some((m) => m === member || isAmong(m, caller, world)) &&
            roleHolds(role, permission, world) &&
            (condition === undefined ||
              conditionHolds(condition, { resource: nameAtGoogle(world, resource), now: world.now() })),
        ),
      );
    },
  };
  return policies;
}

/** Grants that take effect at once: for the creator of a resource, and for the state a deployment starts with. */
export function grantAtOnce(
  world: World,
  resource: string,
  bindings: readonly { role: string; members: string[]; condition?: JsonObject }[],
): void {
  const name = withProjectId(world, resource);
  const held = objectsOf(records(world)[name]?.policy['bindings']);
  const merged = mergeBindings([...held, ...bindings]);
  const conditional = merged.some(({ condition }) => condition !== undefined);
  const policy: JsonObject = {
    ...records(world)[name]?.policy,
    version: conditional ? 3 : 1,
    etag: freshEtag(world),
    bindings: merged,
  };
  records(world)[name] = { policy, inForce: merged.map(grantOf), coming: [] };
}

/** A deleted member stays in the policies as `deleted:…`, as Google shows it. It can be written back, and grants nothing. */
export function forgetMember(world: World, member: string, uniqueId: string): void {
  const gone = `deleted:${member}?uid=${uniqueId}`;
  for (const record of Object.values(records(world))) {
    const bindings = objectsOf(record.policy['bindings']);
    if (!bindings.some((binding) => textsOf(binding['members']).includes(member))) continue;
    for (const binding of bindings) {
      binding['members'] = textsOf(binding['members']).map((name) => (name === member ? gone : name));
    }
    record.policy['etag'] = freshEtag(world);
    record.inForce = without(member, record.inForce);
    record.coming = record.coming.map(({ at, grants }) => ({ at, grants: without(member, grants) }));
  }
}

const without = (member: string, grants: readonly Grant[]): Grant[] =>
  grants.map((grant) => ({ ...grant, members: grant.members.filter((name) => name !== member) }));

/** A federated identity has no e-mail: it is named as policies name it. */
export const memberOf = ({ kind, email }: Caller): string =>
  email.startsWith('principal:') ? email : `${kind}:${email}`;

/** Whether a member that stands for many includes the caller. */
const isAmong = (member: string, caller: Caller, world: World): boolean =>
  member === 'allUsers' ||
  member === 'allAuthenticatedUsers' ||
  isDomainOf(member, caller) ||
  holdsBasicRole(member, caller, world);

/** `projectOwner:p` means everyone who holds the role owner on the project. */
function holdsBasicRole(member: string, caller: Caller, world: World): boolean {
  const [, kind, project] = /^project(Owner|Editor|Viewer):(.+)$/.exec(member) ?? [];
  if (kind === undefined) return false;
  const role = `roles/${kind.toLowerCase()}`;
  return lineage(world, `projects/${project}`).some((name) =>
    inForce(world, name).some(
      (grant) => grant.role === role && grant.members.some((m) => m === memberOf(caller) || isDomainOf(m, caller)),
    ),
  );
}

const isDomainOf = (member: string, { email, kind }: Caller): boolean =>
  kind === 'user' && member.startsWith('domain:') && email.endsWith(`@${member.slice('domain:'.length)}`);

const grantOf = (binding: JsonObject): Grant => {
  const condition = objectOf(binding['condition']);
  return {
    role: textOf(binding['role']) ?? '',
    members: textsOf(binding['members']),
    ...(condition === undefined ? {} : { condition }),
  };
};

function inForce(world: World, name: string): readonly Grant[] {
  const record = records(world)[name];
  if (record === undefined) return [];
  for (let next = record.coming[0]; next !== undefined && next.at <= world.now(); next = record.coming[0]) {
    record.inForce = next.grants;
    record.coming.shift();
  }
  return record.inForce;
}

function mergeBindings(bindings: readonly JsonObject[]): JsonObject[] {
  const merged = new Map<string, JsonObject>();
  for (const binding of bindings) {
    const key = JSON.stringify([binding['role'], binding['condition'] ?? null]);
    const members = new Set([...textsOf(merged.get(key)?.['members']), ...textsOf(binding['members'])]);
    if (members.size > 0) merged.set(key, { ...binding, members: [...members].sort() });
  }
  return [...merged.values()].sort((a, b) => (String(a['role']) < String(b['role']) ? -1 : 1));
}

function withoutCondition({ condition, ...binding }: JsonObject): JsonObject {
  if (condition === undefined) return binding;
  return { ...binding, role: `${String(binding['role'])}_withcond_${hashOf(condition)}` };
}

const hashOf = (value: Json): string =>
  Array.from(JSON.stringify(value))
    .reduce((hash, c) => (Math.imul(hash, 31) + c.charCodeAt(0)) >>> 0, 7)
    .toString(16)
    .padStart(20, '0');

const staleEtag = (given: string, held: string): GoogleError =>
  new GoogleError(
    409,
    'ABORTED',
    `There were concurrent policy changes. Please retry the whole read-modify-write with exponential backoff. The request's ETag '${given}' did not match the current policy's ETag '${held}'.`,
    { reason: 'aborted' },
  );

/** The name that conditions compare: in Secret Manager with the project's number, in Cloud Storage without a project. */
function nameAtGoogle(world: World, resource: string): string {
  const [kind, project = '', collection, ...rest] = resource.split('/');
  if (kind !== 'projects') return resource;
  if (collection === 'buckets') return ['projects/_/buckets', ...rest].join('/');
  if (collection !== 'secrets') return resource;
  return [kind, lookUpProject(world, project)?.projectNumber ?? project, collection, ...rest].join('/');
}
