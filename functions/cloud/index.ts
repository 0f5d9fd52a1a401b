/** Google's services as the steps see them: one thin file a service, each loaded on first use. */
import type { StepContext } from '../context.js';

// Filled in by the files beside it.
export type Cloud = Record<string, never>;
export type CloudContext = Pick<StepContext, 'config' | 'log' | 'clock'>;
