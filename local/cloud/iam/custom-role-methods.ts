/** The IAM API's methods on the roles of projects and organizations. A deleted role can be restored for seven days. */
import { type CloudCall, GoogleError, type Handler, type JsonObject, type World } from '../kernel/api.js';
import { badRequest, notSimulated } from '../kernel/errors.js';
import { numberOf, objectOf, textOf, textsOf } from '../kernel/json-fields.js';
import { pageOf } from '../kernel/pages.js';
import { withProjectId } from '../kernel/projects.js';
import { type CustomRole, customRoles } from './custom-roles.js';
import { freshEtag, isSameEtag } from './etags.js';
import { resourceOf } from './full-names.js';
import { knownPermissions, permissionIsKnown } from './predefined-roles.js';

const day = 24 * 60 * 60 * 1000;
/** After the first the role is gone. After the second its id can be used again. */
const [restorableDays, reservedDays] = [7, 37];

const shown = (name: string, role: CustomRole, full: boolean): JsonObject => ({
  name,
  title: role.title,
  ...(role.description === undefined ? {} : { description: role.description }),
  ...(full && role.permissions.length > 0 ? { includedPermissions: [...role.permissions] } : {}),
  stage: role.stage ?? 'ALPHA',
  etag: role.etag ?? 'AA==',
  ...(role.deletedAt === undefined ? {} : { deleted: true }),
});

/** The project or organization, by its id. Throws Google's error for a project that is not there. */
function parentIn(call: CloudCall, world: World): string {
  const [kind = '', id = ''] = (call.params['parent'] ?? call.params['name'] ?? '').split('/');
  return kind === 'projects' ? `projects/${world.project(id).projectId}` : `${kind}/${id}`;
}

const isGone = ({ deletedAt }: CustomRole, world: World, days: number): boolean =>
  deletedAt !== undefined && world.now() >= deletedAt + days * day;

function find(call: CloudCall, world: World): { name: string; role: CustomRole } {
  const given = call.params['name'] ?? '';
  const name = withProjectId(world, given);
  const role = customRoles(world)[name];
  if (role === undefined || isGone(role, world, restorableDays)) {
    throw new GoogleError(404, 'NOT_FOUND', `The role named ${given} was not found.`, { reason: 'notFound' });
  }
  return { name, role };
}

const failed = (message: string): GoogleError =>
  new GoogleError(400, 'FAILED_PRECONDITION', message, { reason: 'failedPrecondition' });

function checkEtag(given: string | undefined, { etag = 'AA==' }: CustomRole): void {
  if (given === undefined || given === '' || isSameEtag(given, etag)) return;
  throw new GoogleError(
    409,
    'ABORTED',
    'There were concurrent changes to the role. Please retry the whole read-modify-write with exponential backoff.',
    { reason: 'aborted' },
  );
}

/** Permissions of folders and organizations mean nothing in a project. */
const isOf = (parent: string, permission: string): boolean =>
  !parent.startsWith('projects/') || !/^resourcemanager\.(organizations\.|folders\.|projects\.list$)/.test(permission);

function checkPermissions(permissions: readonly string[], parent: string): void {
  for (const permission of permissions) {
    const known = permissionIsKnown(permission);
    if (known === 'missing' || !isOf(parent, permission)) {
      throw badRequest(`Permission ${permission} is not valid.`, 'role.included_permissions');
    }
    if (known === 'unknown') throw notSimulated(`the permission ${permission}`);
  }
}

function checkTitle(title: string): void {
  if (Buffer.byteLength(title) > 100) {
    throw badRequest('The role title must be at most 100 UTF-8 bytes.', 'role.title');
  }
}

const create: Handler = (call, world) => {
  const parent = parentIn(call, world);
  const id = textOf(call.body['roleId']) ?? '';
  if (!/^[a-zA-Z0-9_.]{3,64}$/.test(id)) {
    throw badRequest(
      `The role_id "${id}" is invalid. It doesn't match pattern "[a-zA-Z0-9_\\.]{3,64}". The role_id must be 3 to 64 characters long and can be a mix of uppercase and lowercase English letters, digits, underscores and periods.`,
      'role_id',
    );
  }
  const name = `${parent}/roles/${id}`;
  const standing = customRoles(world)[name];
  if (standing?.deletedAt !== undefined && !isGone(standing, world, reservedDays)) {
    throw failed(`You can't create a role_id (${id}) which has been marked for deletion.`);
  }
  if (standing !== undefined && standing.deletedAt === undefined) {
    throw new GoogleError(409, 'ALREADY_EXISTS', `A role named ${id} in ${parent} already exists.`, {
      reason: 'alreadyExists',
    });
  }
  const role: CustomRole = { title: '', permissions: [], etag: freshEtag(world) };
  change(role, objectOf(call.body['role']) ?? {}, fields, parent);
  customRoles(world)[name] = role;
  return shown(name, role, true);
};

const fields = ['title', 'description', 'includedPermissions', 'stage'] as const;
type Field = (typeof fields)[number];

/** Writes the given fields. One that is not in the body becomes empty. */
function change(role: CustomRole, given: JsonObject, which: readonly Field[], parent: string): void {
  const permissions = textsOf(given['includedPermissions']);
  const title = textOf(given['title']) ?? '';
  checkTitle(title);
  checkPermissions(permissions, parent);
  if (which.includes('title')) role.title = title;
  if (which.includes('includedPermissions')) role.permissions = [...new Set(permissions)].sort();
  for (const field of ['description', 'stage'] as const) {
    const text = textOf(given[field]);
    if (!which.includes(field)) continue;
    if (text === undefined || text === '') delete role[field];
    else role[field] = text;
  }
}

/** Without a mask, what the body holds is changed. */
function fieldsOf(call: CloudCall): readonly Field[] {
  const mask = (call.params['updateMask'] ?? '').split(',').filter((path) => path !== '');
  if (mask.length === 0) return fields.filter((field) => call.body[field] !== undefined);
  return mask.flatMap((path): Field[] => {
    const plain = path === 'included_permissions' ? 'includedPermissions' : path;
    if (plain === 'etag' || plain === 'name') return [];
    const field = fields.find((each) => each === plain);
    if (field === undefined) throw badRequest(`The field ${path} cannot be updated.`, 'update_mask');
    return [field];
  });
}

const patch: Handler = (call, world) => {
  const { name, role } = find(call, world);
  checkEtag(textOf(call.body['etag']), role);
  if (role.deletedAt !== undefined) throw failed(`The role named ${name} is deleted.`);
  change(role, call.body, fieldsOf(call), name);
  role.etag = freshEtag(world);
  return shown(name, role, true);
};

const remove: Handler = (call, world) => {
  const { name, role } = find(call, world);
  checkEtag(call.params['etag'], role);
  if (role.deletedAt !== undefined) throw failed(`The role named ${name} is deleted.`);
  role.deletedAt = world.now();
  role.etag = freshEtag(world);
  return shown(name, role, true);
};

const undelete: Handler = (call, world) => {
  const { name, role } = find(call, world);
  checkEtag(textOf(call.body['etag']), role);
  if (role.deletedAt === undefined) throw failed(`The role named ${name} is not deleted.`);
  delete role.deletedAt;
  role.etag = freshEtag(world);
  return shown(name, role, true);
};

const get: Handler = (call, world) => {
  const { name, role } = find(call, world);
  return shown(name, role, true);
};

const list: Handler = (call, world) => {
  const parent = parentIn(call, world);
  const found = Object.entries(customRoles(world)).filter(
    ([name, role]) =>
      name.startsWith(`${parent}/roles/`) &&
      !isGone(role, world, restorableDays) &&
      (role.deletedAt === undefined || call.params['showDeleted'] === 'true'),
  );
  const size = Math.min(numberOf(call.params['pageSize']) || 300, 1000);
  const { items, nextPageToken } = pageOf(
    found.map(([name, role]) => [name, shown(name, role, call.params['view'] === 'FULL')] as const),
    size,
    call.params['pageToken'],
  );
  return {
    ...(items.length === 0 ? {} : { roles: items }),
    ...(nextPageToken === undefined ? {} : { nextPageToken }),
  };
};

/** The permissions that custom roles of a resource may hold. gcloud asks for them before it makes a role. */
export const queryTestable: Handler = ({ body }) => {
  const resource = resourceOf(textOf(body['fullResourceName']) ?? '');
  const found = knownPermissions().filter((permission) => isOf(resource, permission));
  const size = Math.min(numberOf(body['pageSize']) || 100, 1000);
  const { items, nextPageToken } = pageOf(
    found.map((name) => [name, { name, stage: 'GA' }] as const),
    size,
    textOf(body['pageToken']),
  );
  return { permissions: items, ...(nextPageToken === undefined ? {} : { nextPageToken }) };
};

export const customRoleHandlers: Readonly<Record<string, Handler>> = Object.fromEntries(
  ['projects', 'organizations'].flatMap((kind) =>
    Object.entries({ create, get, list, patch, delete: remove, undelete }).map(([verb, handler]) => [
      `iam.${kind}.roles.${verb}`,
      handler,
    ]),
  ),
);
