/** Resource Manager v3: projects with their policies, and what folders and organizations let a caller do. */

import type { ApiDefinition, CloudCall, Handler, JsonObject } from '../kernel/api.js';
import { badRequest } from '../kernel/errors.js';
import { maskOf } from '../kernel/field-mask.js';
import { textOf } from '../kernel/json-fields.js';
import { findOperation } from '../kernel/long-running.js';
import { pageReply } from '../kernel/pages.js';
import { readPolicy, testPermissions, writePolicy } from '../kernel/policy-methods.js';
import type { ContainerRecord } from '../kernel/projects.js';
import { projectTable } from '../kernel/projects.js';
import { customerOf } from '../org-policy/policies.js';
import {
  activeProject,
  anyProject,
  changeProject,
  checkDisplayName,
  createProject,
  deleteProject,
  projectEffects,
  projectOperation,
  projectV3,
  searchedProjects,
  textRecord,
} from './changes.js';
import { accessOfLiens, listLiens } from './liens.js';
import { readProjectFilter } from './search.js';

const containerName = /^(folders|organizations)\/\d+$/;

/** The id in `projects/<id>`. */
const idIn = (call: CloudCall, name = 'name'): string => (call.params[name] ?? '').split('/')[1] ?? '';

const create: Handler = ({ body, caller }, world) => {
  const displayName = textOf(body['displayName']) ?? '';
  if (displayName !== '') checkDisplayName(displayName);
  const parent = textOf(body['parent']) ?? '';
  if (parent !== '' && !containerName.test(parent)) {
    throw badRequest(
      'Request contains an invalid argument.',
      'parent',
      'parent must be folders/<number> or organizations/<number>',
    );
  }
  const projectId = textOf(body['projectId']) ?? '';
  return createProject(world, caller, { projectId, displayName, parent, labels: textRecord(body['labels']) }, 'v3');
};

const patch: Handler = (call, world) => {
  const project = activeProject(world, idIn(call));
  const { body } = call;
  const mask = maskOf(call) ?? ['*'];
  const fixed = mask.find((path) => !['*', 'labels', 'displayName'].includes(path));
  if (fixed !== undefined) {
    throw badRequest('Request contains an invalid argument.', 'update_mask', `${fixed} cannot be updated`);
  }
  const changes = (field: string) => mask.includes(field) || (mask.includes('*') && body[field] !== undefined);
  changeProject(world, project, {
    etag: textOf(body['etag']),
    displayName: changes('displayName') ? (textOf(body['displayName']) ?? '') : undefined,
    labels: changes('labels') ? textRecord(body['labels']) : undefined,
  });
  return projectOperation(world, project, 'up', 'UpdateProjectMetadata');
};

const list: Handler = (call, world) => {
  const { parent = '', showDeleted = 'false' } = call.params;
  if (!containerName.test(parent)) throw badRequest('Request contains an invalid argument.', 'parent');
  const found = Object.values(projectTable(world)).filter(
    (project) => project.parent === parent && (project.state === 'ACTIVE' || showDeleted === 'true'),
  );
  return pageReply(
    call,
    'projects',
    found.map((project) => [project.projectId, projectV3(project)]),
  );
};

const search: Handler = (call, world) => {
  const matches = readProjectFilter(call.params['query'] ?? '');
  const found = searchedProjects(world).filter(
    (project) =>
      matches(project) &&
      world.policies.allows(call.caller, 'resourcemanager.projects.get', `projects/${project.projectId}`),
  );
  return pageReply(
    call,
    'projects',
    found.map((project) => [project.projectId, projectV3(project)]),
  );
};

const organizationV3 = ({ name, displayName, createTime }: ContainerRecord): JsonObject => ({
  name,
  displayName,
  directoryCustomerId: customerOf(name),
  state: 'ACTIVE',
  createTime,
  updateTime: createTime,
  etag: `W/"${Buffer.from(name).toString('base64').slice(0, 16)}"`,
});

const searchOrganizations: Handler = (call, world) => {
  const found = Object.values(world.table<ContainerRecord>('containers')).filter(
    ({ name }) =>
      name.startsWith('organizations/') &&
      world.policies.allows(call.caller, 'resourcemanager.organizations.get', name),
  );
  return pageReply(
    call,
    'organizations',
    found.map((record) => [record.name, organizationV3(record)]),
  );
};

const resourceIn = (call: CloudCall): string => call.params['resource'] ?? '';

const tested = Object.fromEntries(
  ['projects', 'folders', 'organizations'].map((kind): [string, Handler] => [
    `cloudresourcemanager.${kind}.testIamPermissions`,
    (call, world) => testPermissions(call, world, resourceIn(call)),
  ]),
);

/** Those of organizations are only in v1 here. */
const policies = Object.fromEntries(
  ['projects', 'folders'].flatMap((kind): [string, Handler][] => [
    [`cloudresourcemanager.${kind}.getIamPolicy`, (call, world) => readPolicy(call, world, resourceIn(call))],
    [`cloudresourcemanager.${kind}.setIamPolicy`, (call, world) => writePolicy(call, world, resourceIn(call))],
  ]),
);

export const resourceManager: ApiDefinition<'cloudresourcemanager'> = {
  api: 'cloudresourcemanager.v3',
  handlers: {
    ...tested,
    ...policies,
    'cloudresourcemanager.projects.create': create,
    'cloudresourcemanager.projects.get': (call, world) => projectV3(anyProject(world, idIn(call))),
    'cloudresourcemanager.projects.patch': patch,
    'cloudresourcemanager.projects.list': list,
    'cloudresourcemanager.projects.search': search,
    'cloudresourcemanager.projects.delete': (call, world) => {
      const project = activeProject(world, idIn(call));
      deleteProject(world, project);
      return projectOperation(world, project, 'dp', 'DeleteProjectMetadata');
    },
    'cloudresourcemanager.operations.get': (call, world) => findOperation(world, call.params['name'] ?? ''),
    'cloudresourcemanager.organizations.search': searchOrganizations,
    'cloudresourcemanager.liens.list': listLiens,
  },
  effects: projectEffects,
  access: {
    'cloudresourcemanager.liens.list': accessOfLiens,
    'cloudresourcemanager.projects.list': ({ params: { parent = '' } }) => [
      { permission: 'resourcemanager.projects.list', resource: parent },
    ],
    'cloudresourcemanager.projects.create': ({ body }) => {
      const parent = textOf(body['parent']) ?? '';
      // The handler refuses names of unknown form.
      return containerName.test(parent) ? [{ permission: 'resourcemanager.projects.create', resource: parent }] : [];
    },
    // These show only what the caller may see, so they need no permission.
    'cloudresourcemanager.projects.search': () => [],
    'cloudresourcemanager.organizations.search': () => [],
    'cloudresourcemanager.operations.get': () => [],
  },
};
