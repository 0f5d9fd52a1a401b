/**
 * What operators see of cleanup before it runs: its own dry run, and what it leaves alone. The API and the CLI share this
 * form.
 */
import type * as z from 'zod';
import { CleanupReport, listed } from './cleanup.js';

export const CleanupSurvey = CleanupReport.extend({
  quarantined: listed('Their removal failed too often; they wait for a person'),
  withoutRecord: listed(
    'Projects with the labels of this deployment that no record knows, and that no run would touch now',
  ),
  unplanned: listed('Their projects have VMs that no plan holds, as of the last hour').optional(),
  withoutProject: listed('Records whose project is gone, or not to be seen, and whose time is not over'),
}).meta({ id: 'CleanupSurvey', description: 'What the next cleanup would do, and what it leaves alone' });
export type CleanupSurvey = z.infer<typeof CleanupSurvey>;
