/** Answers uptime checks: does the function respond? Both APIs serve it. */
import type { healthRoutes } from '../../shared/api.js';
import { version } from '../../shared/version.js';
import type { Context } from '../context.js';
import type { Handlers } from './router.js';

/** The store is not queried. Anybody could trigger the query, and a fresh instance would wait for the store just the same. */
export const healthHandlers = ({ config: { release } }: Context): Handlers<typeof healthRoutes> => ({
  checkHealth: async () => ({ status: 200, body: { status: 'ok', version, ...(release && { release }) } }),
});
