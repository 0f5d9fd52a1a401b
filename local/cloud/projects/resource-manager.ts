/** Resource Manager v3: projects, folders, organizations, liens and their policies. */

import { readPolicy, writePolicy } from '../iam/policy-methods.js';
import { testPermissions } from '../iam/test-permissions.js';
import {
  type Access,
  type ApiDefinition,
  type CloudCall,
  GoogleError,
  type Handler,
  type JsonObject,
  type ProjectRecord,
  type World,
} from '../kernel/api.js';
import { badRequest } from '../kernel/errors.js';
import { numberOf, textOf } from '../kernel/json-fields.js';
import { findOperation } from '../kernel/long-running.js';
import { pageOf } from '../kernel/pages.js';
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
  restoreProject,
  searchedProjects,
  textRecord,
} from './changes.js';
import { lienAccess, lienHandlers } from './liens.js';
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

const maskPaths: Readonly<Record<string, 'labels' | 'displayName'>> = {
  labels: 'labels',
  displayName: 'displayName',
  display_name: 'displayName',
};

const patch: Handler = (call, world) => {
  const project = activeProject(world, idIn(call));
  const { body } = call;
  const mask = (call.params['updateMask'] ?? '').split(',').filter((path) => path !== '');
  for (const path of mask) {
    if (path !== '*' && maskPaths[path] === undefined) {
      throw badRequest('Request contains an invalid argument.', 'update_mask', `${path} cannot be updated`);
    }
  }
  const all = mask.length === 0 || mask.includes('*');
  const named = new Set(mask.map((path) => maskPaths[path]));
  changeProject(world, project, {
    etag: textOf(body['etag']),
    displayName:
      named.has('displayName') || (all && body['displayName'] !== undefined)
        ? (textOf(body['displayName']) ?? '')
        : undefined,
    labels: named.has('labels') || (all && body['labels'] !== undefined) ? textRecord(body['labels']) : undefined,
  });
  return projectOperation(world, project, 'up', 'UpdateProjectMetadata');
};

const page = (call: CloudCall, name: string, entries: readonly (readonly [string, JsonObject])[]): JsonObject => {
  const { items, nextPageToken } = pageOf(entries, numberOf(call.params['pageSize']), call.params['pageToken']);
  return {
    ...(items.length === 0 ? {} : { [name]: items }),
    ...(nextPageToken === undefined ? {} : { nextPageToken }),
  };
};

const shown = (projects: readonly ProjectRecord[]) =>
  projects.map((project) => [project.projectId, projectV3(project)] as const);

/** Strongly consistent, unlike search. */
const list: Handler = (call, world) => {
  const { parent = '', showDeleted = 'false' } = call.params;
  if (!containerName.test(parent)) throw badRequest('Request contains an invalid argument.', 'parent');
  const found = Object.values(projectTable(world)).filter(
    (project) => project.parent === parent && (project.state === 'ACTIVE' || showDeleted === 'true'),
  );
  return page(call, 'projects', shown(found));
};

const search: Handler = (call, world) => {
  const matches = readProjectFilter(call.params['query'] ?? '');
  const found = searchedProjects(world).filter(
    (project) =>
      matches(project) &&
      world.policies.allows(call.caller, 'resourcemanager.projects.get', `projects/${project.projectId}`),
  );
  return page(call, 'projects', shown(found));
};

const containers = (world: World, kind: 'folders' | 'organizations'): [string, ContainerRecord][] =>
  Object.entries(world.table<ContainerRecord>('containers')).filter(([name]) => name.startsWith(`${kind}/`));

const containerV3 = ({ name, displayName, parent, createTime }: ContainerRecord): JsonObject => ({
  name,
  displayName,
  ...(parent === undefined ? { directoryCustomerId: customerOf(name) } : { parent }),
  state: 'ACTIVE',
  createTime,
  updateTime: createTime,
  etag: `W/"${Buffer.from(name).toString('base64').slice(0, 16)}"`,
});

const getContainer: Handler = (call, world) => {
  const record = world.table<ContainerRecord>('containers')[call.params['name'] ?? ''];
  if (record === undefined) throw new GoogleError(403, 'PERMISSION_DENIED', 'The caller does not have permission');
  return containerV3(record);
};

const listFolders: Handler = (call, world) => {
  if (!containerName.test(call.params['parent'] ?? '')) {
    throw badRequest('Request contains an invalid argument.', 'parent');
  }
  const found = containers(world, 'folders').filter(([, { parent }]) => parent === call.params['parent']);
  return page(
    call,
    'folders',
    found.map(([name, record]) => [name, containerV3(record)]),
  );
};

const searchContainers =
  (kind: 'folders' | 'organizations'): Handler =>
  (call, world) => {
    const found = containers(world, kind).filter(([name]) =>
      world.policies.allows(call.caller, `resourcemanager.${kind}.get`, name),
    );
    return page(
      call,
      kind,
      found.map(([name, record]) => [name, containerV3(record)]),
    );
  };

const policyHandlers = Object.fromEntries(
  ['projects', 'folders', 'organizations'].flatMap((kind): [string, Handler][] => [
    [
      `cloudresourcemanager.${kind}.getIamPolicy`,
      (call, world) => readPolicy(call, world, call.params['resource'] ?? ''),
    ],
    [
      `cloudresourcemanager.${kind}.setIamPolicy`,
      (call, world) => writePolicy(call, world, call.params['resource'] ?? ''),
    ],
    [
      `cloudresourcemanager.${kind}.testIamPermissions`,
      (call, world) => testPermissions(call, world, call.params['resource'] ?? ''),
    ],
  ]),
);

const onParent = (permission: string, call: CloudCall): readonly Access[] => {
  const parent = textOf(call.body['parent']) ?? call.params['parent'] ?? '';
  // The handler refuses names of unknown form.
  return containerName.test(parent) ? [{ permission, resource: parent }] : [];
};

export const resourceManager: ApiDefinition<'cloudresourcemanager'> = {
  api: 'cloudresourcemanager.v3',
  handlers: {
    ...policyHandlers,
    ...lienHandlers,
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
    'cloudresourcemanager.projects.undelete': (call, world) => {
      const project = anyProject(world, idIn(call));
      restoreProject(world, project);
      return projectOperation(world, project, 'udp', 'UndeleteProjectMetadata');
    },
    'cloudresourcemanager.operations.get': (call, world) => findOperation(world, call.params['name'] ?? ''),
    'cloudresourcemanager.folders.get': getContainer,
    'cloudresourcemanager.folders.list': listFolders,
    'cloudresourcemanager.folders.search': searchContainers('folders'),
    'cloudresourcemanager.organizations.get': getContainer,
    'cloudresourcemanager.organizations.search': searchContainers('organizations'),
  },
  effects: projectEffects,
  access: {
    ...lienAccess,
    'cloudresourcemanager.projects.create': (call) => onParent('resourcemanager.projects.create', call),
    'cloudresourcemanager.projects.list': (call) => onParent('resourcemanager.projects.list', call),
    'cloudresourcemanager.folders.list': (call) => onParent('resourcemanager.folders.list', call),
    // These show only what the caller may see, so they need no permission.
    'cloudresourcemanager.projects.search': () => [],
    'cloudresourcemanager.folders.search': () => [],
    'cloudresourcemanager.organizations.search': () => [],
    'cloudresourcemanager.operations.get': () => [],
  },
};
