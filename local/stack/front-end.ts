/**
 * Stands for Cloud Run's front end before the functions that are not public. It lets in calls of Google's own services where a
 * function has internal ingress, and callers with `roles/run.invoker` on it. terraform/invokers.tf grants that role.
 */
import { type FunctionName, functionNames } from '../../shared/names.js';
import { functionPath } from '../functions/places.js';
import type { Admit } from '../functions/server.js';
import { createIdTokenReader, type Identity } from '../identity/identity.js';
import { functionAccount, invokers } from './deployment.js';

interface FrontEnd {
  readonly ingress: 'ALLOW_ALL' | 'ALLOW_INTERNAL_ONLY';
  /** E-mails. Undefined: whoever terraform's `invokers` names, here everybody. */
  readonly invokers?: readonly string[];
}

export const frontEnds: Readonly<Record<FunctionName, FrontEnd>> = {
  [functionNames.bootstraps]: { ingress: 'ALLOW_ALL' },
  [functionNames.api]: { ingress: 'ALLOW_ALL' },
  [functionNames.runCloudStep]: { ingress: 'ALLOW_INTERNAL_ONLY', invokers: [invokers.eventarc] },
  [functionNames.runHostStep]: { ingress: 'ALLOW_INTERNAL_ONLY', invokers: [invokers.eventarc] },
  [functionNames.sweep]: { ingress: 'ALLOW_INTERNAL_ONLY', invokers: [invokers.scheduler] },
  [functionNames.cleanup]: { ingress: 'ALLOW_INTERNAL_ONLY', invokers: [invokers.scheduler] },
  [functionNames.check]: { ingress: 'ALLOW_ALL', invokers: [functionAccount(functionNames.bootstraps)] },
};

/** Google tells its services apart by the network that they call from. Here their user agents tell. */
const internalAgents = /^(?:Google-Cloud-Scheduler|APIs-Google;)/;

/** The headers of a call by Cloud Scheduler. */
export const schedulerHeaders = async (
  { idToken }: Pick<Identity, 'idToken'>,
  url: string,
): Promise<Record<string, string>> => ({
  'user-agent': 'Google-Cloud-Scheduler',
  authorization: `Bearer ${await idToken({ email: invokers.scheduler, audience: url })}`,
});

const bearerOf = (header: string | readonly string[] | undefined): string =>
  /^bearer +(\S+) *$/i.exec(String(header ?? ''))?.[1] ?? '';

export function createFrontEnd(issuerUrl: string): Admit {
  const readIdToken = createIdTokenReader(issuerUrl);
  return async (name, request) => {
    const { ingress, invokers: callers } = frontEnds[name];
    const { headers } = request;
    if (ingress === 'ALLOW_INTERNAL_ONLY' && !internalAgents.test(headers['user-agent'] ?? '')) return 404;
    if (callers === undefined) return undefined;
    const own = headers['x-serverless-authorization'];
    delete headers['x-serverless-authorization'];
    const bearer = bearerOf(own ?? headers.authorization);
    if (bearer === '') return 403;
    const token = await readIdToken(bearer);
    // A function keeps its URL when it is deployed again. Here the port may change.
    if (token === undefined || !URL.canParse(token.audience)) return 401;
    if (new URL(token.audience).pathname !== functionPath(name)) return 401;
    return callers.includes(token.email) ? undefined : 403;
  };
}
