/** What goes with a project that is deleted, what stays, and what comes back. */
import { expect } from 'chai';
import { furnish, region, vmBody, zone } from './furnished.js';
import { ownersBindings, project, type ReadyCloud, readyCloud } from './ready-cloud.js';

const account = 'billingAccounts/000000-000000-000000';

describe('a project that is deleted', () => {
  let cloud: ReadyCloud;
  const vm = async () =>
    (await cloud.call('compute', `GET /compute/v1/projects/P/zones/${zone}/instances/jumpbox`)).body;
  const remove = () => cloud.call('cloudresourcemanager', `DELETE /v3/projects/${project}`);
  const restore = () => cloud.call('cloudresourcemanager', `POST /v1/projects/${project}:undelete`, {});
  const link = (billingAccountName: string, name = project) =>
    cloud.call('cloudbilling', `PUT /v1/projects/${name}/billingInfo`, { billingAccountName });

  beforeEach(async () => {
    cloud = await readyCloud({
      initial: {
        billingAccounts: [{ name: account, displayName: 'Billing', projectLimit: 2 }],
        bindings: [
          ...ownersBindings,
          { resource: account, role: 'roles/billing.user', members: ['user:alice@example.com'] },
        ],
      },
    });
    await furnish(cloud);
  });
  afterEach(() => cloud.close());

  it('has nothing that can be reached any more', async () => {
    await remove();
    const refused = [
      await cloud.call('compute', `GET /compute/v1/projects/P/zones/${zone}/instances/jumpbox`),
      await cloud.call('compute', `POST /compute/v1/projects/P/zones/${zone}/instances`, vmBody('other')),
      await cloud.call('dns', 'GET /dns/v1/projects/P/managedZones/platform'),
      await cloud.call('artifactregistry', `GET /v1/projects/P/locations/${region}/repositories/platform-registry`),
      await cloud.call('secretmanager', 'GET /v1/projects/P/secrets'),
    ];
    for (const { status, message } of refused) {
      expect(status).to.equal(403);
      expect(message).to.match(/has been deleted/);
    }
  });

  it('has no VM that runs', async () => {
    expect((await vm())['status']).to.equal('RUNNING');
    await remove();
    await restore();
    expect((await vm())['status']).to.equal('TERMINATED');
    expect(await vm()).to.have.property('lastStopTimestamp');
  });

  it('comes back with all it had, and its VMs can be started again', async () => {
    await remove();
    await restore();
    expect((await cloud.call('dns', 'GET /dns/v1/projects/P/managedZones/platform')).status).to.equal(200);
    const path = `/compute/v1/projects/P/zones/${zone}/instances/jumpbox/start`;
    expect((await cloud.call('compute', `POST ${path}`, {})).status).to.equal(200);
    expect((await vm())['status']).to.equal('RUNNING');
  });

  it('counts against the quota of who pays until it is unlinked', async () => {
    await remove();
    expect((await link(account, 'unpaid-project')).reason).to.equal('FAILED_PRECONDITION');
    expect((await link('')).status).to.equal(200);
    expect((await link(account, 'unpaid-project')).status).to.equal(200);
  });

  it('stops its VMs also if only nobody pays any more', async () => {
    await link('');
    await link(account);
    expect((await vm())['status']).to.equal('TERMINATED');
  });
});
