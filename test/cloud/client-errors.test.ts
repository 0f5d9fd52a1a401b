/** What Google's compute client makes of a reply that is no success, and what a person is told of it: by the client itself. */
import { createRequire } from 'node:module';
import { expect } from 'chai';
import { local } from '../../local/stack/deployment.js';
import { Problem, type ProblemCode } from '../../shared/problems.js';
import { type ServedCloud, servedCloud } from './served-cloud.js';

/** The one that the client itself has. */
const { fallback: gax } = createRequire(import.meta.resolve('@google-cloud/compute'))('google-gax') as {
  readonly fallback: {
    readonly protobuf: { readonly Root: { fromJSON(this: unknown, json: object, ...more: unknown[]): unknown } };
  };
};

const legacy = (code: number, reason: string): string =>
  JSON.stringify({ error: { code, message: 'Why.', errors: [{ domain: 'global', reason, message: 'Why.' }] } });
const disabled = JSON.stringify({
  error: {
    code: 403,
    message: 'Why.',
    status: 'PERMISSION_DENIED',
    details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'SERVICE_DISABLED', domain: 'x' }],
  },
});

const table: readonly (readonly [status: number, body: string, code: ProblemCode, says: RegExp])[] = [
  [400, legacy(400, 'invalid'), 'cloud-input', /Why\./],
  [400, legacy(400, 'resourceNotReady'), 'cloud-propagation', /Why\./],
  [401, legacy(401, 'authError'), 'cloud-permission', /credentials.*Why\./],
  [403, legacy(403, 'forbidden'), 'cloud-permission', /Why\./],
  [403, legacy(403, 'rateLimitExceeded'), 'cloud-rate', /Why\./],
  [403, legacy(403, 'quotaExceeded'), 'cloud-quota', /Why\./],
  [403, disabled, 'cloud-propagation', /not usable yet \(Why\.\)/],
  [409, legacy(409, 'alreadyExists'), 'cloud-conflict', /Why\./],
  [412, legacy(412, 'conditionNotMet'), 'cloud-unavailable', /same time \(Why\.\)/],
  [502, '', 'cloud-unavailable', /502/],
  [503, '<html>oops', 'cloud-unavailable', /oops/],
];

describe("what Google's compute client throws", () => {
  let served: ServedCloud;
  let reply: { readonly status: number; readonly body: string };
  let asked = 0;
  before(async () => {
    served = await servedCloud((_, response) => {
      asked += 1;
      response.writeHead(reply.status, { 'content-type': 'application/json' }).end(reply.body);
    });
  });
  after(() => served.close());
  const change = () => served.cloud.compute.createNetwork(local.project, { name: 'n' }, 'r').catch((error) => error);

  for (const [status, body, code, says] of table) {
    it(`of ${status} ${body.slice(-60) || 'without a body'} is read as ${code}, after one request`, async () => {
      reply = { status, body };
      asked = 0;
      const problem = await change();
      expect(problem).to.be.instanceOf(Problem);
      expect(problem.code, problem.detail).to.equal(code);
      expect(problem.detail).to.match(says);
      expect(asked).to.equal(1);
    });
  }

  it('costs no third of a second: the schema of Compute Engine is not read anew for the details', async () => {
    reply = { status: 403, body: disabled };
    await change();
    const { Root } = gax.protobuf;
    const { fromJSON } = Root;
    let schemas = 0;
    Root.fromJSON = (json, ...more) => {
      if (JSON.stringify(json).length > 100_000) schemas += 1;
      return fromJSON.call(Root, json, ...more);
    };
    try {
      expect((await change()).code).to.equal('cloud-propagation');
    } finally {
      Root.fromJSON = fromJSON;
    }
    expect(schemas).to.equal(0);
  });
});
