/** Creates, changes, deletes and restores projects. Both versions of Resource Manager share these rules. */

import { powerOff } from '../compute/instance-life.js';
import { grantAtOnce, memberOf } from '../iam/policies.js';
import {
  type Caller,
  type Effect,
  GoogleError,
  type Json,
  type JsonObject,
  type ProjectRecord,
  type World,
} from '../kernel/api.js';
import { badRequest, preconditionFailed, quotaFailure } from '../kernel/errors.js';
import { objectOf, stampOf, textOf } from '../kernel/json-fields.js';
import { beginOperation, endOperation, operationName, typed } from '../kernel/long-running.js';
import { lookUpProject, newProjectNumber, projectTable } from '../kernel/projects.js';
import { delayOf } from '../worlds/settings.js';

const retentionDays = 30;

/** The form in which an operation shows a project. The versions differ. */
export type ProjectForm = 'v1' | 'v3';

export interface LienRecord {
  name: string;
  parent: string;
  restrictions: string[];
  reason: string;
  origin: string;
  createTime: string;
}

export const liens = (world: World): Record<string, LienRecord> => world.table<LienRecord>('liens');

/** Ids of projects that are being made. An id stays taken for good once its project existed. */
const makings = (world: World): Record<string, string> => world.table<string>('projects.making');

/** What search still shows of a project that was just made or changed. Without a record it shows nothing. */
interface Indexed {
  record?: ProjectRecord;
  /** Milliseconds since the epoch. */
  until: number;
}
const indexed = (world: World): Record<string, Indexed> => world.table<Indexed>('projects.indexed');

/** Keeps the project as it was before a change, for search. */
function keepIndexed(world: World, projectId: string, record?: ProjectRecord): void {
  const known = indexed(world)[projectId];
  if (known !== undefined && known.until > world.now()) return;
  indexed(world)[projectId] = {
    ...(record === undefined ? {} : { record: structuredClone(record) }),
    // Search lags behind. A list does not.
    until: world.now() + world.scaled(delayOf(world, 'projectSearch')),
  };
}

/** Projects as search sees them. It catches up with the truth after a while. */
export function searchedProjects(world: World): ProjectRecord[] {
  return Object.values(projectTable(world)).flatMap((project) => {
    const known = indexed(world)[project.projectId];
    if (known === undefined || known.until <= world.now()) return [project];
    return known.record ?? [];
  });
}

const issue = (field: string, what: string): GoogleError =>
  badRequest(`field [${field}] has issue [${field} ${what}]`, field, `${field} ${what}`);

function checkProjectId(id: string): void {
  if (id.length < 6) throw issue('project_id', 'must be at least 6 characters long');
  if (id.length > 30) throw issue('project_id', 'must be at most 30 characters long');
  if (!/^[a-z]/.test(id)) throw issue('project_id', 'must start with a lowercase letter');
  if (!/^[a-z0-9-]+$/.test(id)) throw issue('project_id', 'contains invalid characters');
  if (id.endsWith('-')) throw issue('project_id', 'must not end with a hyphen');
  if (/google|ssl/.test(id)) throw issue('project_id', 'contains a restricted string');
}

export function checkDisplayName(name: string, field = 'display_name'): void {
  if (name.length < 4) throw issue(field, 'must be at least 4 characters long');
  if (name.length > 30) throw issue(field, 'must be at most 30 characters long');
  if (!/^[A-Za-z0-9'" !-]+$/.test(name)) throw issue(field, 'contains invalid characters');
}

function checkLabels(labels: Readonly<Record<string, string>>): void {
  if (Object.keys(labels).length > 64) throw issue('labels', 'has more than 64 entries');
  for (const [key, value] of Object.entries(labels)) {
    if (!/^[a-z][a-z0-9_-]{0,62}$/.test(key)) throw issue('labels', `has an invalid key: ${key}`);
    if (!/^[a-z0-9_-]{0,63}$/.test(value)) throw issue('labels', `has an invalid value: ${value}`);
  }
}

export interface NewProject {
  readonly projectId: string;
  readonly displayName: string;
  /** `folders/…` or `organizations/…`; `''` for none. */
  readonly parent: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Begins to make a project. Until the operation is done it looks like one that does not exist. */
export function createProject(world: World, caller: Caller, project: NewProject, form: ProjectForm): JsonObject {
  checkProjectId(project.projectId);
  checkLabels(project.labels);
  if (project.parent === '' && caller.kind === 'serviceAccount') {
    throw new GoogleError(403, 'PERMISSION_DENIED', 'Service accounts cannot create projects without a parent.');
  }
  if (project.parent !== '' && world.table('containers')[project.parent] === undefined) {
    throw new GoogleError(403, 'PERMISSION_DENIED', 'The caller does not have permission');
  }
  const taken = projectTable(world)[project.projectId] ?? makings(world)[project.projectId];
  if (taken !== undefined) throw new GoogleError(409, 'ALREADY_EXISTS', 'Requested entity already exists');
  const name = operationName('cp', world);
  makings(world)[project.projectId] = name;
  const operation = beginOperation(world, name, creationMetadata(form, stampOf(world), false));
  world.schedule(delayOf(world, 'project'), 'projects.create', {
    name,
    form,
    project: { ...project, labels: { ...project.labels } },
    caller: { ...caller },
  });
  return operation;
}

const creationMetadata = (form: ProjectForm, createTime: string, ready: boolean): JsonObject =>
  form === 'v3'
    ? typed('google.cloud.resourcemanager.v3.CreateProjectMetadata', { createTime, gettable: ready, ready })
    : typed('google.cloudresourcemanager.v1.ProjectCreationStatus', { createTime, gettable: ready, ready });

const finishCreation: Effect = (args, world) => {
  const name = textOf(args['name']) ?? '';
  const form = args['form'] as ProjectForm;
  const project = objectOf(args['project']) as unknown as NewProject;
  const caller = objectOf(args['caller']) as unknown as Caller;
  delete makings(world)[project.projectId];
  const limit = world.quota('-', caller.email, 'projects');
  const held = Object.values(projectTable(world)).filter(
    (other) => other.creator === caller.email && countsAgainstQuota(other, world),
  );
  if (held.length >= limit) {
    const message = 'The project cannot be created because you have exceeded your allotted project quota.';
    endOperation(world, name, { error: { code: 8, message, details: [quotaFailure(memberOf(caller), message)] } });
    return;
  }
  const now = stampOf(world);
  const record: ProjectRecord = {
    projectId: project.projectId,
    projectNumber: newProjectNumber(world),
    displayName: project.displayName === '' ? project.projectId : project.displayName,
    parent: project.parent,
    state: 'ACTIVE',
    labels: { ...project.labels },
    etag: freshEtag(world),
    createTime: now,
    updateTime: now,
    creator: caller.email,
    services: {},
  };
  projectTable(world)[project.projectId] = record;
  keepIndexed(world, project.projectId);
  grantAtOnce(world, `projects/${project.projectId}`, [{ role: 'roles/owner', members: [memberOf(caller)] }]);
  endOperation(world, name, { response: typedProject(record, form) });
  const operation = world.table('operations')[name];
  if (operation !== undefined) operation['metadata'] = creationMetadata(form, now, true);
};

/** Deleted projects still count for 30 days. */
const countsAgainstQuota = ({ state, deleteTime }: ProjectRecord, world: World): boolean =>
  state === 'ACTIVE' || Date.parse(deleteTime ?? '') > world.now() - retentionDays * 86_400_000;

const freshEtag = (world: World): string => `W/"${Buffer.from(world.id()).toString('base64').slice(0, 16)}"`;

const typedProject = (record: ProjectRecord, form: ProjectForm): JsonObject =>
  form === 'v3'
    ? typed('google.cloud.resourcemanager.v3.Project', projectV3(record))
    : typed('google.cloudresourcemanager.v1.Project', projectV1(record));

export const projectV3 = (record: ProjectRecord): JsonObject => ({
  name: `projects/${record.projectNumber}`,
  ...(record.parent === '' ? {} : { parent: record.parent }),
  projectId: record.projectId,
  state: record.state,
  displayName: record.displayName,
  createTime: record.createTime,
  updateTime: record.updateTime,
  ...(record.deleteTime === undefined ? {} : { deleteTime: record.deleteTime }),
  etag: record.etag,
  ...(Object.keys(record.labels).length === 0 ? {} : { labels: { ...record.labels } }),
});

export const projectV1 = (record: ProjectRecord): JsonObject => ({
  projectNumber: record.projectNumber,
  projectId: record.projectId,
  lifecycleState: record.state,
  name: record.displayName,
  createTime: record.createTime,
  ...(record.parent === '' ? {} : { parent: resourceId(record.parent) }),
  ...(Object.keys(record.labels).length === 0 ? {} : { labels: { ...record.labels } }),
});

/** `folders/1` → `{ type: "folder", id: "1" }`. */
function resourceId(name: string): JsonObject {
  const [kind = '', id = ''] = name.split('/');
  return { type: kind.replace(/s$/, ''), id };
}

/** Finds a project, including one that is being deleted: that can still be seen and restored. */
export function anyProject(world: World, idOrNumber: string): ProjectRecord {
  const project = lookUpProject(world, idOrNumber);
  if (project === undefined) throw new GoogleError(403, 'PERMISSION_DENIED', 'The caller does not have permission');
  return project;
}

export function activeProject(world: World, idOrNumber: string): ProjectRecord {
  const project = anyProject(world, idOrNumber);
  if (project.state === 'ACTIVE') return project;
  throw preconditionFailed('Precondition check failed.', {
    type: 'STATE',
    subject: `projects/${project.projectNumber}`,
    description: 'The project is not active.',
  });
}

export interface ProjectChange {
  readonly displayName?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly etag?: string | undefined;
}

export function changeProject(
  world: World,
  project: ProjectRecord,
  { displayName, labels, etag }: ProjectChange,
): void {
  if (etag !== undefined && etag !== '' && etag !== project.etag) {
    throw new GoogleError(
      409,
      'ABORTED',
      `The etag provided (${etag}) does not match the current etag of the project.`,
    );
  }
  if (displayName !== undefined) checkDisplayName(displayName);
  if (labels !== undefined) checkLabels(labels);
  keepIndexed(world, project.projectId, project);
  if (displayName !== undefined) project.displayName = displayName;
  if (labels !== undefined) project.labels = { ...labels };
  project.etag = freshEtag(world);
  project.updateTime = stampOf(world);
}

export function deleteProject(world: World, project: ProjectRecord): void {
  const lien = Object.values(liens(world)).find(
    ({ parent, restrictions }) =>
      parent === `projects/${project.projectNumber}` && restrictions.includes('resourcemanager.projects.delete'),
  );
  if (lien !== undefined) {
    throw preconditionFailed(
      `A lien to prevent deletion was placed on the project by [${lien.origin}]. Remove the lien to allow deletion.`,
      { type: 'LIEN', subject: `liens/${lien.name.slice('liens/'.length)}`, description: lien.reason },
    );
  }
  keepIndexed(world, project.projectId, project);
  project.state = 'DELETE_REQUESTED';
  project.deleteTime = stampOf(world);
  shutDown(world, project);
  project.updateTime = project.deleteTime;
  project.etag = freshEtag(world);
}

export function restoreProject(world: World, project: ProjectRecord): void {
  if (project.state === 'ACTIVE') {
    throw preconditionFailed('Precondition check failed.', {
      type: 'STATE',
      subject: `projects/${project.projectNumber}`,
      description: 'The project is active.',
    });
  }
  if (Date.parse(project.deleteTime ?? '') <= world.now() - retentionDays * 86_400_000) {
    throw new GoogleError(403, 'PERMISSION_DENIED', 'The caller does not have permission');
  }
  keepIndexed(world, project.projectId, project);
  project.state = 'ACTIVE';
  delete project.deleteTime;
  project.updateTime = stampOf(world);
  project.etag = freshEtag(world);
}

/** Stops everything that runs in a project that is deleted or has no billing. It does not start again by itself. */
export const shutDown = (world: World, { projectId }: ProjectRecord): void =>
  world.schedule(delayOf(world, 'projectDeletion'), 'projects.shutDown', { project: projectId });

/**
 * An operation that shows the project as it is when the operation ends. An update takes 1 cloud second, the others as long as
 * a deletion.
 */
export function projectOperation(world: World, project: ProjectRecord, prefix: string, metadata: string): JsonObject {
  const name = operationName(prefix, world);
  const operation = beginOperation(world, name, typed(`google.cloud.resourcemanager.v3.${metadata}`, {}));
  world.schedule(prefix === 'up' ? 1 : delayOf(world, 'projectDeletion'), 'projects.settle', {
    name,
    project: project.projectId,
  });
  return operation;
}

export const projectEffects: Readonly<Record<string, Effect>> = {
  'projects.create': finishCreation,
  'projects.shutDown': (args, world) => {
    const project = lookUpProject(world, textOf(args['project']) ?? '');
    if (project === undefined || (project.state === 'ACTIVE' && project.billingAccountName !== undefined)) return;
    powerOff(world, project.projectId);
  },
  'projects.settle': (args, world) => {
    const project = lookUpProject(world, textOf(args['project']) ?? '');
    if (project !== undefined)
      endOperation(world, textOf(args['name']) ?? '', { response: typedProject(project, 'v3') });
  },
};

export const textRecord = (value: Json | undefined): Record<string, string> =>
  Object.fromEntries(Object.entries(objectOf(value) ?? {}).map(([key, text]) => [key, String(text)]));
