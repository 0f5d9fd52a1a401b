/** Projects as records: finds them by id or number, with Google's refusals. */
import { GoogleError, type ProjectRecord, type World } from './api.js';
import { errorInfo, serviceDisabled } from './errors.js';

/** A folder or an organization. */
export interface ContainerRecord {
  name: string;
  displayName: string;
  parent?: string;
  createTime: string;
}

export const projectTable = (world: World): Record<string, ProjectRecord> => world.table<ProjectRecord>('projects');

export function lookUpProject(world: World, idOrNumber: string): ProjectRecord | undefined {
  const table = projectTable(world);
  if (Object.hasOwn(table, idOrNumber)) return table[idOrNumber];
  if (!/^\d+$/.test(idOrNumber)) return undefined;
  return Object.values(table).find(({ projectNumber }) => projectNumber === idOrNumber);
}

/** 12 digits. */
export const newProjectNumber = (world: World): string => `4${world.id().slice(-11)}`;

/** `projects/<number>/…` → `projects/<id>/…`, because policies are stored by id. */
export function withProjectId(world: World, resource: string): string {
  const [kind, name, ...rest] = resource.split('/');
  if (kind !== 'projects' || name === undefined || !/^\d+$/.test(name)) return resource;
  return [kind, lookUpProject(world, name)?.projectId ?? name, ...rest].join('/');
}

const denied = (project: string, message: string): GoogleError =>
  new GoogleError(403, 'PERMISSION_DENIED', message, {
    reason: 'forbidden',
    details: [errorInfo('CONSUMER_INVALID', 'googleapis.com', { consumer: `projects/${project}` })],
  });

/** Google gives the same answer for a project that does not exist and for one that is not ours. */
export function findProject(
  world: World,
  idOrNumber: string,
  needs: { readonly service?: string; readonly billing?: boolean } = {},
): ProjectRecord {
  const project = lookUpProject(world, idOrNumber);
  if (project === undefined) throw denied(idOrNumber, `Permission denied on resource project ${idOrNumber}.`);
  if (project.state !== 'ACTIVE') throw denied(idOrNumber, `Project #${project.projectNumber} has been deleted.`);
  if (needs.service !== undefined && !isServiceUsable(world, project, needs.service)) {
    throw serviceDisabled(needs.service, titleOf(world, needs.service), project.projectNumber);
  }
  if (needs.billing === true && project.billingAccountName === undefined) throw billingDisabled(project);
  return project;
}

/** The name Google shows to people. */
export const titleOf = (world: World, service: string): string => world.services[service]?.title ?? service;

export const isServiceUsable = (world: World, project: ProjectRecord, service: string): boolean =>
  (project.services[service] ?? Number.POSITIVE_INFINITY) <= world.now();

function billingDisabled({ projectNumber }: ProjectRecord): GoogleError {
  const url = `https://console.developers.google.com/billing/enable?project=${projectNumber}`;
  return new GoogleError(
    403,
    'PERMISSION_DENIED',
    `This API method requires billing to be enabled. Please enable billing on project #${projectNumber} by visiting ${url} then retry. If you enabled billing for this project recently, wait a few minutes for the action to propagate to our systems and retry.`,
    {
      reason: 'billingNotEnabled',
      details: [errorInfo('BILLING_DISABLED', 'googleapis.com', { consumer: `projects/${projectNumber}` })],
    },
  );
}
