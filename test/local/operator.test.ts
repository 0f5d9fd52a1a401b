/** The person who operates plinth on this machine has the rights that docs/operate/deploy.md asks for. */
import { expect } from 'chai';
import { createSimulatedCloud, type SimulatedCloud } from '../../local/cloud/index.js';
import type { JsonObject, SimulatedApi } from '../../local/cloud/kernel/api.js';
import { initialState, local, people } from '../../local/stack/deployment.js';

describe('the operator of a local stack', () => {
  let cloud: SimulatedCloud;
  before(async () => {
    cloud = await createSimulatedCloud({ initial: initialState() });
  });
  after(() => cloud?.close());

  const ask = async (api: SimulatedApi, line: string, body?: object) => {
    const [method = 'GET', path = ''] = line.split(' ');
    const reply = await fetch(cloud.endpoints[api] + path, {
      method,
      headers: { authorization: `Bearer ${cloud.identity.accessToken(people.admin)}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: reply.status, body: (await reply.json()) as JsonObject };
  };

  it('sees the billing accounts, and links one to a project', async () => {
    const { body } = await ask('cloudbilling', 'GET /v1/billingAccounts');
    expect((body['billingAccounts'] as JsonObject[]).map(({ name }) => name)).to.have.members([
      `billingAccounts/${local.billingAccount}`,
      `billingAccounts/${local.otherBillingAccount}`,
    ]);
    const linked = await ask('cloudbilling', `PUT /v1/projects/${local.dnsProject}/billingInfo`, {
      billingAccountName: `billingAccounts/${local.otherBillingAccount}`,
    });
    expect(linked).to.deep.include({ status: 200 });
  });

  it('makes projects, sees the folders, and reads who may do what in the organization', async () => {
    const made = await ask('cloudresourcemanager', 'POST /v3/projects', {
      projectId: 'made-by-operator',
      parent: local.folder,
    });
    expect(made.status).to.equal(200);
    const inVersion1 = await ask('cloudresourcemanager', `POST /v1/${local.organization}:getIamPolicy`, {});
    expect(inVersion1.body['bindings']).to.be.an('array').that.is.not.empty;
    for (const name of [local.folder, `projects/${local.project}`]) {
      const { status, body } = await ask('cloudresourcemanager', `POST /v3/${name}:getIamPolicy`, {});
      expect(status, name).to.equal(200);
      expect(body['bindings'], name).to.be.an('array').that.is.not.empty;
    }
  });
});
