/** What fails at each stage of a bootstrap, and that the same command goes on from there once its cause is gone. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { local } from '../../local/stack/deployment.js';
import {
  type Caller,
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
    nothingTwice();
  });

  const stands = (outcome: Outcome): string[] =>
    (outcome.result.bootstrap?.instances ?? []).filter(({ state }) => state === 'done').map(({ id }) => id);
  function nothingTwice(): void {
    expect(madeTwice(historyOf(scene.cloud, since))).to.deep.equal([]);
  }

  it('a billing account that plinth may not use, a quota that is too low, no right within the project beside a service that stays away, no capacity: each fails naming it, what does not need it goes on, and the same command goes on once its cause is gone', async () => {
    const billing = scene.cloud.faults.add({
      method: 'cloudbilling.projects.updateBillingInfo',
      times: 0,
      code: 403,
      message: 'The caller does not have permission',
    });
    failedWith(await alice.bootstrap('unlucky'), 'billing');
    scene.cloud.faults.remove(billing);

    const quota = scene.cloud.faults.quota({ metric: 'CPUS', limit: 24 });
    const other = { 'billing-account': local.otherBillingAccount };
    const low = await alice.bootstrap('unlucky', other);
    failedWith(low, 'quota', 'CPUS', '24', '52');
    expect(low.result.changes).to.deep.include({
      option: '--billing-account',
      from: local.billingAccount,
      to: local.otherBillingAccount,
    });
    expect(scene.cloud.calls.list({ since, method: 'compute.networks.insert' })).to.deep.equal([]);
    scene.cloud.faults.remove(quota);

    const denied = scene.cloud.faults.add({
      method: 'compute.networks.insert',
      times: 0,
      code: 403,
      reason: 'forbidden',
      message: "Required 'compute.networks.create' permission for 'projects/x/global/networks/y'",
    });
    const away = scene.cloud.faults.add({ method: 'dns.managedZones.*', times: 0, kind: 'unavailable' });
    const apart = await alice.bootstrap('unlucky', other);
    failedWith(apart, 'network', 'compute.networks.create');
    failedWith(apart, 'zone', 'same command');
    expect(stands(apart)).to.include.members(['address:gateway', 'secrets:dc1']);
    scene.cloud.faults.remove(denied);
    scene.cloud.faults.remove(away);
    nothingTwice();

    const stockout = scene.cloud.faults.stockout({ name: 'k0s-1' });
    const without = await alice.bootstrap('unlucky', other);
    failedWith(without, 'vm:k0s-1');
    expect(stands(without)).to.include.members(['zone', 'records', 'vm:k0s-2', 'vm:jumpbox']);
    scene.cloud.faults.remove(stockout);
    await scene.expectAll(succeeded(await alice.bootstrap('unlucky', other)));
    // Where an insert ended in a stockout nothing was made, so it was asked for again.
    since = scene.cloud.calls.last();
  });

  it('a few 503s from every service, rate limits, and answers that are lost after the effect: nobody notices, and nothing is made twice', async () => {
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
    scene.cloud.faults.add({ method: 'compute.instances.insert', times: 6, kind: 'rate' });
    scene.cloud.faults.add({ method: 'cloudresourcemanager.projects.setIamPolicy', times: 3, kind: 'rate' });
    scene.cloud.faults.add({ method: 'cloudbilling.projects.updateBillingInfo', times: 2, kind: 'rate' });
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
    await scene.expectAll(succeeded(await alice.bootstrap('flaky')));
  });

  it('after success: a file of the caller that cannot be the base of a re-run is refused, and what stands is left; a VM that somebody stopped is started by the same command, one that somebody removed is made again', async () => {
    const view = succeeded(await alice.bootstrap('touched'));
    const path = join(alice.folder, 'prod.vault.yaml');
    const whole = alice.read('prod.vault.yaml');
    // One letter of an encrypted value: no reader but SOPS's own check would notice.
    writeFileSync(
      path,
      whole.replace(/data:([A-Za-z])/, (_, letter: string) => `data:${letter === 'A' ? 'B' : 'A'}`),
    );
    const refused = await alice.bootstrap('touched');
    expect(refused.exitCode, refused.stderr).to.equal(2);
    expect(`${refused.result.problem?.detail}`).to.include('dc1');
    const after = await scene.view(view.id);
    expect([after.state, after.generation]).to.deep.equal(['succeeded', view.generation]);
    writeFileSync(path, whole);
    nothingTwice();

    const { accessToken } = await scene.stack.tokens('admin@example.com');
    const instances = `${scene.stack.record.frontUrl}/compute.googleapis.com/compute/v1/projects/${view.projectId}/zones/europe-west4-a/instances`;
    const headers = { authorization: `Bearer ${accessToken}` };
    expect((await fetch(`${instances}/k0s-3/stop`, { method: 'POST', headers })).status).to.equal(200);
    expect((await fetch(`${instances}/ceph-2`, { method: 'DELETE', headers })).status).to.equal(200);
    await scene.expectAll(succeeded(await alice.bootstrap('touched')));
    // That one VM was asked for twice, and rightly so.
    since = scene.cloud.calls.last();
  });
});
