/** The IAM API's method on Google's predefined roles. */
import { GoogleError, type Handler } from '../kernel/api.js';
import { notSimulated } from '../kernel/errors.js';
import { permissionsOfPredefined, roleIsKnown, titleOfPredefined } from './predefined-roles.js';

/** The data has no stages, but some titles tell. */
const stageOf = (title: string): string =>
  title.endsWith('(beta)') ? 'BETA' : title.startsWith('(Deprecated)') ? 'DEPRECATED' : 'GA';

/** Google's answer, as far as the data knows it. */
export const getRole: Handler = ({ params }) => {
  const name = params['name'] ?? '';
  if (roleIsKnown(name) === 'missing') {
    throw new GoogleError(404, 'NOT_FOUND', `The role named ${name} was not found.`, { reason: 'notFound' });
  }
  const [title, permissions] = [titleOfPredefined(name), permissionsOfPredefined(name)];
  if (title === undefined || permissions === undefined) throw notSimulated(`the permissions of ${name}`);
  return { name, title, stage: stageOf(title), etag: 'AA==', includedPermissions: [...permissions].sort() };
};
