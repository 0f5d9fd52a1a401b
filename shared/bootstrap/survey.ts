/** What operators see of cleanup before it runs: its own dry run, and what it leaves alone. Spoken by the API and the CLI. */
import type * as z from 'zod';
import { CleanupReport, listed } from './cleanup.js';

export const CleanupSurvey = CleanupReport.extend({
  quarantined: listed('Their removal failed too often; they wait for a person'),
  withoutRecord: listed(
    'Projects with the labels of this deployment that no record knows, and that no run would touch now',
  ),
  withoutProject: listed('Records whose project is gone, or not to be seen, and whose time is not over'),
}).meta({ id: 'CleanupSurvey', description: 'What the next cleanup would do, and what it leaves alone' });
export type CleanupSurvey = z.infer<typeof CleanupSurvey>;
