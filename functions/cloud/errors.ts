/**
 * Turns errors of Google's services and clients into a `Problem`. The sources are REST replies, the clients' errors (whose
 * form changes with their major version) and failed operations of both kinds.
 */
import { Problem, type ProblemCode, type ProblemExtras } from '../../shared/problems.js';

/** The common form of all of Google's errors. */
export interface CloudFault {
  /** HTTP status. Undefined if no answer came. */
  readonly http: number | undefined;
  /** Canonical status: `PERMISSION_DENIED`. */
  readonly status?: string | undefined;
  /** The reason of ErrorInfo, the legacy reason of Compute Engine and DNS, or the code of a Compute Engine operation. */
  readonly reasons: readonly string[];
  readonly message: string;
  readonly details: readonly Detail[];
}

interface Detail {
  readonly '@type'?: string;
  readonly reason?: string;
  readonly retryDelay?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly violations?: readonly { readonly type?: string; readonly subject?: string; readonly description?: string }[];
}

/** The statuses of google.rpc.Code by number, with the HTTP status of each. */
const canonical: readonly (readonly [status: string, http: number])[] = [
  ['OK', 200],
  ['CANCELLED', 499],
  ['UNKNOWN', 500],
  ['INVALID_ARGUMENT', 400],
  ['DEADLINE_EXCEEDED', 504],
  ['NOT_FOUND', 404],
  ['ALREADY_EXISTS', 409],
  ['PERMISSION_DENIED', 403],
  ['RESOURCE_EXHAUSTED', 429],
  ['FAILED_PRECONDITION', 400],
  ['ABORTED', 409],
  ['OUT_OF_RANGE', 400],
  ['UNIMPLEMENTED', 501],
  ['INTERNAL', 500],
  ['UNAVAILABLE', 503],
  ['DATA_LOSS', 500],
  ['UNAUTHENTICATED', 401],
];

type Tree = Readonly<Record<string, unknown>>;
const tree = (value: unknown): Tree => (typeof value === 'object' && value !== null ? (value as Tree) : {});
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/** The reason of ErrorInfo, and the types of PreconditionFailure: `googleapis.com/billing-enabled`. */
const reasonsOf = (details: readonly Detail[]): string[] =>
  details
    .flatMap(({ reason, violations = [] }) => [reason, ...violations.map(({ type }) => type)])
    .filter((reason) => reason !== undefined);

/** Reads the body of a failed reply. */
export function faultOfReply(http: number, body: string): CloudFault {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    // A proxy's page, or nothing at all.
    return {
      http,
      reasons: [],
      message: body.trim().slice(0, 300) || `HTTP status ${http} without a body`,
      details: [],
    };
  }
  const error = tree(tree(parsed)['error']);
  const details = list(error['details']) as readonly Detail[];
  const legacy = list(error['errors']).map((each) => text(tree(each)['reason']));
  return {
    http,
    status: text(error['status']),
    reasons: [...reasonsOf(details), ...legacy].filter((reason) => reason !== undefined),
    message: text(error['message']) ?? `HTTP status ${http}`,
    details,
  };
}

/** Where google-gax keeps the reply's body. Its own parser loses Compute Engine's reasons and takes each 409 for ABORTED. */
const replyBody = Symbol.for('google-gax.rawHttpResponsePayload');

/** Reads an error of Google's clients: a GoogleError with gRPC's code and, if a reply came, its HTTP status and body. */
export function faultOfThrown(error: unknown): CloudFault {
  const thrown = tree(error);
  const message = text(thrown['message']) ?? String(error);
  const http = thrown['httpStatusCode'];
  if (typeof http === 'number') {
    const body = (thrown as { readonly [replyBody]?: unknown })[replyBody] ?? message;
    return faultOfReply(http, typeof body === 'string' ? body : JSON.stringify(body));
  }
  const code = thrown['code'];
  const known = typeof code === 'number' ? canonical[code] : undefined;
  if (known !== undefined) {
    const details = list(thrown['statusDetails']) as readonly Detail[];
    const reason = text(thrown['reason']);
    return { http: known[1], status: known[0], reasons: reason === undefined ? [] : [reason], message, details };
  }
  return { http: undefined, reasons: text(code) === undefined ? [] : [String(code)], message, details: [] };
}

/** Reads the `error` of a google.longrunning operation: `{ code, message, details }` with a canonical number. */
export function faultOfStatus(error: unknown): CloudFault {
  const status = tree(error);
  const [name, http] = canonical[Number(status['code'])] ?? ['UNKNOWN', 500];
  const details = list(status['details']) as readonly Detail[];
  return {
    http,
    status: name,
    reasons: reasonsOf(details),
    message: text(status['message']) ?? name,
    details,
  };
}

/**
 * Reads a Compute Engine operation that is DONE. Undefined if it succeeded. `wait` and `get` also resolve for failed ones.
 */
export function faultOfOperation(operation: {
  readonly error?: unknown;
  readonly httpErrorStatusCode?: unknown;
}): CloudFault | undefined {
  const errors = list(tree(operation.error)['errors']).map(tree);
  if (errors.length === 0) return undefined;
  const infos = errors.flatMap((each) => list(each['errorDetails']).map((detail) => tree(tree(detail)['errorInfo'])));
  return {
    http: Number(operation.httpErrorStatusCode ?? 400),
    reasons: [...errors.map((each) => text(each['code'])), ...infos.map((info) => text(info['reason']))].filter(
      (reason) => reason !== undefined,
    ),
    message: errors.map((each) => text(each['message']) ?? text(each['code']) ?? 'unknown').join(' '),
    details: infos.map((info) => info as Detail),
  };
}

const stockout = [
  'ZONE_RESOURCE_POOL_EXHAUSTED',
  'ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS',
  'STOCKOUT',
  'UNSUPPORTED_OPERATION',
];
const rateLimits = ['rateLimitExceeded', 'userRateLimitExceeded', 'RATE_LIMIT_EXCEEDED'];
const quotas = ['quotaExceeded', 'QUOTA_EXCEEDED', 'limitExceeded'];
const networkTroubles = /timeout|ECONN|socket|fetch failed|EAI_AGAIN|ENOTFOUND|EPIPE/i;

/** What to do about refusals of Cloud DNS that say only what is wrong. */
const waysOut: Readonly<Record<string, string>> = {
  verifyManagedZoneDnsNameOwnership:
    "Prove in Google's Search Console whose the domain is, and make the service account of run-cloud-step an owner there; the operator knows it. Or give another --base-domain. Then run the same command again.",
  managedZoneDnsNameNotAvailable:
    'Remove other bootstraps or zones of this domain; those of deleted projects may count until Google has purged them. Or give another --base-domain. Then run the same command again.',
};

/** The problem for a fault. `doing` ends the sentence "Could not …". */
export function problemOf(fault: CloudFault, doing: string, cause?: unknown): Problem {
  const has = (reasons: readonly string[]) => fault.reasons.some((reason) => reasons.includes(reason));
  const say = (code: ProblemCode, why: string, advice?: string, more: ProblemExtras = {}) =>
    new Problem(code, `Could not ${doing}: ${sentence(why)}`, {
      ...(advice === undefined ? {} : { advice }),
      members: { reasons: fault.reasons, ...(fault.status === undefined ? {} : { cloudStatus: fault.status }) },
      ...(cause === undefined ? {} : { cause }),
      ...more,
    });

  if (fault.http === undefined) {
    const why = networkTroubles.test(fault.message) ? fault.message : `no answer came (${fault.message})`;
    return say('cloud-unavailable', why, 'Check that the API can be reached, then run the same command again.');
  }
  if (has(['SERVICE_DISABLED', 'accessNotConfigured'])) {
    return say(
      'cloud-propagation',
      `the API is not usable yet (${fault.message})`,
      'Enable the API in the project if it is off, then run the same command again.',
    );
  }
  if (has(stockout) || /does not have enough resources/i.test(fault.message)) {
    return say(
      'cloud-capacity',
      fault.message,
      'Try again later, or bootstrap in another zone or region under a new project name.',
    );
  }
  const quota = quotaProblem(fault);
  if (quota !== undefined) return say('cloud-quota', quota.why, quota.advice);
  if (has(quotas)) {
    return say(
      'cloud-quota',
      fault.message,
      'Ask for a higher quota, or use another region, then run the same command again.',
    );
  }
  if (has(rateLimits) || fault.http === 429) {
    const delay = fault.details.map(({ retryDelay }) => Number.parseFloat(retryDelay ?? '')).find((s) => s > 0);
    return say('cloud-rate', fault.message, 'Run the same command again in some minutes.', {
      ...(delay === undefined ? {} : { retryAfterSeconds: Math.ceil(delay) }),
    });
  }
  const constraint = constraintIn(fault);
  if (constraint !== undefined) {
    return say(
      'cloud-policy',
      `the organization policy ${constraint} forbids it (${fault.message})`,
      `Ask somebody with roles/orgpolicy.policyAdmin on the organization to allow it for the project or its folder, or give another --folder-id under which it is allowed. Then run the same command again.`,
      { members: { reasons: fault.reasons, constraint } },
    );
  }
  if (fault.status === 'ABORTED' || has(['conditionNotMet']) || fault.http === 412) {
    return say('cloud-unavailable', `somebody else changed it at the same time (${fault.message})`);
  }
  if (has(['resourceNotReady', 'RESOURCE_NOT_READY'])) return say('cloud-propagation', fault.message);
  if (fault.http >= 500 || fault.http === 408 || fault.http === 499) {
    return say('cloud-unavailable', fault.message, 'Run the same command again.');
  }
  const [code, why, advice] = byStatus(fault);
  return say(code, why, advice ?? fault.reasons.map((reason) => waysOut[reason]).find((way) => way !== undefined));
}

/** The organization policy that a refusal names, as `compute.vmExternalIpAccess`. A 412 of another kind names none. */
function constraintIn({ http, message, reasons }: CloudFault): string | undefined {
  if (http !== 412 && http !== 400 && http !== 403) return undefined;
  return /\bconstraints\/([a-z]+\.[A-Za-z]+)/.exec([message, ...reasons].join(' '))?.[1];
}

/** Tells the remaining faults apart by their HTTP status. */
function byStatus({ http, message }: CloudFault): readonly [code: ProblemCode, why: string, advice?: string] {
  switch (http) {
    case 401:
      return [
        'cloud-permission',
        `Google did not accept plinth's credentials (${message})`,
        'Ask the operator to check the service account that the function runs as.',
      ];
    case 403:
      return [
        'cloud-permission',
        message,
        "Ask the operator to grant plinth's service account a role that allows it, then run the same command again.",
      ];
    case 404:
      return ['cloud-not-found', message];
    case 409:
      return ['cloud-conflict', message];
    default:
      return ['cloud-input', message];
  }
}

/** What a quota failure means, if Google's own words don't say it. */
function quotaProblem(fault: CloudFault): { readonly why: string; readonly advice: string } | undefined {
  const violations = fault.details
    .filter((detail) => detail['@type']?.endsWith('QuotaFailure'))
    .flatMap((detail) => detail.violations ?? []);
  const described = violations.map(({ description, subject }) => description ?? subject ?? '').join(' ');
  if (/billing/i.test(`${described} ${violations.map(({ subject }) => subject).join(' ')}`)) {
    return {
      why: 'the billing account has as many projects linked as its quota allows (about 5 by default; deleted projects count until they are unlinked)',
      advice:
        'Unlink a project from the billing account, ask Google for a higher billing quota, or give another --billing-account; then run the same command again.',
    };
  }
  const compute =
    /Quota '?(?<metric>[A-Z0-9_]+)'? exceeded\.\s+Limit: (?<limit>[\d.]+)(?<where> in region [a-z0-9-]+)?/.exec(
      fault.message,
    )?.groups;
  if (compute !== undefined) {
    return {
      why: `the quota ${compute['metric']} is exceeded; its limit is ${Number(compute['limit'])}${compute['where'] ?? ''}`,
      advice: `Ask Google to raise the quota ${compute['metric']}, or use another region, then run the same command again.`,
    };
  }
  if (violations.length > 0) {
    return {
      why: described || fault.message,
      advice: 'Ask Google for a higher quota, then run the same command again.',
    };
  }
  return undefined;
}

const sentence = (why: string): string => (/[.!?]$/.test(why) ? why : `${why}.`);

/** `problemOf` for an operation of Resource Manager, Service Usage or Artifact Registry. */
export function operationProblem(error: unknown, doing: string): Problem {
  const fault = faultOfStatus(error);
  // Here RESOURCE_EXHAUSTED means a quota of the resource. Calls that are too frequent fail before there is an operation.
  if (fault.status !== 'RESOURCE_EXHAUSTED') return problemOf(fault, doing);
  return new Problem('cloud-quota', `Could not ${doing}: ${sentence(fault.message)}`, {
    advice: 'Ask Google for a higher quota (deleted projects count for 30 days), then run the same command again.',
    members: { reasons: fault.reasons, cloudStatus: fault.status },
  });
}

/** Google tells nobody whether there is a place that they may not see. Other refusals say nothing of the place: an API is off, a token is bad. */
export const isHidden = (error: unknown): boolean => {
  if (!(error instanceof Problem)) return false;
  if (error.code === 'cloud-not-found') return true;
  const { reasons, cloudStatus } = error.members ?? {};
  const usual = ['forbidden', 'IAM_PERMISSION_DENIED'];
  const isUsual = Array.isArray(reasons) && reasons.every((each) => usual.includes(String(each)));
  return (
    error.code === 'cloud-permission' && isUsual && [undefined, 'PERMISSION_DENIED'].includes(cloudStatus as string)
  );
};

/** Whoever may not see a place holds nothing there. */
export function noneIfHidden(error: unknown): readonly string[] {
  if (isHidden(error)) return [];
  throw error;
}

/** Turns Google's "not found" into undefined. */
export async function orUndefined<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Problem && error.code === 'cloud-not-found') return undefined;
    throw error;
  }
}
