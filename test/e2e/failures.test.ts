/** Every class of failure, and that the same command goes on from there once its cause is gone. One stack for all. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { zones } from '../../local/cloud/dns/zone.js';
import { serverSets, unprovenDomains } from '../../local/cloud/dns/zones.js';
import { local } from '../../local/stack/deployment.js';
import {
  type Caller,
  domainOf,
  failedWith,
  historyOf,
  madeTwice,
  makeScene,
  type Outcome,
  type Scene,
  succeeded,
} from '../support/scene.js';

describe('failures', function () {
  this.timeout(240_000);
  let scene: Scene;
  let alice: Caller;
  let since: number;

  before(async () => {
    scene = await makeScene();
  });
  after(() => scene?.close());
  beforeEach(async () => {
    alice = await scene.caller();
    since = scene.cloud.calls.last();
  });
  afterEach(() => {
    scene.cloud.faults.clear();
    expect(madeTwice(historyOf(scene.cloud, since))).to.deep.equal([]);
  });

  const stands = (outcome: Outcome): string[] =>
    (outcome.result.bootstrap?.instances ?? []).filter(({ state }) => state === 'done').map(({ id }) => id);

  it('quota: fails once, before anything is made there, naming metric, limit and need; goes on once it is raised', async () => {
    const fault = scene.cloud.faults.quota({ metric: 'CPUS', limit: 24 });
    failedWith(await alice.bootstrap('quota'), 'quota', 'CPUS', '24', '52');
    expect(scene.cloud.calls.list({ since, method: 'compute.networks.insert' })).to.deep.equal([]);
    scene.cloud.faults.remove(fault);
    await scene.expectAll(succeeded(await alice.bootstrap('quota')));
  });

  it('permission to make a project: asked once, refused once; goes on once it is granted', async () => {
    const fault = scene.cloud.faults.add({
      method: 'cloudresourcemanager.projects.create',
      times: 0,
      code: 403,
      message:
        "Permission 'resourcemanager.projects.create' denied on resource '//cloudresourcemanager.googleapis.com/folders/1'",
    });
    failedWith(await alice.bootstrap('no-creator'), 'project', 'resourcemanager.projects.create');
    expect(scene.cloud.calls.list({ since, method: 'cloudresourcemanager.projects.create' })).to.have.lengthOf(1);
    scene.cloud.faults.remove(fault);
    await scene.expectAll(succeeded(await alice.bootstrap('no-creator')));
  });

  it('permission within the project: what does not need it goes on; goes on once it is granted', async () => {
    const fault = scene.cloud.faults.add({
      method: 'compute.networks.insert',
      times: 0,
      code: 403,
      reason: 'forbidden',
      message: "Required 'compute.networks.create' permission for 'projects/x/global/networks/y'",
    });
    const failed = await alice.bootstrap('denied');
    failedWith(failed, 'network', 'compute.networks.create');
    expect(stands(failed)).to.include.members(['zone', 'records', 'address:gateway', 'secrets:dc1']);
    scene.cloud.faults.remove(fault);
    await scene.expectAll(succeeded(await alice.bootstrap('denied')));
  });

  it('a domain that Google wants proof of: says where to prove it, and for whom; goes on once it is proven', async () => {
    const domains = unprovenDomains(scene.cloud.world);
    domains[`${domainOf('unproven')}.`] = true;
    const failed = await alice.bootstrap('unproven');
    failedWith(failed, 'zone', 'verify ownership', 'Search Console', 'run-cloud-step', '--base-domain', 'same command');
    delete domains[`${domainOf('unproven')}.`];
    await scene.expectAll(succeeded(await alice.bootstrap('unproven')));
  });

  it('a domain of which all name servers have a zone: says what takes them; goes on once one is free', async () => {
    const table = zones(scene.cloud.world);
    const others = serverSets.map((nameServers, n) => {
      const name = `projects/${local.dnsProject}/managedZones/other-${n}`;
      const resource = { name: `other-${n}`, dnsName: `${domainOf('crowded')}.`, nameServers: [...nameServers] };
      table[name] = { resource, records: {}, changes: {}, nextChange: 1, operations: {} };
      return name;
    });
    const failed = await alice.bootstrap('crowded');
    failedWith(failed, 'zone', 'zone of that name', 'Remove', '--base-domain', 'same command');
    for (const name of others) delete table[name];
    await scene.expectAll(succeeded(await alice.bootstrap('crowded')));
  });

  it('capacity without a fallback: fails naming the VM; the others stand; goes on once there is room', async () => {
    const fault = scene.cloud.faults.stockout({ name: 'k0s-1' });
    const failed = await alice.bootstrap('no-room');
    failedWith(failed, 'vm:k0s-1');
    expect(stands(failed)).to.include.members(['vm:k0s-2', 'vm:jumpbox']);
    scene.cloud.faults.remove(fault);
    await scene.expectAll(succeeded(await alice.bootstrap('no-room')));
    // Where an insert ended in a stockout nothing was made, so it was asked for again.
    since = scene.cloud.calls.last();
  });

  it('a few 503s from every service: nobody notices', async () => {
    for (const method of [
      'compute.*',
      'cloudresourcemanager.*',
      'iam.*',
      'dns.*',
      'serviceusage.*',
      'cloudbilling.*',
    ]) {
      scene.cloud.faults.add({ method, nth: 2, times: 2, kind: 'unavailable' });
    }
    await scene.expectAll(succeeded(await alice.bootstrap('flaky')));
  });

  it('answers that are lost after the effect: nothing is made twice', async () => {
    for (const method of [
      'cloudresourcemanager.projects.create',
      'compute.networks.insert',
      'compute.instances.insert',
      'compute.addresses.insert',
      'dns.changes.create',
      'iam.projects.serviceAccounts.create',
      'secretmanager.projects.secrets.addVersion',
    ]) {
      scene.cloud.faults.add({ method, when: 'after', kind: 'drop' });
    }
    await scene.expectAll(succeeded(await alice.bootstrap('lost-answers')));
  });

  it('a service that stays away: gives up after its budget, saying what to do; goes on once it is back', async () => {
    const fault = scene.cloud.faults.add({ method: 'dns.managedZones.*', times: 0, kind: 'unavailable' });
    failedWith(await alice.bootstrap('away'), 'zone', 'same command');
    scene.cloud.faults.remove(fault);
    await scene.expectAll(succeeded(await alice.bootstrap('away')));
  });

  it("rate limits, in each service's own way: waits and gets through", async () => {
    scene.cloud.faults.add({ method: 'compute.instances.insert', times: 6, kind: 'rate' });
    scene.cloud.faults.add({ method: 'cloudresourcemanager.projects.setIamPolicy', times: 3, kind: 'rate' });
    scene.cloud.faults.add({ method: 'cloudbilling.projects.updateBillingInfo', times: 2, kind: 'rate' });
    await scene.expectAll(succeeded(await alice.bootstrap('hasty')));
  });

  it('a billing account that plinth may not use: fails; with another one given the same command goes on, and says so', async () => {
    const fault = scene.cloud.faults.add({
      method: 'cloudbilling.projects.updateBillingInfo',
      times: 0,
      code: 403,
      message: 'The caller does not have permission',
    });
    failedWith(await alice.bootstrap('wrong-account'), 'billing');
    scene.cloud.faults.remove(fault);
    const again = await alice.bootstrap('wrong-account', { 'billing-account': local.otherBillingAccount });
    await scene.expectAll(succeeded(again));
    expect(again.result.changes).to.deep.include({
      option: '--billing-account',
      from: local.billingAccount,
      to: local.otherBillingAccount,
    });
  });

  it('a VM that somebody stopped is started by the same command; one that somebody removed is made again', async () => {
    const bootstrap = succeeded(await alice.bootstrap('touched'));
    const { accessToken } = await scene.stack.tokens('admin@example.com');
    const instances = `${scene.stack.record.frontUrl}/compute.googleapis.com/compute/v1/projects/${bootstrap.projectId}/zones/europe-west4-a/instances`;
    const headers = { authorization: `Bearer ${accessToken}` };
    expect((await fetch(`${instances}/k0s-3/stop`, { method: 'POST', headers })).status).to.equal(200);
    expect((await fetch(`${instances}/ceph-2`, { method: 'DELETE', headers })).status).to.equal(200);
    await scene.expectAll(succeeded(await alice.bootstrap('touched')));
    // That one VM was asked for twice, and rightly so.
    since = scene.cloud.calls.last();
  });

  it('a file of the caller that cannot be the base of a re-run: refused, and what stands is left as it was', async () => {
    const view = succeeded(await alice.bootstrap('edited'));
    const path = join(alice.folder, 'prod.vault.yaml');
    const whole = alice.read('prod.vault.yaml');
    // One letter of an encrypted value: no reader but SOPS's own check would notice.
    writeFileSync(
      path,
      whole.replace(/data:([A-Za-z])/, (_, letter: string) => `data:${letter === 'A' ? 'B' : 'A'}`),
    );
    const refused = await alice.bootstrap('edited');
    expect(refused.exitCode, refused.stderr).to.equal(2);
    expect(`${refused.result.problem?.detail}`).to.include('dc1');
    const after = await scene.view(view.id);
    expect([after.state, after.generation]).to.deep.equal(['succeeded', view.generation]);
    writeFileSync(path, whole);
    succeeded(await alice.bootstrap('edited'));
  });
});
