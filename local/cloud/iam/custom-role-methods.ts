/** The IAM API's methods on the roles of projects. A deleted role keeps its id and can be restored. */
import { type CloudCall, GoogleError, type Handler, type JsonObject, type World } from '../kernel/api.js';
import { defineCollection, type Found, joined, type Place } from '../kernel/collection.js';
import { badRequest, notSimulated } from '../kernel/errors.js';
import { numberOf, objectOf, textOf, textsOf } from '../kernel/json-fields.js';
import { pageOf } from '../kernel/pages.js';
import { type CustomRole, customRoles } from './custom-roles.js';
import { freshEtag, isSameEtag } from './etags.js';
import { resourceOf } from './full-names.js';
import { knownPermissions, permissionIsKnown } from './predefined-roles.js';

const shown = (role: CustomRole, name: string): JsonObject => ({
  name,
  title: role.title,
  ...(role.description === undefined ? {} : { description: role.description }),
  ...(role.permissions.length > 0 ? { includedPermissions: [...role.permissions] } : {}),
  stage: role.stage ?? 'ALPHA',
  etag: role.etag ?? 'AA==',
  ...(role.deletedAt === undefined ? {} : { deleted: true }),
});

const missing = ({ path }: Place): GoogleError =>
  new GoogleError(404, 'NOT_FOUND', `The role named ${path} was not found.`, { reason: 'notFound' });

const failed = (message: string): GoogleError =>
  new GoogleError(400, 'FAILED_PRECONDITION', message, { reason: 'failedPrecondition' });

function checkEtag(given: string, current: string): void {
  if (isSameEtag(given, current)) return;
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

/** The record of a role in the form of the API, with its permissions in order. Throws Google's refusals. */
function roleIn(given: JsonObject, path: string, world: World): CustomRole {
  const [title = '', description = '', stage = ''] = ['title', 'description', 'stage'].map((key) => textOf(given[key]));
  if (Buffer.byteLength(title) > 100) {
    throw badRequest('The role title must be at most 100 UTF-8 bytes.', 'role.title');
  }
  const permissions = [...new Set(textsOf(given['includedPermissions']))].sort();
  for (const permission of permissions) {
    const known = permissionIsKnown(permission);
    if (known === 'missing' || !isOf(path, permission)) {
      throw badRequest(`Permission ${permission} is not valid.`, 'role.included_permissions');
    }
    if (known === 'unknown') throw notSimulated(`the permission ${permission}`);
  }
  return {
    title,
    permissions,
    ...(description === '' ? {} : { description }),
    ...(stage === '' ? {} : { stage }),
    etag: freshEtag(world),
  };
}

function idIn({ body }: CloudCall, { path }: Place, world: World): string {
  const id = textOf(body['roleId']) ?? '';
  if (!/^[a-zA-Z0-9_.]{3,64}$/.test(id)) {
    throw badRequest(
      `The role_id "${id}" is invalid. It doesn't match pattern "[a-zA-Z0-9_\\.]{3,64}". The role_id must be 3 to 64 characters long and can be a mix of uppercase and lowercase English letters, digits, underscores and periods.`,
      'role_id',
    );
  }
  if (customRoles(world)[`${path}/${id}`]?.deletedAt !== undefined) {
    throw failed(`You can't create a role_id (${id}) which has been marked for deletion.`);
  }
  return id;
}

function refuseDeleted({ record, path }: Found<CustomRole>): void {
  if (record.deletedAt !== undefined) throw failed(`The role named ${path} is deleted.`);
}

const remove = (at: Found<CustomRole>, { params }: CloudCall, world: World): JsonObject => {
  if ((params['etag'] ?? '') !== '') checkEtag(params['etag'] ?? '', at.record.etag ?? 'AA==');
  refuseDeleted(at);
  Object.assign(at.record, { deletedAt: world.now(), etag: freshEtag(world) });
  return shown(at.record, at.path);
};

const undelete = ({ record, path }: Found<CustomRole>, { body }: CloudCall, world: World): JsonObject => {
  const etag = textOf(body['etag']) ?? '';
  if (etag !== '') checkEtag(etag, record.etag ?? 'AA==');
  if (record.deletedAt === undefined) throw failed(`The role named ${path} is not deleted.`);
  delete record.deletedAt;
  record.etag = freshEtag(world);
  return shown(record, path);
};

const usual = { table: 'iam.roles', shown, missing } as const;

const rolesOfProjects = defineCollection<CustomRole>({
  ...usual,
  methods: 'iam.projects.roles',
  etag: { fresh: freshEtag, check: checkEtag },
  create: {
    id: idIn,
    exists: ({ parent, id }) =>
      new GoogleError(409, 'ALREADY_EXISTS', `A role named ${id} in ${parent} already exists.`, {
        reason: 'alreadyExists',
      }),
    make: ({ path }, { body }, world) => roleIn(objectOf(body['role']) ?? {}, path, world),
  },
  patch: {
    fields: ['title', 'description', 'includedPermissions', 'stage', 'etag', 'name'],
    fixed: (field) => badRequest(`The field ${field} cannot be updated.`, 'update_mask'),
    write(at, changed, _call, world) {
      refuseDeleted(at);
      customRoles(world)[at.path] = roleIn(changed, at.path, world);
    },
  },
  verbs: { delete: remove, undelete },
});

/** Callers may hold a role of their organization. Here such roles are set at the start. */
const rolesOfOrganizations = defineCollection<CustomRole>({ ...usual, methods: 'iam.organizations.roles' });

export const customRoleMethods = joined(rolesOfProjects, rolesOfOrganizations);

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
