/** Wraps Resource Manager: projects, their labels and policies. */
import { Problem } from '../../shared/problems.js';
import { isHidden, orUndefined } from './errors.js';
import { type LongRunningAnswer, readLongRunning } from './operations.js';
import { createPolicy, type Policy, policyVersion } from './policy.js';
import { createRest, type Rest, type RestCall, type Transport } from './rest.js';

export interface Project {
  /** `projects/<number>` */
  readonly name: string;
  readonly projectId: string;
  readonly displayName?: string;
  readonly parent?: string;
  readonly state: 'ACTIVE' | 'DELETE_REQUESTED' | 'STATE_UNSPECIFIED';
  readonly labels?: Readonly<Record<string, string>>;
  readonly etag?: string;
}

export interface ProjectPage {
  readonly projects: readonly Project[];
  readonly nextPageToken?: string;
}

export function createProjects(transport: Transport) {
  const rest = createRest(transport, 'cloudresourcemanager');
  const change = async (method: 'POST' | 'PATCH' | 'DELETE', path: string, call: RestCall) =>
    readLongRunning(await rest<LongRunningAnswer>(method, path, call), call.doing);
  const get = (projectId: string) =>
    orUndefined(rest<Project>('GET', `/v3/projects/${projectId}`, { doing: `read the project ${projectId}` }));
  return {
    /** Google answers PERMISSION_DENIED for a project that does not exist, the same as for one that plinth may not see. */
    get,

    /** Undefined for both of these. */
    async find(projectId: string): Promise<Project | undefined> {
      try {
        return await get(projectId);
      } catch (error) {
        if (error instanceof Problem && error.code === 'cloud-permission') return undefined;
        throw error;
      }
    },

    create: (project: {
      readonly projectId: string;
      readonly displayName: string;
      readonly parent: string;
      readonly labels: Readonly<Record<string, string>>;
    }) =>
      change('POST', '/v3/projects', {
        doing: `create the project ${project.projectId} in ${project.parent}`,
        body: project,
      }),

    async operation(name: string) {
      const answer = await rest<LongRunningAnswer>('GET', `/v3/${name}`, { doing: 'read how far the project is' });
      return readLongRunning(answer, 'create the project');
    },

    /** Replaces all labels. Give all labels to keep, and the etag they were read with. Without `displayName` its name stays. */
    setLabels: (
      projectId: string,
      labels: Readonly<Record<string, string>>,
      { etag, displayName }: Pick<Project, 'etag' | 'displayName'>,
    ) =>
      change('PATCH', `/v3/projects/${projectId}`, {
        doing: `label the project ${projectId}`,
        query: { updateMask: displayName === undefined ? 'labels' : 'labels,displayName' },
        body: {
          labels,
          ...(displayName === undefined ? {} : { displayName }),
          ...(etag === undefined ? {} : { etag }),
        },
      }),

    ...createSearch(rest),
    ...createPermissions(rest),

    remove: (projectId: string) =>
      change('DELETE', `/v3/projects/${projectId}`, { doing: `delete the project ${projectId}` }),

    ...createLiens(rest),

    policy: (projectId: string) => projectPolicy(rest, projectId),
  };
}

interface Lien {
  /** `liens/p…-l…` */
  readonly name: string;
  readonly reason?: string;
  readonly origin?: string;
}

const createLiens = (rest: Rest) => ({
  /** All that forbid the deletion of this project. */
  async liens(projectId: string): Promise<Lien[]> {
    const found: Lien[] = [];
    let pageToken: string | undefined;
    do {
      const page = await rest<{ liens?: Lien[]; nextPageToken?: string }>('GET', '/v3/liens', {
        doing: `list the liens of the project ${projectId}`,
        query: { parent: `projects/${projectId}`, pageToken },
      });
      found.push(...(page.liens ?? []));
      pageToken = page.nextPageToken || undefined;
    } while (pageToken !== undefined);
    return found;
  },
});

function createPermissions(rest: Rest) {
  const held = async (resource: string, permissions: readonly string[]): Promise<readonly string[]> => {
    const path = `/v3/${resource}:testIamPermissions`;
    const doing = `ask what plinth may do in ${resource}`;
    return (await rest<{ permissions?: string[] }>('POST', path, { doing, body: { permissions } })).permissions ?? [];
  };
  return {
    /** Whether plinth may make projects beneath `folders/…` or `organizations/…`. False if there is no such place. */
    async mayCreateIn(parent: string): Promise<boolean> {
      try {
        return (await held(parent, ['resourcemanager.projects.create'])).length > 0;
      } catch (error) {
        if (isHidden(error)) return false;
        throw error;
      }
    },

    /** Those of the permissions that plinth has on `projects/…`, `folders/…` or `organizations/…`. */
    held,
  };
}

function createSearch(rest: Rest) {
  /** At most 500 projects. The last page has no `nextPageToken`. */
  const searchPage = async (query: string, pageToken: string | undefined): Promise<ProjectPage> => {
    const { projects = [], nextPageToken = '' } = await rest<Partial<ProjectPage>>('GET', '/v3/projects:search', {
      doing: 'search for projects',
      query: { query, pageSize: '500', pageToken },
    });
    return { projects, ...(nextPageToken === '' ? {} : { nextPageToken }) };
  };
  return {
    /** All matching projects that plinth may see. A change appears after some seconds. */
    async search(query: string): Promise<Project[]> {
      const found: Project[] = [];
      let pageToken: string | undefined;
      do {
        const page = await searchPage(query, pageToken);
        found.push(...page.projects);
        pageToken = page.nextPageToken;
      } while (pageToken !== undefined);
      return found;
    },

    searchPage,
  };
}

const projectPolicy = (rest: Rest, projectId: string) =>
  createPolicy({
    read: () =>
      rest<Policy>('POST', `/v3/projects/${projectId}:getIamPolicy`, {
        doing: `read the policy of the project ${projectId}`,
        body: { options: { requestedPolicyVersion: policyVersion } },
      }),
    write: (policy) =>
      rest<Policy>('POST', `/v3/projects/${projectId}:setIamPolicy`, {
        doing: `change the policy of the project ${projectId}`,
        body: { policy },
      }),
  });
