/** Makes one call of a job's target, with Google's headers and the token of the job's account. */
import { timeLimit } from '../../../shared/time-limit.js';
import type { Identity } from '../../identity/identity.js';
import { isBarred } from '../iam/service-accounts.js';
import type { JsonObject, World } from '../kernel/api.js';
import { objectOf, secondsOf, textOf } from '../kernel/json-fields.js';

interface CallerParts {
  readonly world: World;
  readonly identity: Pick<Identity, 'idToken' | 'accessToken'>;
}

interface ScheduledCall {
  /** Path of the job. */
  readonly path: string;
  readonly job: JsonObject;
  readonly scheduledAt: number;
  readonly signal: AbortSignal;
}

interface Failure {
  readonly code: number;
  readonly why: string;
}

const loopback = new Set(['localhost', '127.0.0.1', '[::1]']);

/** HTTP status → canonical code, for the job's own status. */
const canonical: Readonly<Record<number, number>> = {
  400: 3, 401: 16, 403: 7, 404: 5, 409: 10, 412: 9, 429: 8, 499: 1, 500: 13, 501: 12, 503: 14, 504: 4,
}; // biome-ignore format: a table

/** Undefined if the target answered 2xx. */
export async function callTarget(caller: CallerParts, call: ScheduledCall): Promise<Failure | undefined> {
  const { job, signal } = call;
  const target = objectOf(job['httpTarget']) ?? {};
  const uri = textOf(target['uri']) ?? '';
  if (!loopback.has(new URL(uri).hostname)) {
    return { code: 14, why: `${uri} is not on this machine; the simulated cloud calls nothing else` };
  }
  try {
    const headers = await headersOf(caller, call, target, uri);
    if (headers === undefined) return { code: 16, why: 'its service account is disabled or gone' };
    const body = textOf(target['body']);
    const reply = await fetch(uri, {
      method: textOf(target['httpMethod']) ?? 'POST',
      headers,
      ...(body === undefined ? {} : { body: Buffer.from(body, 'base64') }),
      redirect: 'manual',
      signal: AbortSignal.any([signal, timeLimit(secondsOf(job['attemptDeadline']) * 1000)]),
    });
    const text = await reply.text();
    if (reply.ok) return undefined;
    return { code: canonical[reply.status] ?? 2, why: `${reply.status} ${text.slice(0, 200)}` };
  } catch (error) {
    const { name, message, cause } = error as Error;
    const why = cause instanceof Error ? `${message}: ${cause.message}` : message;
    return { code: name === 'TimeoutError' ? 4 : 14, why };
  }
}

/** Undefined if the account is gone or disabled. */
async function headersOf(
  { world, identity }: CallerParts,
  { path, scheduledAt }: ScheduledCall,
  target: JsonObject,
  uri: string,
): Promise<Record<string, string> | undefined> {
  const oidc = objectOf(target['oidcToken']);
  const oauth = objectOf(target['oauthToken']);
  const email = textOf((oidc ?? oauth)?.['serviceAccountEmail']);
  if (email !== undefined && isBarred(world, email)) return undefined;
  const bearer =
    email === undefined
      ? undefined
      : oidc === undefined
        ? identity.accessToken(email)
        : await identity.idToken({ email, audience: textOf(oidc['audience']) ?? uri });
  const own = Object.entries(objectOf(target['headers']) ?? {}).map(([name, value]) => [
    name.toLowerCase(),
    String(value),
  ]);
  return {
    ...(target['body'] === undefined ? {} : { 'content-type': 'application/octet-stream' }),
    'user-agent': 'Google-Cloud-Scheduler',
    ...(Object.fromEntries(own) as Record<string, string>),
    ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
    'x-cloudscheduler': 'true',
    'x-cloudscheduler-jobname': path.slice(path.lastIndexOf('/') + 1),
    'x-cloudscheduler-scheduletime': new Date(scheduledAt).toISOString(),
  };
}
