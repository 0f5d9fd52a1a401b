/**
 * Every way plinth says no, in one table: code → HTTP status, exit code, retry class, title. HTTP replies, exit codes, step
 * retries and the docs page of problems are all read from it.
 */

/** What the engine does when a step fails this way. `none`: the instance fails at once. */
export type RetryClass = 'transient' | 'rate' | 'propagation' | 'capacity' | 'none';

interface ProblemKind {
  readonly status: number;
  /**
   * 1 internal, 2 bad input, 3 not allowed, 4 not found, 5 conflict or quota, 6 cloud unavailable, 7 bootstrap failed, 130
   * detached.
   */
  readonly exit: number;
  readonly retry: RetryClass;
  readonly title: string;
}

const kind = (status: number, exit: number, title: string, retry: RetryClass = 'none'): ProblemKind => ({
  status,
  exit,
  retry,
  title,
});

export const problemKinds = {
  'bad-input': kind(400, 2, 'The input is not valid'),
  'members-outside': kind(400, 2, 'Members of the team are outside the organization'),
  unauthenticated: kind(401, 3, 'The caller is not known'),
  forbidden: kind(403, 3, 'The caller may not do that'),
  'not-found': kind(404, 4, 'There is no such thing'),
  'method-not-allowed': kind(405, 2, 'The method is not allowed here'),
  conflict: kind(409, 5, 'That conflicts with what stands'),
  'precondition-failed': kind(412, 5, 'It has changed meanwhile'),
  'payload-too-large': kind(413, 2, 'The body is too large'),
  'unsupported-media-type': kind(415, 2, 'The body is not JSON'),
  'key-reused': kind(422, 2, 'The idempotency key was used with another body'),
  stopped: kind(409, 5, 'New bootstraps are stopped here'),
  'too-many': kind(429, 5, 'A limit is reached'),
  'over-ceiling': kind(409, 5, 'It would cost more than may be spent'),
  internal: kind(500, 1, 'Something went wrong inside plinth'),
  unavailable: kind(503, 6, 'The service cannot be reached now', 'transient'),

  'cloud-unavailable': kind(503, 6, 'Google Cloud did not answer as it should', 'transient'),
  'cloud-rate': kind(503, 6, 'Google Cloud asks for fewer calls', 'rate'),
  'cloud-propagation': kind(503, 6, 'A change has not reached all of Google Cloud yet', 'propagation'),
  'cloud-capacity': kind(503, 5, 'Google Cloud has no capacity for it', 'capacity'),
  'cloud-quota': kind(403, 5, 'A Google Cloud quota is exceeded'),
  'cloud-permission': kind(403, 3, 'Google Cloud denied permission'),
  'cloud-policy': kind(403, 3, 'A policy of the organization forbids it'),
  'cloud-input': kind(400, 2, 'Google Cloud refused the request'),
  'cloud-not-found': kind(404, 4, 'Google Cloud does not have it'),
  'cloud-conflict': kind(409, 5, 'That conflicts with what stands in Google Cloud'),

  'host-unreachable': kind(503, 6, 'A machine cannot be reached', 'transient'),
  'host-login': kind(403, 3, 'A machine refused the login', 'propagation'),
  'host-changed': kind(409, 5, 'A machine is not the one it was'),
  'host-full': kind(507, 5, 'A machine has no room left'),
  'host-failed': kind(502, 7, 'Something failed on a machine'),

  /** Only from the command line: this version cannot read the service's answer. */
  'versions-differ': kind(502, 5, 'plinth and its service are of different versions'),
  'bootstrap-failed': kind(409, 7, 'The bootstrap failed'),
  'install-failed': kind(409, 7, 'The installation failed'),
  detached: kind(409, 130, 'Detached; the bootstrap goes on'),
  interrupted: kind(409, 130, 'Interrupted; a change that was under way may have been made'),
} as const satisfies Record<string, ProblemKind>;

export type ProblemCode = keyof typeof problemKinds;

/** How the service refuses what it doesn't know. If its version differs, that difference may be the reason. */
export const unknownHere = 'is not known here';
export const nothingServed = 'Nothing is served at this path.';

/** One fault of the input. `path` names the flag (`--region`) or the field (`options.region`). */
export interface Fault {
  readonly path: string;
  readonly message: string;
}

export interface ProblemExtras {
  /** All faults of the input at once. */
  readonly errors?: readonly Fault[];
  /** Seconds to wait before asking again. */
  readonly retryAfterSeconds?: number;
  /** What to do next, in one sentence. */
  readonly advice?: string;
  /** Further members of the problem+json body. They never hold a secret. */
  readonly members?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/**
 * An error that a person may read. `detail` says what happened and why, `advice` what to do next. Anything thrown that is not
 * a Problem is a fault of plinth itself, and its message is never shown.
 */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly errors: readonly Fault[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly advice: string | undefined;
  readonly members: Readonly<Record<string, unknown>> | undefined;

  constructor(
    readonly code: ProblemCode,
    readonly detail: string,
    extras: ProblemExtras = {},
  ) {
    super(detail, extras.cause === undefined ? undefined : { cause: extras.cause });
    this.errors = extras.errors;
    this.retryAfterSeconds = extras.retryAfterSeconds;
    this.advice = extras.advice;
    this.members = extras.members;
  }

  get kind(): ProblemKind {
    return problemKinds[this.code];
  }
}

/** The RFC 9457 body of a problem. `instance` is the trace id. */
export interface ProblemBody {
  type: string;
  title: string;
  status: number;
  code: ProblemCode;
  detail: string;
  instance?: string;
  errors?: readonly Fault[];
  advice?: string;
  [member: string]: unknown;
}

export function problemBody(problem: Problem, traceId?: string): ProblemBody {
  return {
    ...problem.members,
    type: `/problems/${problem.code}`,
    title: problem.kind.title,
    status: problem.kind.status,
    code: problem.code,
    detail: problem.detail,
    ...(problem.advice === undefined ? {} : { advice: problem.advice }),
    ...(problem.errors === undefined ? {} : { errors: problem.errors }),
    ...(traceId === undefined ? {} : { instance: traceId }),
  };
}
