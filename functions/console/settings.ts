/** Settings of the console. */
import type { Fault } from '../../shared/problems.js';
import { optional, origin, type Rows, text, type Values } from '../setting.js';

export const consoleSettings = {
  PLINTH_CONSOLE_CLIENT_ID: optional(
    text.regex(/^[^\s,]+$/, 'must be the id of an OAuth client'),
    'OAuth client of type Web by which people sign in to the console. Its secret is in the secret `plinth-console-client`. Unset: there is no console.',
  ),
  PLINTH_CONSOLE_URL: optional(
    origin,
    'Base URL of `api` as browsers reach it, where the console is. Only its page may call `bootstraps` from a browser.',
  ),
  PLINTH_BOOTSTRAPS_URL: optional(origin, 'Base URL of `bootstraps` as browsers reach it, for the console.'),
} satisfies Rows;

type Read = Values<typeof consoleSettings>;

export interface ConsoleConfig {
  /** The page for people. Undefined: there is none. Both URLs as browsers reach them, without a path. */
  readonly console?: {
    /** Of the OAuth client of type Web. */
    readonly clientId: string;
    /** Of the function `api`, which serves the page. */
    readonly url: string;
    readonly bootstrapsUrl: string;
  };
}

export function readConsole({
  PLINTH_CONSOLE_CLIENT_ID: clientId,
  PLINTH_CONSOLE_URL: url,
  PLINTH_BOOTSTRAPS_URL: bootstrapsUrl,
}: Read): ConsoleConfig {
  if (clientId === undefined || url === undefined || bootstrapsUrl === undefined) return {};
  // As browsers write origins.
  return { console: { clientId, url: new URL(url).origin, bootstrapsUrl: new URL(bootstrapsUrl).origin } };
}

export function consoleFaults(read: Partial<Read>): Fault[] {
  if (read.PLINTH_CONSOLE_CLIENT_ID === undefined) return [];
  return (['PLINTH_CONSOLE_URL', 'PLINTH_BOOTSTRAPS_URL'] as const)
    .filter((name) => read[name] === undefined)
    .map((path) => ({ path, message: 'is needed beside PLINTH_CONSOLE_CLIENT_ID' }));
}
