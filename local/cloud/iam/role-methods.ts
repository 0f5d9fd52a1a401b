/** The IAM API's methods on Google's predefined roles. */
import { GoogleError, type Handler, type JsonObject } from '../kernel/api.js';
import { notSimulated } from '../kernel/errors.js';
import { numberOf, textOf } from '../kernel/json-fields.js';
import { pageOf } from '../kernel/pages.js';
import { resourceOf } from './full-names.js';
import { mayBeBound } from './policy-checks.js';
import { permissionsOfPredefined, predefinedRoleNames, titleOfPredefined } from './predefined-roles.js';

type View = 'BASIC' | 'FULL';

/** Google's answer, as far as the data knows it. */
function shown(name: string, view: View): JsonObject {
  const title = titleOfPredefined(name);
  const permissions = permissionsOfPredefined(name);
  const plain = { name, ...(title === undefined ? {} : { title, stage: stageOf(title) }), etag: 'AA==' };
  if (view === 'BASIC') return plain;
  if (permissions === undefined) throw notSimulated(`the permissions of ${name}`);
  return { ...plain, includedPermissions: [...permissions].sort() };
}

/** The data has no stages, but some titles tell. */
const stageOf = (title: string): string =>
  title.endsWith('(beta)') ? 'BETA' : title.startsWith('(Deprecated)') ? 'DEPRECATED' : 'GA';

export const getRole: Handler = ({ params }) => {
  const name = params['name'] ?? '';
  if (!predefinedRoleNames().has(name)) {
    throw new GoogleError(404, 'NOT_FOUND', `The role named ${name} was not found.`, { reason: 'notFound' });
  }
  return shown(name, 'FULL');
};

const page = (
  names: readonly string[],
  view: string | undefined,
  size: number | undefined,
  token: string | undefined,
) => {
  const entries = names.map((name) => [name, name] as const);
  const { items, nextPageToken } = pageOf(entries, Math.min(size || 300, 1000), token);
  return {
    ...(items.length === 0 ? {} : { roles: items.map((name) => shown(name, view === 'FULL' ? 'FULL' : 'BASIC')) }),
    ...(nextPageToken === undefined ? {} : { nextPageToken }),
  };
};

export const listRoles: Handler = ({ params }) =>
  page([...predefinedRoleNames()], params['view'], numberOf(params['pageSize']), params['pageToken']);

export const queryGrantable: Handler = ({ body }) => {
  const resource = resourceOf(textOf(body['fullResourceName']) ?? '');
  const names = [...predefinedRoleNames()].filter((name) => mayBeBound(name, resource));
  return page(names, textOf(body['view']), numberOf(body['pageSize']), textOf(body['pageToken']));
};
