/** Wraps IAM's service accounts and the roles of projects. plinth never makes keys. */
import { orUndefined } from './errors.js';
import { createRest, type Transport } from './rest.js';

export interface ServiceAccount {
  readonly email: string;
  readonly displayName?: string;
  readonly disabled?: boolean;
}

/** A role of a project's own, as it is wanted. */
export interface RoleDefinition {
  readonly title: string;
  readonly description: string;
  readonly stage: 'GA';
  readonly includedPermissions: readonly string[];
}

/** As IAM shows it. A deleted role can be restored for seven days. Its id stays reserved for 30 more. */
export interface CustomRole extends Partial<Omit<RoleDefinition, 'stage'>> {
  readonly stage?: string;
  readonly deleted?: boolean;
}

export function createIam(transport: Transport) {
  const rest = createRest(transport, 'iam');
  return {
    get: (projectId: string, email: string) =>
      orUndefined(
        rest<ServiceAccount>('GET', `/v1/projects/${projectId}/serviceAccounts/${email}`, {
          doing: `read the service account ${email}`,
        }),
      ),

    create: (projectId: string, accountId: string, displayName: string) =>
      rest<ServiceAccount>('POST', `/v1/projects/${projectId}/serviceAccounts`, {
        doing: `create the service account ${accountId} in ${projectId}`,
        body: { accountId, serviceAccount: { displayName } },
      }),

    /** `name` is `projects/<id>/roles/<role id>`, here and below. */
    role: (name: string) => orUndefined(rest<CustomRole>('GET', `/v1/${name}`, { doing: `read the role ${name}` })),

    createRole: (name: string, role: RoleDefinition) => {
      const [, projectId = '', , roleId = ''] = name.split('/');
      const doing = `create the role ${name}`;
      return rest<CustomRole>('POST', `/v1/projects/${projectId}/roles`, { doing, body: { roleId, role } });
    },

    restoreRole: (name: string) =>
      rest<CustomRole>('POST', `/v1/${name}:undelete`, { doing: `restore the role ${name}`, body: {} }),

    changeRole: (name: string, role: RoleDefinition) =>
      rest<CustomRole>('PATCH', `/v1/${name}`, {
        doing: `change the role ${name}`,
        query: { updateMask: Object.keys(role).join(',') },
        body: role,
      }),
  };
}
