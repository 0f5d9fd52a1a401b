/** Conditions of grants are parsed when they are written, and judged at each call. */
import { expect } from 'chai';
import { project, type ReadyCloud, readyCloud, stranger } from './ready-cloud.js';
import { invalid, itRefuses, refusalsOf } from './refusals.js';

const policyWith = (expression: string) => ({
  policy: {
    version: 3,
    bindings: [
      { role: 'roles/secretmanager.viewer', members: [`user:${stranger}`], condition: { title: 'if', expression } },
    ],
  },
});

describe('conditions in the simulated cloud', () => {
  let cloud: ReadyCloud;
  let secret = '';
  before(async () => {
    cloud = await readyCloud();
    const body = { replication: { automatic: {} } };
    const made = await cloud.call('secretmanager', `POST /v1/projects/${project}/secrets?secretId=one`, body);
    secret = String(made.body['name']);
  });
  after(() => cloud.close());

  const line = `POST /v3/projects/${project}:setIamPolicy`;
  const year = new Date().getUTCFullYear();

  const judged: readonly (readonly [expression: string, holds: boolean])[] = [
    ['true', true],
    ['false', false],
    ['resource.name.startsWith("SECRET")', true],
    ['resource.name.endsWith("/secrets/one") && resource.type == "secretmanager.googleapis.com/Secret"', true],
    ['resource.name.endsWith("/secrets/two")', false],
    ['resource.service == "secretmanager.googleapis.com"', true],
    ['resource.name.extract("secrets/{name}") == "one"', true],
    ['resource.name.extract("projects/{project}/") == "NUMBER"', true],
    ['resource.name.extract("topics/{name}") == ""', true],
    ['request.time < timestamp("2999-01-01T00:00:00Z")', true],
    ['request.time < timestamp("2020-01-01T00:00:00Z")', false],
    ['request.time + duration("86400s") < timestamp("2999-01-01T00:00:00Z")', true],
    [`request.time.getFullYear() == ${year} || request.time.getFullYear("Asia/Tokyo") == ${year}`, true],
    ['request.time.getDayOfWeek("Europe/Berlin") > 6', false],
    ['!(resource.type in ["secretmanager.googleapis.com/SecretVersion"])', true],
    ['request.time < timestamp("no time at all")', false],
  ];
  for (const [expression, holds] of judged) {
    it(`${expression} ${holds ? 'holds' : 'does not hold'}`, async () => {
      const filled = expression.replace('SECRET', secret).replace('NUMBER', secret.split('/')[1] ?? '');
      expect(await cloud.call('cloudresourcemanager', line, policyWith(filled))).to.include({ status: 200 });
      const look = `GET /v1/projects/${project}/secrets/one`;
      const { status } = await cloud.call('secretmanager', look, undefined, { as: stranger });
      expect(status).to.equal(holds ? 200 : 403);
    });
  }

  const refused = refusalsOf('cloudresourcemanager');
  const bad = (name: string, expression: string, says: RegExp) =>
    refused(`conditions ${name}`, line, policyWith(expression), ...invalid, says);
  itRefuses(
    () => cloud,
    [
      bad('that do not parse', 'resource.name.startsWith("a"', /Expression compilation failed/),
      bad('that are empty', '', /Expression compilation failed/),
      bad('of an attribute that no call has', 'resource.owner == "me"', /owner/),
      bad('of a variable that is none', 'user == "me"', /user/),
      bad('that compare a time with a text', 'request.time < "2020"', /no such overload/),
      bad('that are neither true nor false', '"yes"', /must be of type bool/),
      refused(
        'conditions of what Google has and the simulated cloud does not',
        line,
        policyWith('api.getAttribute("iam.googleapis.com/modifiedGrantsByRole", []) == []'),
        501,
        'UNIMPLEMENTED',
      ),
    ],
  );
});
