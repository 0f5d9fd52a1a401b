/** Base URLs: plinth's own settings, and two APIs that only checks ask. */
import type { Config, Environment } from '../../functions/config.js';
import type { Endpoints } from './relay.js';

const others = ['orgpolicy', 'cloudquotas'] as const;

const googles = (api: string): string => `https://${api}.googleapis.com`;

export function endpointsOf(config: Config, env: Environment): Endpoints {
  const more = others.map((api) => {
    const given = env[`PLINTH_ENDPOINT_${api.toUpperCase()}`]?.trim().replace(/\/+$/, '');
    return [api, given || googles(api)] as const;
  });
  return { ...(Object.fromEntries(more) as Record<(typeof others)[number], string>), ...config.endpoints };
}

/** Whether it is Google's own cloud. */
export const isGoogle = (endpoints: Endpoints): boolean =>
  Object.entries(endpoints).every(([api, url]) => url === googles(api));
