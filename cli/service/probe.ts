/** Finds out what answers at an endpoint, with one light call of the API that should be there. */

import { pathTo } from '../../shared/api.js';
import { bootstrapRoutes } from '../../shared/bootstrap/routes.js';
import { consoleRoutes } from '../../shared/console/routes.js';
import { deploymentSecrets } from '../../shared/names.js';
import { reasonOf } from '../../shared/network-reason.js';
import { organizationRoutes } from '../../shared/organization/routes.js';
import { Problem } from '../../shared/problems.js';
import { timeLimit } from '../../shared/time-limit.js';
import { version } from '../../shared/version.js';
import type { CommandContext } from '../frame/command.js';
import { send } from '../network/send.js';
import type { Api } from '../settings.js';
import { serviceVersion } from './other-version.js';

export interface Probe {
  /**
   * `other-api`: plinth, but another of its APIs. `front`: something in front of it refuses. `older`: a plinth that doesn't
   * name its version. `stranger`: no plinth.
   */
  readonly kind: 'plinth' | 'other-api' | 'older' | 'front' | 'stranger' | 'unreachable';
  /** Explains in words any kind but `plinth`. */
  readonly why: string;
  /** Of a proxy that does not lead on. */
  readonly advice?: string;
  readonly version?: string;
  readonly status?: number;
  /** Our clock minus theirs. Their clock is known only in whole seconds. */
  readonly skewSeconds?: number;
  readonly body?: unknown;
}

type By = Pick<CommandContext, 'settings' | 'interrupted'>;

const timeoutMs = 15_000;
const routes = { bootstraps: bootstrapRoutes.getCaller, api: organizationRoutes.listOrganizations } as const;
const query = { bootstraps: '', api: '?limit=1' } as const;

const get = (
  endpoint: string,
  path: string,
  { settings, interrupted }: By,
  token: string | undefined,
): Promise<Response> =>
  send(settings.env, `${endpoint}${path}`, {
    headers: {
      'user-agent': `plinth/${version}`,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(token !== undefined && endpoint.startsWith('https:') && { 'x-serverless-authorization': `Bearer ${token}` }),
    },
    redirect: 'manual',
    signal: AbortSignal.any([timeLimit(timeoutMs), interrupted]),
  });

/**
 * Begins to sign in to the console, and goes no further. `lacks`: what the service says if it cannot read the console's secret.
 * `untold`: why it said nothing of it.
 */
export async function probeConsole(
  endpoint: string,
  by: By,
  token: string,
): Promise<{ readonly lacks?: string; readonly untold?: string }> {
  let response: Response;
  try {
    response = await get(endpoint, pathTo(consoleRoutes.beginSignIn), by, token);
  } catch (error) {
    by.interrupted.throwIfAborted();
    return { untold: reasonOf(error) };
  }
  const body = (await response.json().catch(() => undefined)) as { readonly detail?: unknown } | undefined;
  const detail = typeof body?.detail === 'string' ? body.detail : '';
  if (detail.includes(deploymentSecrets.consoleClient)) return { lacks: detail };
  return response.status < 500 ? {} : { untold: detail || `the console's sign-in answered ${response.status}` };
}

/** Without a token plinth answers 401, which proves just as well that it is there. `more` follows the query. */
export async function probe(api: Api, endpoint: string, by: By, token?: string, more = ''): Promise<Probe> {
  const startedAt = Date.now();
  let response: Response;
  try {
    response = await get(endpoint, `${pathTo(routes[api])}${query[api]}${more}`, by, token);
  } catch (error) {
    by.interrupted.throwIfAborted();
    const advice = error instanceof Problem ? error.advice : undefined;
    return { kind: 'unreachable', why: reasonOf(error).replace(/\.$/, ''), ...(advice !== undefined && { advice }) };
  }
  const { status, headers } = response;
  const body: unknown = await response.json().catch(() => undefined);
  const told = serviceVersion(headers);
  const skewSeconds = skewOf(headers, startedAt, Date.now());
  const facts = {
    status,
    body,
    ...(told !== undefined && { version: told }),
    ...(skewSeconds !== undefined && { skewSeconds }),
  };
  if (status >= 300 && status < 400) return { ...facts, kind: 'stranger', why: 'it sends elsewhere' };
  const problem = (headers.get('content-type') ?? '').startsWith('application/problem+json');
  if (told === undefined && problem) return { ...facts, kind: 'older', why: 'it does not name its version' };
  if (told === undefined && [401, 403].includes(status)) {
    return { ...facts, kind: 'front', why: `something in front of it answered ${status}` };
  }
  if (told === undefined) return { ...facts, kind: 'stranger', why: `it answered ${status}, and not as plinth does` };
  if (status === 404) {
    const other = api === 'api' ? 'that of bootstraps' : 'that of organizations, or an older one';
    return { ...facts, kind: 'other-api', why: `it is another API of plinth: ${other}` };
  }
  return { ...facts, kind: 'plinth', why: '' };
}

function skewOf(headers: Headers, from: number, to: number): number | undefined {
  const theirs = Date.parse(headers.get('date') ?? '');
  if (Number.isNaN(theirs)) return undefined;
  // The date header drops fractions of a second. A difference within that second and the call's duration counts as agreement.
  if (from / 1000 > theirs / 1000 + 1) return Math.round((from - theirs) / 1000);
  return to < theirs ? Math.round((to - theirs) / 1000) : 0;
}
