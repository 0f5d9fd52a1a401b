/** What Google says, and what a person is told: one table of replies, thrown errors and ended operations. */
import { expect } from 'chai';
import {
  faultOfOperation,
  faultOfReply,
  faultOfStatus,
  faultOfThrown,
  operationProblem,
  problemOf,
} from '../../functions/cloud/errors.js';
import type { ProblemCode } from '../../shared/problems.js';

const rest = (http: number, error: object) => faultOfReply(http, JSON.stringify({ error }));
const info = (reason: string) => ({ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'x' });
const legacy = (code: number, reason: string, message: string) => ({
  code,
  message,
  errors: [{ domain: 'global', reason, message }],
});
/** As google-gax throws it: `code` is its own reading, which takes each 409 for ABORTED (10) and 412 for FAILED_PRECONDITION (9). */
const thrown = (httpStatusCode: number, code: number, error: object) =>
  Object.assign(new Error('as gax tells it'), {
    code,
    httpStatusCode,
    [Symbol.for('google-gax.rawHttpResponsePayload')]: JSON.stringify({ error }),
  });

const table: readonly (readonly [
  what: string,
  fault: ReturnType<typeof faultOfReply>,
  code: ProblemCode,
  says?: RegExp,
])[] = [
  [
    'a permission denied',
    rest(403, { code: 403, message: 'No.', status: 'PERMISSION_DENIED' }),
    'cloud-permission',
    /No\./,
  ],
  [
    'an API that is disabled',
    rest(403, { code: 403, message: 'Off.', status: 'PERMISSION_DENIED', details: [info('SERVICE_DISABLED')] }),
    'cloud-propagation',
    /not usable yet/,
  ],
  ["compute's rate limit, a 403", rest(403, legacy(403, 'rateLimitExceeded', 'Slow down')), 'cloud-rate'],
  [
    'a rate limit elsewhere, a 429',
    rest(429, { code: 429, message: 'Slow', status: 'RESOURCE_EXHAUSTED' }),
    'cloud-rate',
  ],
  [
    "compute's quota at the request",
    rest(403, legacy(403, 'quotaExceeded', "Quota 'CPUS' exceeded.  Limit: 24.0 in region europe-west4.")),
    'cloud-quota',
    /CPUS.*limit is 24 in region europe-west4/,
  ],
  [
    'a billing account that is full',
    rest(400, {
      code: 400,
      message: 'Precondition check failed.',
      status: 'FAILED_PRECONDITION',
      details: [
        {
          '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
          violations: [
            {
              subject: 'billingAccounts/0',
              description:
                'Cloud billing quota exceeded: https://support.google.com/code/contact/billing_quota_increase',
            },
          ],
        },
      ],
    }),
    'cloud-quota',
    /as many projects linked as its quota allows/,
  ],
  [
    'a lost race for an etag',
    rest(409, { code: 409, message: 'Concurrent', status: 'ABORTED' }),
    'cloud-unavailable',
    /same time/,
  ],
  ['a stale fingerprint', rest(412, legacy(412, 'conditionNotMet', 'Stale')), 'cloud-unavailable'],
  ['a name that is taken', rest(409, legacy(409, 'alreadyExists', 'There')), 'cloud-conflict'],
  ['a network that is not ready', rest(400, legacy(400, 'resourceNotReady', 'Wait')), 'cloud-propagation'],
  ['what is not there', rest(404, legacy(404, 'notFound', 'Gone')), 'cloud-not-found'],
  ['a bad field', rest(400, legacy(400, 'invalid', "Invalid value for field 'x'")), 'cloud-input', /field 'x'/],
  [
    'a token that is refused',
    rest(401, { code: 401, message: 'Who?', status: 'UNAUTHENTICATED' }),
    'cloud-permission',
    /credentials/,
  ],
  ['an outage', faultOfReply(503, '<html>oops'), 'cloud-unavailable', /oops/],
  ['an empty 502', faultOfReply(502, ''), 'cloud-unavailable', /502/],
  [
    'a broken connection',
    faultOfThrown(Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })),
    'cloud-unavailable',
  ],
  [
    'a reply that a client has read',
    faultOfThrown(thrown(404, 5, legacy(404, 'notFound', 'Gone'))),
    'cloud-not-found',
    /Gone/,
  ],
  [
    'a name that is taken, as a client has read it',
    faultOfThrown(thrown(409, 10, legacy(409, 'alreadyExists', 'There'))),
    'cloud-conflict',
    /There/,
  ],
  [
    'a stale fingerprint, as a client has read it',
    faultOfThrown(thrown(412, 9, legacy(412, 'conditionNotMet', 'Stale'))),
    'cloud-unavailable',
    /same time/,
  ],
  [
    'a call that a client has given up',
    faultOfThrown(Object.assign(new Error('Deadline exceeded'), { code: 4 })),
    'cloud-unavailable',
  ],
  ['an operation that was denied', { ...faultOfStatus({ code: 7, message: 'Denied' }), http: 403 }, 'cloud-permission'],
];

const stockouts = [
  { code: 'ZONE_RESOURCE_POOL_EXHAUSTED', message: 'x' },
  { code: 'ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS', message: 'x' },
  { code: 'STOCKOUT', message: 'x' },
  { code: 'UNSUPPORTED_OPERATION', message: 'x' },
  { code: 'OTHER', message: 'The zone does not have enough resources available to fulfill the request.' },
];

describe('errors of the cloud', () => {
  for (const [what, fault, code, says] of table) {
    it(`reads ${what} as ${code}`, () => {
      const problem = problemOf(fault, 'create the network n');
      expect(problem.code).to.equal(code);
      expect(problem.detail).to.match(/^Could not create the network n: .+[.!?]$/);
      if (says !== undefined) expect(problem.detail).to.match(says);
    });
  }

  for (const { code, message } of stockouts) {
    it(`reads an operation that ended with ${code} ("${message.slice(0, 20)}") as a want of capacity`, () => {
      const fault = faultOfOperation({ error: { errors: [{ code, message }] }, httpErrorStatusCode: 503 });
      expect(fault && problemOf(fault, 'create the VM v').code).to.equal('cloud-capacity');
    });
  }

  it('reads a quota met late, in the operation, with metric and limit', () => {
    const fault = faultOfOperation({
      error: {
        errors: [{ code: 'QUOTA_EXCEEDED', message: "Quota 'SSD_TOTAL_GB' exceeded.  Limit: 500.0 in region r1." }],
      },
      httpErrorStatusCode: 403,
    });
    const problem = fault && problemOf(fault, 'create the VM v');
    expect(problem?.code).to.equal('cloud-quota');
    expect(problem?.detail).to.contain('SSD_TOTAL_GB').and.to.contain('500');
    expect(problem?.advice).to.contain('SSD_TOTAL_GB');
  });

  it('tells an operation that succeeded from one that failed', () => {
    expect(faultOfOperation({ error: null })).to.equal(undefined);
    expect(faultOfOperation({ error: { errors: [] } })).to.equal(undefined);
  });

  it('reads RESOURCE_EXHAUSTED at the end of an operation as a quota, not as a rate', () => {
    const problem = operationProblem({ code: 8, message: 'The project quota is exceeded' }, 'create the project p');
    expect(problem.code).to.equal('cloud-quota');
    expect(problem.advice).to.contain('30 days');
  });

  it('takes the delay that Google asks for', () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '12.5s' }];
    const fault = rest(429, { code: 429, message: 'Slow', status: 'RESOURCE_EXHAUSTED', details });
    expect(problemOf(fault, 'look').retryAfterSeconds).to.equal(13);
  });
});
