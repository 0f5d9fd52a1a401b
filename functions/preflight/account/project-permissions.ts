/** What plinth may do in the project. There is none yet. */
import { defineFinding } from '../../engine/finding.js';
import { lastProject, likelyBy } from '../past.js';

export const projectPermissions = defineFinding({
  code: 'project-permissions',
  title: 'Permissions in the project',
  why: 'Whoever makes a project owns it, unless the organization takes that away.',
  by: 'bootstraps',
  about: ['billingAccount', 'folderId'],
  ask: async (asking) => likelyBy(await lastProject(asking), 'apis', ['cloud-permission', 'cloud-propagation']),
  judge: (likely) => ({
    state: 'unknown',
    what: 'they can be asked for once the project is made',
    likely,
  }),
});
