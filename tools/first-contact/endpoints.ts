/** Whether plinth's own settings name Google's own cloud. */
import type { Endpoints } from './relay.js';

export const isGoogle = (endpoints: Endpoints): boolean =>
  Object.entries(endpoints).every(([api, url]) => url === `https://${api}.googleapis.com`);
