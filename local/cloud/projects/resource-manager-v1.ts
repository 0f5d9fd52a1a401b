/** Resource Manager v1, which gcloud uses along with v3: the same projects in the older form. */

import { lineage } from '../iam/lineage.js';
import { readPolicy, writePolicy } from '../iam/policy-methods.js';
import { testPermissions } from '../iam/test-permissions.js';
import {
  type ApiDefinition,
  type CloudCall,
  GoogleError,
  type Handler,
  type JsonObject,
  type World,
} from '../kernel/api.js';
import { badRequest, deniedPlainly } from '../kernel/errors.js';
import { numberOf, objectOf, textOf } from '../kernel/json-fields.js';
import { findOperation } from '../kernel/long-running.js';
import { pageOf } from '../kernel/pages.js';
import type { ContainerRecord } from '../kernel/projects.js';
import { effectivePolicyAccess, effectivePolicyHandlers } from '../org-policy/effective-v1.js';
import { customerOf } from '../org-policy/policies.js';
import {
  activeProject,
  anyProject,
  changeProject,
  checkDisplayName,
  createProject,
  deleteProject,
  projectV1,
  resourceId,
  restoreProject,
  searchedProjects,
  textRecord,
} from './changes.js';
import { lienAccess, lienHandlers } from './liens.js';
import { readProjectFilter } from './search.js';

function parentOf(body: JsonObject): string {
  const parent = objectOf(body['parent']);
  if (parent === undefined) return '';
  const [type, id] = [textOf(parent['type']) ?? '', textOf(parent['id']) ?? ''];
  if ((type !== 'folder' && type !== 'organization') || !/^\d+$/.test(id)) {
    throw badRequest(
      'Request contains an invalid argument.',
      'project.parent',
      'parent must be a folder or an organization',
    );
  }
  return `${type}s/${id}`;
}

const create: Handler = ({ body, caller }, world) => {
  const displayName = textOf(body['name']) ?? '';
  if (displayName !== '') checkDisplayName(displayName, 'name');
  const projectId = textOf(body['projectId']) ?? '';
  return createProject(
    world,
    caller,
    { projectId, displayName, parent: parentOf(body), labels: textRecord(body['labels']) },
    'v1',
  );
};

const idIn = (call: CloudCall): string => call.params['projectId'] ?? '';
const organizationIn = (call: CloudCall): string => call.params['resource'] ?? '';
const projectName = (call: CloudCall): string => `projects/${call.params['resource'] ?? ''}`;

const update: Handler = (call, world) => {
  const project = activeProject(world, idIn(call));
  if (call.body['parent'] !== undefined && parentOf(call.body) !== project.parent) {
    throw badRequest('Request contains an invalid argument.', 'project.parent', 'the parent cannot be changed');
  }
  changeProject(world, project, {
    displayName: textOf(call.body['name']),
    labels: textRecord(call.body['labels']),
  });
  return projectV1(project);
};

/** gcloud's list of projects: those the caller may see. It is eventually consistent. */
const list: Handler = (call, world) => {
  const matches = readProjectFilter(call.params['filter'] ?? '');
  const found = searchedProjects(world)
    .filter(
      (project) =>
        matches(project) &&
        world.policies.allows(call.caller, 'resourcemanager.projects.get', `projects/${project.projectId}`),
    )
    .map((project) => [project.projectId, project] as const);
  const { items, nextPageToken } = pageOf(found, numberOf(call.params['pageSize']), call.params['pageToken']);
  return {
    ...(items.length === 0 ? {} : { projects: items.map(projectV1) }),
    ...(nextPageToken === undefined ? {} : { nextPageToken }),
  };
};

const getAncestry: Handler = (call, world) => {
  const { projectId } = anyProject(world, idIn(call));
  return { ancestor: lineage(world, `projects/${projectId}`).map((name) => ({ resourceId: resourceId(name) })) };
};

const organizationV1 = ({ name, displayName, createTime }: ContainerRecord): JsonObject => ({
  name,
  displayName,
  lifecycleState: 'ACTIVE',
  owner: { directoryCustomerId: customerOf(name) },
  creationTime: createTime,
});

const organizations = (world: World) =>
  Object.values(world.table<ContainerRecord>('containers')).filter(({ name }) => name.startsWith('organizations/'));

const getOrganization: Handler = (call, world) => {
  const found = organizations(world).find(({ name }) => name === call.params['name']);
  if (found === undefined) throw new GoogleError(403, 'PERMISSION_DENIED', 'The caller does not have permission');
  return organizationV1(found);
};

const searchOrganizations: Handler = (call, world) => {
  const found = organizations(world).filter(({ name }) =>
    world.policies.allows(call.caller, 'resourcemanager.organizations.get', name),
  );
  return found.length === 0 ? {} : { organizations: found.map(organizationV1) };
};

export const resourceManagerV1: ApiDefinition<'cloudresourcemanager'> = {
  api: 'cloudresourcemanager.v1',
  denied: deniedPlainly,
  handlers: {
    ...lienHandlers,
    ...effectivePolicyHandlers,
    'cloudresourcemanager.projects.create': create,
    'cloudresourcemanager.projects.get': (call, world) => projectV1(anyProject(world, idIn(call))),
    'cloudresourcemanager.projects.update': update,
    'cloudresourcemanager.projects.list': list,
    'cloudresourcemanager.projects.delete': (call, world) => {
      deleteProject(world, activeProject(world, idIn(call)));
      return {};
    },
    'cloudresourcemanager.projects.undelete': (call, world) => {
      restoreProject(world, anyProject(world, idIn(call)));
      return {};
    },
    'cloudresourcemanager.projects.getAncestry': getAncestry,
    'cloudresourcemanager.projects.getIamPolicy': (call, world) => readPolicy(call, world, projectName(call)),
    'cloudresourcemanager.projects.setIamPolicy': (call, world) => writePolicy(call, world, projectName(call)),
    'cloudresourcemanager.projects.testIamPermissions': (call, world) =>
      testPermissions(call, world, projectName(call)),
    'cloudresourcemanager.operations.get': (call, world) => findOperation(world, call.params['name'] ?? ''),
    'cloudresourcemanager.organizations.get': getOrganization,
    'cloudresourcemanager.organizations.search': searchOrganizations,
    'cloudresourcemanager.organizations.getIamPolicy': (call, world) => readPolicy(call, world, organizationIn(call)),
    'cloudresourcemanager.organizations.setIamPolicy': (call, world) => writePolicy(call, world, organizationIn(call)),
    'cloudresourcemanager.organizations.testIamPermissions': (call, world) =>
      testPermissions(call, world, organizationIn(call)),
  },
  access: {
    ...lienAccess,
    ...effectivePolicyAccess,
    'cloudresourcemanager.projects.create': ({ body }) => {
      const parent = parentOf(body);
      return parent === '' ? [] : [{ permission: 'resourcemanager.projects.create', resource: parent }];
    },
    'cloudresourcemanager.projects.list': () => [],
    'cloudresourcemanager.projects.getAncestry': (call) => [
      { permission: 'resourcemanager.projects.get', resource: `projects/${idIn(call)}` },
    ],
    'cloudresourcemanager.organizations.search': () => [],
    'cloudresourcemanager.operations.get': () => [],
  },
};
