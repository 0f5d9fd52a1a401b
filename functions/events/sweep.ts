/** The HTTP function that Cloud Scheduler calls each minute. */
import type { HttpFunction } from '@google-cloud/functions-framework';
import type { Context } from '../context.js';
import { sweep } from '../engine/sweep.js';
import { createScheduledFunction } from './scheduled.js';

export const createSweepFunction = (context: Context): HttpFunction =>
  createScheduledFunction(context, 'sweep', () => sweep(context));
