/** Resource Manager v1, which gcloud and Terraform use along with v3: the same projects in the older form, and liens. */

import type { ApiDefinition, CloudCall, Handler, JsonObject } from '../kernel/api.js';
import { badRequest, deniedPlainly } from '../kernel/errors.js';
import { objectOf, textOf } from '../kernel/json-fields.js';
import { findOperation } from '../kernel/long-running.js';
import { pageReply } from '../kernel/pages.js';
import { readPolicy, testPermissions, writePolicy } from '../kernel/policy-methods.js';
import {
  activeProject,
  anyProject,
  changeProject,
  checkDisplayName,
  createProject,
  deleteProject,
  projectV1,
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
    .map((project) => [project.projectId, projectV1(project)] as const);
  return pageReply(call, 'projects', found);
};

export const resourceManagerV1: ApiDefinition<'cloudresourcemanager'> = {
  api: 'cloudresourcemanager.v1',
  denied: deniedPlainly,
  handlers: {
    ...lienHandlers,
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
    'cloudresourcemanager.projects.getIamPolicy': (call, world) => readPolicy(call, world, projectName(call)),
    'cloudresourcemanager.projects.setIamPolicy': (call, world) => writePolicy(call, world, projectName(call)),
    'cloudresourcemanager.projects.testIamPermissions': (call, world) =>
      testPermissions(call, world, projectName(call)),
    'cloudresourcemanager.operations.get': (call, world) => findOperation(world, call.params['name'] ?? ''),
    'cloudresourcemanager.organizations.getIamPolicy': (call, world) => readPolicy(call, world, organizationIn(call)),
    'cloudresourcemanager.organizations.setIamPolicy': (call, world) => writePolicy(call, world, organizationIn(call)),
  },
  access: {
    ...lienAccess,
    'cloudresourcemanager.projects.create': ({ body }) => {
      const parent = parentOf(body);
      return parent === '' ? [] : [{ permission: 'resourcemanager.projects.create', resource: parent }];
    },
    'cloudresourcemanager.projects.list': () => [],
    'cloudresourcemanager.operations.get': () => [],
  },
};
