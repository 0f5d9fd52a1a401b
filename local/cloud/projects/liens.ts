/** Liens, which protect a project from deletion. gcloud creates, lists and deletes them in v1, and plinth lists them in v3. */
import {
  type Access,
  type ApiDefinition,
  type CloudCall,
  GoogleError,
  type Handler,
  type JsonObject,
  type World,
} from '../kernel/api.js';
import { badRequest } from '../kernel/errors.js';
import { stampOf, textOf, textsOf } from '../kernel/json-fields.js';
import { pageReply } from '../kernel/pages.js';
import { anyProject, type LienRecord, liens } from './changes.js';

const projectOf = (world: World, parent: string) => {
  const [kind, id] = parent.split('/');
  if (kind !== 'projects' || id === undefined || id === '') {
    throw badRequest('Request contains an invalid argument.', 'parent', 'parent must be projects/<number>');
  }
  return anyProject(world, id);
};

const create: Handler = ({ body }, world) => {
  const restrictions = textsOf(body['restrictions']);
  if (
    restrictions.length === 0 ||
    restrictions.some((restriction) => restriction !== 'resourcemanager.projects.delete')
  ) {
    throw badRequest(
      'Request contains an invalid argument.',
      'lien.restrictions',
      'only resourcemanager.projects.delete can be restricted',
    );
  }
  const [reason, origin] = [textOf(body['reason']) ?? '', textOf(body['origin']) ?? ''];
  if (reason === '' || reason.length > 200)
    throw badRequest('Request contains an invalid argument.', 'lien.reason', 'reason must have 1 to 200 characters');
  if (origin === '' || origin.length > 200)
    throw badRequest('Request contains an invalid argument.', 'lien.origin', 'origin must have 1 to 200 characters');
  const { projectNumber } = projectOf(world, textOf(body['parent']) ?? '');
  const lien: LienRecord = {
    name: `liens/p${projectNumber}-l${world.id()}`,
    parent: `projects/${projectNumber}`,
    restrictions,
    reason,
    origin,
    createTime: stampOf(world),
  };
  liens(world)[lien.name] = lien;
  return shown(lien);
};

const shown = (lien: LienRecord): JsonObject => ({ ...lien, restrictions: [...lien.restrictions] });

function find(call: CloudCall, world: World): LienRecord {
  const lien = liens(world)[call.params['name'] ?? ''];
  if (lien === undefined) throw new GoogleError(404, 'NOT_FOUND', 'Requested entity was not found.');
  return lien;
}

export const listLiens: Handler = (call, world) => {
  const { projectNumber } = projectOf(world, call.params['parent'] ?? '');
  const found = Object.entries(liens(world)).filter(([, { parent }]) => parent === `projects/${projectNumber}`);
  return pageReply(
    call,
    'liens',
    found.map(([name, lien]) => [name, shown(lien)]),
  );
};

export const lienHandlers: Readonly<Record<string, Handler>> = {
  'cloudresourcemanager.liens.create': create,
  'cloudresourcemanager.liens.list': listLiens,
  'cloudresourcemanager.liens.delete': (call, world) => {
    delete liens(world)[find(call, world).name];
    return {};
  },
};

const on = (permission: string, resource: string): readonly Access[] =>
  resource === '' ? [] : [{ permission, resource }];

export const accessOfLiens = ({ params }: CloudCall): readonly Access[] =>
  on('resourcemanager.projects.get', params['parent'] ?? '');

export const lienAccess: NonNullable<ApiDefinition['access']> = {
  'cloudresourcemanager.liens.create': ({ body }) =>
    on('resourcemanager.projects.updateLiens', textOf(body['parent']) ?? ''),
  'cloudresourcemanager.liens.list': accessOfLiens,
  'cloudresourcemanager.liens.delete': (call, world) =>
    on('resourcemanager.projects.updateLiens', find(call, world).parent),
};
