/** What operators see of cleanup before it runs: its own dry run, and what it leaves alone. Spoken by the API and the CLI. */
import type * as z from 'zod';
import { CleanupReport } from './cleanup.js';

const found = CleanupReport.shape.keep;

export const CleanupSurvey = CleanupReport.extend({
  /** Their removal failed too often; they wait for a person. */
  quarantined: found,
  /** Projects with the labels of this deployment that no record knows, and that no run would touch now. */
  withoutRecord: found,
  /** Records whose project is gone, or not to be seen, and whose time is not over. */
  withoutProject: found,
});
export type CleanupSurvey = z.infer<typeof CleanupSurvey>;
