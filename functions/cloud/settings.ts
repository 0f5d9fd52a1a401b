/** Settings of Google's services that plinth's own project uses. */
import { type Rows, setting, text, type Values } from '../setting.js';

export const cloudSettings = {
  PLINTH_SCHEDULER_REGION: setting(
    text.regex(/^[a-z]+-[a-z]+\d+$/, 'must be a region'),
    'Region of the Cloud Scheduler jobs of this deployment.',
    'europe-west4',
  ),
} satisfies Rows;

export interface CloudConfig {
  /** Region of the Cloud Scheduler jobs in plinth's own project. */
  readonly schedulerRegion: string;
}

export const readCloud = (read: Values<typeof cloudSettings>): CloudConfig => ({
  schedulerRegion: read.PLINTH_SCHEDULER_REGION,
});
