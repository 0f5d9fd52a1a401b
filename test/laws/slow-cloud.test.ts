/**
 * All steps at once against a cloud that takes its time: operations under way, APIs and grants not known everywhere yet,
 * addresses that come late. Each instance begins as soon as what it needs is done.
 */
import { expect } from 'chai';
import type { Instance } from '../../functions/engine/plan.js';
import { resultOf } from '../../functions/steps/result.js';
import { preempt } from '../../local/cloud/compute/instance-life.js';
import { local } from '../../local/stack/deployment.js';
import type { BootstrapOptions } from '../../shared/bootstrap/options.js';
import { keysAtHand } from '../install-config/made-bootstrap.js';
import { makeOptions } from '../install-config/make-options.js';
import { createLab, type Lab } from './lab.js';

const variants: readonly (readonly [name: string, options: Partial<BootstrapOptions>])[] = [
  [
    'two datacenters on spot VMs with a shared DNS project',
    { multiDc: true, spotVms: true, dnsProjectId: local.dnsProject },
  ],
  ['a registry and the public CA', { registryType: 'artifact-registry', cloudAcmeIssuer: true, preemptible: true }],
];

async function driveAll({ instances, outputs, drive }: Lab): Promise<void> {
  const driven = new Map<string, Promise<void>>();
  const begin = async (instance: Instance): Promise<void> => {
    await Promise.all(instance.needs.map((id) => driven.get(id)));
    outputs[instance.id] = await drive(instance);
  };
  for (const instance of instances) driven.set(instance.id, begin(instance));
  await Promise.all(driven.values());
}

describe('steps in a slow cloud', function () {
  this.timeout(240_000);
  before(keysAtHand);

  for (const [name, given] of variants) {
    it(`come to their end: ${name}`, async () => {
      const options = makeOptions({ billingAccount: local.billingAccount, ...given });
      const lab = await createLab(options, 0.003);
      try {
        if (options.spotVms) lab.cloud.faults.stockout({ name: 'k0s-1', provisioning: 'SPOT' });
        await driveAll(lab);
        const { vms, addresses, dns, datacenters, registry } = resultOf(options, lab.outputs);
        expect(vms).to.have.length(options.multiDc ? 14 : 8);
        expect(vms.find((vm) => vm.name === 'jumpbox')?.externalIp).to.be.a('string');
        const kinds = [...new Set(vms.map(({ provisioning }) => provisioning))].sort();
        expect(kinds).to.deep.equal(
          options.spotVms ? ['fallback', 'spot'] : [options.preemptible ? 'preemptible' : 'standard'],
        );
        expect(addresses).to.have.length(options.multiDc ? 6 : 3);
        expect(dns?.records).to.have.length(options.multiDc ? 12 : 5);
        expect(dns?.project).to.equal(options.dnsProjectId ?? lab.bootstrap.projectId);
        expect(datacenters.map(({ ready }) => ready)).to.deep.equal(options.multiDc ? [true, true] : [true]);
        expect(registry).to.equal(
          options.registryType === 'artifact-registry'
            ? `europe-west4-docker.pkg.dev/${lab.bootstrap.projectId}/platform-registry`
            : undefined,
        );
      } finally {
        await lab.close();
      }
    });
  }

  it('start a spot VM again that was taken away while it started', async () => {
    const lab = await createLab(makeOptions({ billingAccount: local.billingAccount, spotVms: true }), 0.003);
    try {
      const { needs } = lab.instance('vm:postgres');
      for (const id of needs) await lab.make(id);
      const making = lab.make('vm:postgres');
      const target = `projects/${lab.bootstrap.projectId}/zones/europe-west4-a/instances/postgres`;
      const instances = lab.cloud.world.table('compute.instances');
      while (instances[target] === undefined) await new Promise((resolve) => setTimeout(resolve, 1));
      preempt(lab.cloud.world, target);
      expect(await making).to.include({ provisioning: 'spot' });
      const starts = lab.cloud.calls.list({ method: 'compute.instances.start' });
      expect(starts).to.have.length(1);
    } finally {
      await lab.close();
    }
  });
});
