/** Whether one more project may be made. Google does not tell the limit. */
import { defineFinding } from '../../engine/finding.js';
import { lastProject, likelyBy } from '../past.js';

export const projectQuota = defineFinding({
  code: 'project-quota',
  title: 'Quota of projects',
  why: 'Each account makes a limited number of projects. Deleted ones count for 30 days.',
  by: 'bootstraps',
  about: ['billingAccount', 'folderId'],
  ask: async (asking) => likelyBy(await lastProject(asking), 'project', ['cloud-quota']),
  judge: (likely) => ({
    state: 'unknown',
    what: 'Google does not say how many more projects plinth may make',
    likely,
  }),
});
