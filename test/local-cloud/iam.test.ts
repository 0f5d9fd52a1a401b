import { expect } from 'chai';
import type { JsonObject } from '../../local/cloud/kernel/api.js';
import { owner, type ReadyCloud, readyCloud, stranger } from './ready-cloud.js';
import { itRefuses, refusalsOf } from './refusals.js';

const api = 'iam';
const root = '/v1/projects/ready-project/serviceAccounts';
const emailOf = (id: string): string => `${id}@ready-project.iam.gserviceaccount.com`;

describe('simulated IAM', () => {
  let cloud: ReadyCloud;
  const call = (line: string, body?: unknown, as = owner) => cloud.call(api, line, body, { as });

  before(async () => {
    cloud = await readyCloud();
    await call(`POST ${root}`, { accountId: 'known-account' });
  });
  after(() => cloud.close());

  describe('bad requests', () => {
    const refused = refusalsOf(api);
    const invalid = [400, 'badRequest'] as const;
    const known = `${root}/${emailOf('known-account')}`;
    itRefuses(
      () => cloud,
      [
        refused('a call without a token', `GET ${root}`, undefined, 401, 'required', { token: undefined }),
        refused('no account id', `POST ${root}`, {}, ...invalid),
        refused('an account id that is too short', `POST ${root}`, { accountId: 'short' }, ...invalid, {
          says: /^The account ID "short" does not have a length between 6 and 30\.$/,
        }),
        refused('an account id that is too long', `POST ${root}`, { accountId: 'a'.repeat(31) }, ...invalid),
        refused('an account id in capitals', `POST ${root}`, { accountId: 'My-Account' }, ...invalid, {
          says: /does not match the pattern/,
        }),
        refused('an account id that begins with a digit', `POST ${root}`, { accountId: '1account' }, ...invalid),
        refused('an account id that ends in a hyphen', `POST ${root}`, { accountId: 'account-' }, ...invalid),
        refused('an account id that is a number', `POST ${root}`, { accountId: 1234567 }, ...invalid, {
          says: /'account_id' \(TYPE_STRING\)/,
        }),
        refused(
          'a display name over 100',
          `POST ${root}`,
          { accountId: 'new-account', serviceAccount: { displayName: 'a'.repeat(101) } },
          ...invalid,
        ),
        refused('an unknown field', `POST ${root}`, { accountId: 'new-account', displayName: 'New' }, ...invalid, {
          says: /Unknown name "displayName": Cannot find field/,
        }),
        refused(
          'an unknown field further in',
          `POST ${root}`,
          { accountId: 'new-account', serviceAccount: { title: 'New' } },
          ...invalid,
          { says: /Unknown name "title" at 'service_account'/ },
        ),
        refused('an account that is there', `POST ${root}`, { accountId: 'known-account' }, 409, 'alreadyExists', {
          says: /^Service account known-account already exists within project projects\/ready-project\.$/,
        }),
        refused(
          "an account in somebody else's project",
          `POST ${root}`,
          { accountId: 'new-account' },
          403,
          'forbidden',
          {
            as: stranger,
            says: /^Permission 'iam\.serviceAccounts\.create' denied on resource \(or it may not exist\)\.$/,
          },
        ),
        refused(
          'an account in a project that is not there',
          'POST /v1/projects/no-such-project/serviceAccounts',
          { accountId: 'new-account' },
          403,
          'forbidden',
        ),
        refused(
          'an account in a project without the API',
          'POST /v1/projects/bare-project/serviceAccounts',
          { accountId: 'new-account' },
          403,
          'accessNotConfigured',
        ),
        refused('an account that is not there', `GET ${root}/${emailOf('no-account')}`, undefined, 404, 'notFound', {
          says: /^Unknown service account$/,
        }),
        refused("somebody else's account", `GET ${known}`, undefined, 403, 'forbidden', { as: stranger }),
        refused(
          'the deletion of what is not there',
          `DELETE ${root}/${emailOf('no-account')}`,
          undefined,
          404,
          'notFound',
        ),
        refused('a change without a mask', `PATCH ${known}`, { serviceAccount: { displayName: 'New' } }, ...invalid),
        refused(
          'a change of what cannot change',
          `PATCH ${known}`,
          { serviceAccount: {}, updateMask: 'email' },
          ...invalid,
        ),
        refused(
          'a policy with an unknown role',
          `POST ${known}:setIamPolicy`,
          { policy: { bindings: [{ role: 'roles/none', members: [`user:${owner}`] }] } },
          ...invalid,
        ),
        refused(
          'a policy with a member that is not there',
          `POST ${known}:setIamPolicy`,
          {
            policy: {
              bindings: [
                { role: 'roles/iam.serviceAccountUser', members: [`serviceAccount:${emailOf('no-account')}`] },
              ],
            },
          },
          ...invalid,
          { says: /does not exist\.$/ },
        ),
        refused('a stale etag', `POST ${known}:setIamPolicy`, { policy: { etag: 'BwXold' } }, 409, 'aborted'),
        refused('an unknown role', 'GET /v1/roles/none', undefined, 404, 'notFound'),
        refused('a body that is no JSON', `POST ${root}`, undefined, ...invalid, { text: 'accountId' }),
      ],
    );
    it('carries errors[] and a status', async () => {
      const { body } = await call(`GET ${root}/${emailOf('no-account')}`);
      expect(body['error']).to.deep.include({ code: 404, status: 'NOT_FOUND' });
      expect(body).to.have.nested.property('error.errors[0].domain', 'global');
    });
  });

  it('makes, shows, changes and removes an account', async () => {
    const made = await call(`POST ${root}`, {
      accountId: 'cloud-controller',
      serviceAccount: { displayName: 'Controller' },
    });
    expect(made.body).to.deep.include({
      name: `projects/ready-project/serviceAccounts/${emailOf('cloud-controller')}`,
      email: emailOf('cloud-controller'),
      projectId: 'ready-project',
      displayName: 'Controller',
    });
    expect((await call(`GET /v1/projects/-/serviceAccounts/${String(made.body['uniqueId'])}`)).body).to.deep.equal(
      made.body,
    );
    await call(`PATCH ${root}/${emailOf('cloud-controller')}`, {
      serviceAccount: { displayName: 'New' },
      updateMask: 'displayName',
    });
    const { body } = await call(`GET ${root}`);
    expect((body['accounts'] as JsonObject[]).map(({ displayName }) => displayName)).to.include('New');
    await call(`DELETE ${root}/${emailOf('cloud-controller')}`);
    expect((await call(`GET ${root}/${emailOf('cloud-controller')}`)).status).to.equal(404);
  });

  it('leaves a deleted account in policies as deleted, and it can be written back', async () => {
    await call(`POST ${root}`, { accountId: 'leaving-account' });
    const line = 'POST /v3/projects/ready-project';
    const crm = (verb: string, body: unknown) => cloud.call('cloudresourcemanager', `${line}:${verb}`, body);
    const policy = (await crm('getIamPolicy', {})).body;
    await crm('setIamPolicy', {
      policy: {
        ...policy,
        bindings: [{ role: 'roles/viewer', members: [`serviceAccount:${emailOf('leaving-account')}`] }],
      },
    });
    await call(`DELETE ${root}/${emailOf('leaving-account')}`);
    const after = (await crm('getIamPolicy', {})).body;
    expect((after['bindings'] as { members: string[] }[])[0]?.members[0]).to.match(
      /^deleted:serviceAccount:leaving-account@.*\?uid=\d+$/,
    );
    expect((await crm('setIamPolicy', { policy: after })).status).to.equal(200);
  });

  it('does not know a new account for some seconds, nor can it be bound', async () => {
    const slow = await readyCloud({ timeFactor: 0.02 });
    try {
      await slow.call(api, `POST ${root}`, { accountId: 'young-account' });
      const bind = () =>
        slow.call('cloudresourcemanager', 'POST /v3/projects/ready-project:setIamPolicy', {
          policy: { bindings: [{ role: 'roles/viewer', members: [`serviceAccount:${emailOf('young-account')}`] }] },
        });
      expect((await slow.call(api, `GET ${root}/${emailOf('young-account')}`)).status).to.equal(404);
      expect(await bind()).to.deep.include({ status: 400, reason: 'INVALID_ARGUMENT' });
      await new Promise((resolve) => setTimeout(resolve, 170));
      expect((await slow.call(api, `GET ${root}/${emailOf('young-account')}`)).status).to.equal(200);
      expect((await bind()).status).to.equal(200);
    } finally {
      await slow.close();
    }
  });

  it('takes no token of an account that is disabled or gone', async () => {
    await call(`POST ${root}`, { accountId: 'barred-account' });
    const asAccount = async () => (await call('GET /v1/roles/viewer', undefined, emailOf('barred-account'))).status;
    expect(await asAccount()).to.equal(200);
    await call(`POST ${root}/${emailOf('barred-account')}:disable`, {});
    expect(await asAccount()).to.equal(401);
    await call(`POST ${root}/${emailOf('barred-account')}:enable`, {});
    expect(await asAccount()).to.equal(200);
    await call(`DELETE ${root}/${emailOf('barred-account')}`);
    expect(await asAccount()).to.equal(401);
  });

  it('names the roles that can be bound', async () => {
    expect((await call('GET /v1/roles/dns.admin')).body).to.deep.include({
      name: 'roles/dns.admin',
      title: 'DNS Administrator',
    });
  });
});
