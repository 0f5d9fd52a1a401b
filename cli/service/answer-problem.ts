/** Turns an unsuccessful answer, or a missing one, into a problem. */
import { reasonOf } from '../../shared/network-reason.js';
import {
  type Fault,
  nothingServed,
  Problem,
  type ProblemCode,
  problemKinds,
  unknownHere,
} from '../../shared/problems.js';
import { version } from '../../shared/version.js';
import { isProxyRefusal } from '../network/proxy-problem.js';
import { serviceVersion, versionAdvice } from './other-version.js';

const checkEndpoint = 'Check the endpoint (--endpoint, PLINTH_ENDPOINT; plinth configure asks for it).';

/** Waiting doesn't fix these: unknown hosts, ports that fetch refuses, TLS. */
const lastingReason = /^(?:ENOTFOUND|bad port|ERR_(?:TLS|SSL)_.*|EPROTO|.*CERT.*|UNABLE_TO_.*|.*SELF_SIGNED.*)$/;
/** TLS that a company or somebody else has signed anew. */
const isUntrusted = (reason: string): boolean => /SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY)/.test(reason);
export const trustAdvice =
  'If a company proxy or a private authority signs certificates here, let NODE_EXTRA_CA_CERTS name its certificate; else tell an operator.';
const lasting = new WeakSet<Problem>();

/** Waiting is pointless. */
export const isLasting = (problem: Problem): boolean => lasting.has(problem) || isProxyRefusal(problem);

const lost = new WeakSet<Problem>();

/** plinth itself did not answer: what was asked for may be done, or not. */
export const isLost = (problem: Problem): boolean => lost.has(problem);

export function unreachable(endpoint: string, error: unknown): Problem {
  // A proxy on the way. Nothing reached plinth.
  if (error instanceof Problem) {
    if (!isProxyRefusal(error)) lost.add(error);
    return error;
  }
  const reason = reasonOf(error);
  const isForGood = lastingReason.test(reason);
  const { hostname, port } = new URL(endpoint);
  const why =
    reason === 'bad port'
      ? `nothing that speaks HTTP is asked at port ${port}`
      : reason === 'ENOTFOUND'
        ? `the host ${hostname} is not known (ENOTFOUND)`
        : reason;
  const problem = new Problem('unavailable', `plinth at ${endpoint} cannot be reached: ${why}.`, {
    advice: isUntrusted(reason)
      ? trustAdvice
      : isForGood
        ? checkEndpoint
        : 'Check the endpoint (--endpoint, PLINTH_ENDPOINT) and try again in a moment.',
    cause: error,
  });
  (isForGood ? lasting : lost).add(problem);
  return problem;
}

/** `renewable`: the token comes from a login or a service account. */
export async function problemIn(response: Response, endpoint: string, renewable: boolean): Promise<Problem> {
  const body: unknown = await response.json().catch(() => undefined);
  const field = (name: string): unknown =>
    typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : undefined;
  const extensions = Object.entries(typeof body === 'object' && body !== null ? body : {}).filter(
    ([name]) => !standard.includes(name),
  );
  const text = (name: string): string | undefined => {
    const value = field(name);
    return typeof value === 'string' ? value : undefined;
  };
  const named = text('code');
  const code =
    named !== undefined && Object.hasOwn(problemKinds, named) ? (named as ProblemCode) : codeOf(response.status);
  const errors = field('errors');
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
  const trace = code === 'internal' ? text('instance') : undefined;
  // A path, field or flag that one side knows and the other doesn't.
  const unknownThere =
    text('detail') === nothingServed ||
    (Array.isArray(errors) && errors.filter(isFault).some(({ message }) => message === unknownHere));
  const service = serviceVersion(response.headers);
  const byVersion = unknownThere && service !== undefined ? versionAdvice(service) : undefined;
  if (named === undefined && [404, 405].includes(response.status)) {
    const answer = `${response.status} ${response.statusText}`.trim();
    return new Problem('not-found', `What answers at ${endpoint} is no plinth: it says ${answer}.`, {
      advice: checkEndpoint,
    });
  }
  // A person at a command line has no headers to send.
  if (code === 'unauthenticated' && text('advice')?.includes('Authorization:')) {
    return tokenProblem(text('detail') ?? '', renewable);
  }
  const advice =
    text('advice') ??
    (byVersion === undefined ? undefined : `The service is plinth ${service}, this is ${version}. ${byVersion}`) ??
    (response.status === 401 && !renewable ? 'Set PLINTH_TOKEN to a fresh ID token and try again.' : undefined) ??
    (trace !== undefined ? `Tell an operator the trace id ${trace}.` : undefined);
  const problem = new Problem(code, text('detail') ?? `plinth answered ${response.status} ${response.statusText}.`, {
    ...(Array.isArray(errors) && { errors: errors.filter(isFault) }),
    ...(retryAfter > 0 && { retryAfterSeconds: retryAfter }),
    ...(advice !== undefined && { advice }),
    ...(extensions.length > 0 && { members: Object.fromEntries(extensions) }),
  });
  // A front end says so when the function behind it has died.
  if (named === undefined && response.status >= 500) lost.add(problem);
  return problem;
}

const tokenProblem = (why: string, renewable: boolean): Problem =>
  renewable
    ? new Problem('unauthenticated', `plinth does not take the token of your login: ${why}`, {
        advice: 'Log in again with plinth login.',
      })
    : new Problem('unauthenticated', `plinth does not take the token in PLINTH_TOKEN: ${why}`, {
        advice: 'Set PLINTH_TOKEN to a fresh ID token for this endpoint, or unset it and log in with plinth login.',
      });

/** The standard members of a problem's body. All others are the problem's own. */
const standard = ['type', 'title', 'status', 'code', 'detail', 'instance', 'errors', 'advice'];

const isFault = (value: unknown): value is Fault =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as Partial<Fault>).path === 'string' &&
  typeof (value as Partial<Fault>).message === 'string';

/** For an answer that isn't plinth's own, such as a proxy's or a front end's. */
function codeOf(status: number): ProblemCode {
  const known: Readonly<Record<number, ProblemCode>> = {
    401: 'unauthenticated',
    403: 'forbidden',
    404: 'not-found',
    409: 'conflict',
    413: 'payload-too-large',
    429: 'too-many',
    500: 'internal',
  };
  return known[status] ?? (status >= 500 ? 'unavailable' : 'bad-input');
}
