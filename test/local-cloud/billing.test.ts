import { expect } from 'chai';
import { owner, ownersBindings, type ReadyCloud, readyCloud, stranger } from './ready-cloud.js';
import { denied, invalid, itRefuses, type Refusal, refusalsOf } from './refusals.js';

const api = 'cloudbilling';
const account = 'billingAccounts/000000-000000-000000';
const small = 'billingAccounts/AAAAAA-BBBBBB-CCCCCC';
const closed = 'billingAccounts/CCCCCC-000000-000000';
const payer = 'payer@ready-project.iam.gserviceaccount.com';

describe('simulated Cloud Billing', () => {
  let cloud: ReadyCloud;
  const call = (line: string, body?: unknown, as = owner) => cloud.call(api, line, body, { as });

  before(async () => {
    cloud = await readyCloud({
      initial: {
        serviceAccounts: [payer],
        billingAccounts: [
          { name: account, displayName: 'Billing' },
          { name: small, displayName: 'Small', projectLimit: 1 },
          { name: closed, displayName: 'Closed', open: false },
        ],
        bindings: [
          ...ownersBindings,
          { resource: 'organizations/100', role: 'roles/billing.projectManager', members: [`serviceAccount:${payer}`] },
          { resource: account, role: 'roles/billing.user', members: [`user:${owner}`] },
          { resource: small, role: 'roles/billing.admin', members: [`user:${owner}`] },
          { resource: closed, role: 'roles/billing.user', members: [`user:${owner}`] },
        ],
      },
    });
  });
  after(() => cloud.close());

  describe('bad requests', () => {
    const line = 'PUT /v1/projects/bare-project/billingInfo';
    const refused = refusalsOf(api);
    const hidden = (name: string, asked: string, as = owner, body?: object) =>
      refused(name, asked, body, ...denied, { as, says: /^The caller does not have permission$/ });
    const link = (
      name: string,
      billingAccountName: unknown,
      code: number,
      reason: string,
      more?: RegExp | Partial<Refusal>,
    ) => refused(name, line, { billingAccountName }, code, reason, more);
    itRefuses(
      () => cloud,
      [
        refused('a call without a token', `GET /v1/${account}`, undefined, 401, 'UNAUTHENTICATED', {
          token: undefined,
        }),
        hidden('an account that is not there', 'GET /v1/billingAccounts/999999-999999-999999'),
        hidden("somebody else's account", `GET /v1/${account}`, stranger),
        hidden('a project that is not there', 'GET /v1/projects/no-such-project/billingInfo'),
        hidden("somebody else's project", 'GET /v1/projects/ready-project/billingInfo', stranger),
        link(
          'a link to an account that is not there',
          'billingAccounts/999999-999999-999999',
          403,
          'PERMISSION_DENIED',
        ),
        link("a link to somebody else's account", account, 403, 'PERMISSION_DENIED', { as: payer }),
        link("a link of somebody else's project", account, 403, 'PERMISSION_DENIED', { as: stranger }),
        link('an account without its prefix', '000000-000000-000000', 400, 'INVALID_ARGUMENT'),
        link('an account of another form', 'billingAccounts/mine', 400, 'INVALID_ARGUMENT'),
        link('an account that is a number', 7, 400, 'INVALID_ARGUMENT', { says: /\(TYPE_STRING\), 7/ }),
        link('an account that is a list', [account], 400, 'INVALID_ARGUMENT', { says: /cannot start list/ }),
        link('an account that is closed', closed, 400, 'FAILED_PRECONDITION', {
          says: /^Precondition check failed\.$/,
        }),
        refused('an unknown field', line, { account }, ...invalid, /Unknown name "account" at 'project_billing_info'/),
        refused('a body that is a text', line, 'billing', ...invalid),
        refused('a body that is no JSON', line, undefined, ...invalid, { text: 'billingAccountName=x' }),
        refused('an unknown query parameter', `GET /v1/${account}?view=FULL`, undefined, ...invalid),
        refused('a page size that is no number', 'GET /v1/billingAccounts?pageSize=x', undefined, ...invalid),
        refused('a page size out of range', 'GET /v1/billingAccounts?pageSize=99999999999', undefined, ...invalid),
        hidden("the projects of somebody else's account", `GET /v1/${account}/projects`, stranger),
        hidden("somebody else's policy", `GET /v1/${account}:getIamPolicy`, stranger),
        hidden('a policy from a mere user of the account', `POST /v1/${account}:setIamPolicy`, owner, { policy: {} }),
        refused(
          'a policy with an unknown role',
          `POST /v1/${small}:setIamPolicy`,
          { policy: { bindings: [{ role: 'roles/none', members: [] }] } },
          ...invalid,
        ),
        refused('what is not served here', 'GET /v1/services', undefined, 501, 'UNIMPLEMENTED'),
        refused('a method that is none', 'POST /v1/projects/ready-project/billingInfo', {}, 404, ''),
      ],
    );
  });

  it('links and unlinks, and says so in the form of accounts', async () => {
    const linked = await call('PUT /v1/projects/unpaid-project/billingInfo', { billingAccountName: account });
    expect(linked.body).to.deep.equal({
      name: 'projects/unpaid-project/billingInfo',
      projectId: 'unpaid-project',
      billingAccountName: account,
      billingEnabled: true,
    });
    expect((await call('GET /v1/projects/unpaid-project/billingInfo')).body).to.deep.equal(linked.body);
    const unlinked = await call('PUT /v1/projects/unpaid-project/billingInfo', { billingAccountName: '' });
    expect(unlinked.body).to.deep.include({ billingAccountName: '', billingEnabled: false });
  });

  it('says that a quota is exceeded only in the details of a failed precondition', async () => {
    const [first, second] = ['ready-project', 'unpaid-project'];
    expect((await call(`PUT /v1/projects/${first}/billingInfo`, { billingAccountName: small })).status).to.equal(200);
    const refused = await call(`PUT /v1/projects/${second}/billingInfo`, { billingAccountName: small });
    expect(refused).to.deep.include({
      status: 400,
      reason: 'FAILED_PRECONDITION',
      message: 'Precondition check failed.',
    });
    expect(refused.body).to.have.nested.property(
      'error.details[0].@type',
      'type.googleapis.com/google.rpc.QuotaFailure',
    );
    expect(refused.body).to.have.nested.property('error.details[0].violations[0].subject', small);
    // A deleted project counts until it is unlinked.
    await cloud.call('cloudresourcemanager', `DELETE /v3/projects/${first}`);
    expect((await call(`PUT /v1/projects/${second}/billingInfo`, { billingAccountName: small })).status).to.equal(400);
    await call(`PUT /v1/projects/${first}/billingInfo`, { billingAccountName: '' });
    expect((await call(`PUT /v1/projects/${second}/billingInfo`, { billingAccountName: small })).status).to.equal(200);
    expect((await call(`GET /v1/${small}/projects`)).body['projectBillingInfo']).to.have.length(1);
  });

  it('lists the accounts that one may see', async () => {
    expect((await call('GET /v1/billingAccounts')).body['billingAccounts']).to.have.length(3);
    expect((await call('GET /v1/billingAccounts', undefined, stranger)).body).to.deep.equal({});
    const permissions = ['billing.resourceAssociations.create'];
    expect((await call(`POST /v1/${account}:testIamPermissions`, { permissions })).body).to.deep.equal({ permissions });
    expect((await call(`POST /v1/${account}:testIamPermissions`, { permissions }, stranger)).body).to.deep.equal({});
  });
});
