/** Whether a function answers, for uptime checks and whoever has just deployed. Served by both APIs. */
import type { healthRoutes } from '../../shared/api.js';
import { version } from '../../shared/version.js';
import type { Context } from '../context.js';
import type { Handlers } from './router.js';

/** The store is not asked: anybody could have it asked, and no instance is better than one that waits for it to come back. */
export const healthHandlers = ({ config: { release } }: Context): Handlers<typeof healthRoutes> => ({
  checkHealth: async () => ({ status: 200, body: { status: 'ok', version, ...(release && { release }) } }),
});
