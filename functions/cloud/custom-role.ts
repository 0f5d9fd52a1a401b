/** Wraps IAM's roles: those of a project, which go with it, and what any role holds. */
import { orUndefined } from './errors.js';
import { createRest, type Transport } from './rest.js';

export interface Role {
  /** `roles/editor`, `projects/p/roles/r` */
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly includedPermissions?: readonly string[];
  readonly stage?: string;
  readonly etag?: string;
  /** It grants nothing then. It can be restored for seven days. */
  readonly deleted?: boolean;
}

export type RoleContent = Required<Pick<Role, 'title' | 'description' | 'includedPermissions'>>;

export function createCustomRoles(transport: Transport) {
  const rest = createRest(transport, 'iam');
  return {
    /** By its full name. Predefined roles tell everybody what they hold. */
    get: (name: string) => orUndefined(rest<Role>('GET', `/v1/${name}`, { doing: `read the role ${name}` })),

    create: (projectId: string, roleId: string, role: RoleContent) =>
      rest<Role>('POST', `/v1/projects/${projectId}/roles`, {
        doing: `create the role ${roleId} in ${projectId}`,
        body: { roleId, role: { ...role, stage: 'GA' } },
      }),

    /** `etag` is that of the role as it was read. */
    patch: (name: string, role: RoleContent, etag: string | undefined) =>
      rest<Role>('PATCH', `/v1/${name}`, {
        doing: `change the role ${name}`,
        query: { updateMask: 'title,description,includedPermissions,stage' },
        body: { ...role, stage: 'GA', ...(etag === undefined ? {} : { etag }) },
      }),

    undelete: (name: string) =>
      rest<Role>('POST', `/v1/${name}:undelete`, { doing: `restore the role ${name}`, body: {} }),
  };
}
