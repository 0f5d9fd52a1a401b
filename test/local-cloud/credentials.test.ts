/** Tokens of service accounts, for whoever may make them. */
import { expect } from 'chai';
import { owner, ownersBindings, project, type ReadyCloud, readyCloud, services, stranger } from './ready-cloud.js';

const robot = `robot@${project}.iam.gserviceaccount.com`;
const line = `POST /v1/projects/-/serviceAccounts/${robot}:generateAccessToken`;
const scope = ['https://www.googleapis.com/auth/cloud-platform'];

describe('access tokens of service accounts in the simulated cloud', () => {
  let cloud: ReadyCloud;
  beforeEach(async () => {
    cloud = await readyCloud({
      initial: {
        projects: [
          {
            projectId: project,
            parent: 'organizations/100',
            billingAccountName: 'billingAccounts/000000-000000-000000',
            services: [...services, 'iamcredentials.googleapis.com'],
          },
        ],
        serviceAccounts: [robot],
        bindings: [
          ...ownersBindings,
          {
            resource: `projects/${project}/serviceAccounts/${robot}`,
            role: 'roles/iam.serviceAccountTokenCreator',
            members: [`user:${stranger}`],
          },
        ],
      },
    });
  });
  afterEach(() => cloud.close());

  it('are made for who holds the role on the account, and speak for it', async () => {
    const made = await cloud.call('iamcredentials', line, { scope, lifetime: '600s' }, { as: stranger });
    expect(made.status, made.message).to.equal(200);
    const token = String(made.body['accessToken']);
    expect(Date.parse(String(made.body['expireTime'])) - Date.now()).to.be.within(500_000, 601_000);
    expect(cloud.identity.callerOf(token)).to.deep.equal({ email: robot, kind: 'serviceAccount' });
    expect((await cloud.call('compute', 'GET /compute/v1/projects/P', undefined, { token })).status).to.equal(403);
  });

  it('are refused to the owner of the project, whose role lacks it', async () => {
    const reply = await cloud.call('iamcredentials', line, { scope }, { as: owner });
    expect([reply.status, reply.message.split(' denied')[0]]).to.deep.equal([
      403,
      "Permission 'iam.serviceAccounts.getAccessToken'",
    ]);
  });

  it('last an hour at most, and have a scope', async () => {
    for (const body of [{ scope, lifetime: '7200s' }, { scope: [] }]) {
      expect((await cloud.call('iamcredentials', line, body, { as: stranger })).status).to.equal(400);
    }
  });
});
